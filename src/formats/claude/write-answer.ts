import { sha256 } from '../../events/id.js'
import { isObject, type Json } from '../remainder.js'
import { reasonsOf } from '../write/groups.js'
import { isOwn } from '../write/own.js'
import type { MessageStep } from '../write/step.js'
import { callsOf } from '../write/steps.js'
import { wholeUsage } from '../write/usage.js'
import { saidUsage } from './usage.js'
import { inputOf, modelContent, thinkingBlocks } from './write-blocks.js'
import { add, isNothing, type Scribe } from './write-lines.js'

/** Stands where no model of Anthropic's spoke: Claude Code goes on with its own choice. */
const noModel = '<synthetic>'

/** One line a block, as Claude Code writes them; all share the message's id. */
export const writeAnswer = (scribe: Scribe, step: MessageStep, parent: string | null): string | null => {
  if (step.members.context === false) return writeFailure(scribe, step, parent)
  const pieces = [...spokenPiece(scribe, step), ...callPieces(scribe, step)]
  if (pieces.length === 0) scribe.losses.add('empty messages', step.key)
  countLosses(scribe, step)
  const id = idOf(scribe, step, parent)
  return pieces.reduce<string | null>(
    (above, { name, blocks }, i) =>
      add(scribe, `${step.key}${name}`, step.at, above, async () =>
        recordOf(scribe, id, step, await blocks(), i === pieces.length - 1),
      ),
    parent,
  )
}

interface Piece {
  readonly name: string
  readonly blocks: () => Promise<readonly Json[]>
}

/** What it thought and said; none where it only called. */
const spokenPiece = (scribe: Scribe, step: MessageStep): readonly Piece[] => {
  const { content, refusal, reasoning, replay } = step.members
  const isClaudes = spokeByClaude(scribe, step)
  const thought = isClaudes && reasonsOf(reasoning).some(isSigned)
  const kept = keepsBlocks(scribe, step) && Array.isArray(replay) ? (replay as readonly unknown[]) : []
  if (isNothing(content) && isNothing(refusal) && !thought && kept.length === 0) return []
  const blocks = { losses: scribe.losses, key: step.key }
  return [
    {
      name: '',
      blocks: async () => {
        const said = await scribe.session.resolve({ content, refusal, reasoning, kept })
        const found = [
          ...(isClaudes ? thinkingBlocks(said.reasoning) : []),
          ...(said.kept as readonly Json[]),
          ...modelContent(said.content, blocks),
          ...modelContent(said.refusal, blocks),
        ]
        // A thought whose signature went with a secret in it says nothing any more.
        return found.length === 0 ? [{ type: 'text', text: '[redacted]' }] : found
      },
    },
  ]
}

const callPieces = ({ session, calls, losses }: Scribe, { key, events, members }: MessageStep): Piece[] =>
  callsOf(members).map(({ id, name, arguments: given }) => {
    const caller = events.find((event) => callsOf(event).some((call) => call.id === id))
    const use = { type: 'tool_use', id: calls.idOf(caller?.id ?? key, id), name: calls.toolOf(name) }
    return {
      name: `#${id}`,
      blocks: async () => {
        const { text } = await session.resolve({ text: given })
        return [{ ...use, input: inputOf(text, { losses, key: `${key}#${id}` }) }]
      },
    }
  })

/** What the model does not get is an error of the provider's, as Claude Code shows them. */
const writeFailure = (scribe: Scribe, step: MessageStep, parent: string | null): string | null => {
  const { key, at, members } = step
  const isMore = callsOf(members).length > 0 || reasonsOf(members.reasoning).length > 0
  if (isMore || isNothing(members.content)) scribe.losses.add('kept from the model', key)
  if (isNothing(members.content)) return parent
  return add(scribe, key, at, parent, async () => {
    const { content } = await scribe.session.resolve({ content: members.content })
    const blocks = modelContent(content, { losses: scribe.losses, key })
    const message = {
      ...envelopeOf(idOf(scribe, step, parent)),
      model: noModel,
      content: blocks,
      stop_reason: 'stop_sequence',
    }
    return { type: 'assistant', message, isApiErrorMessage: true }
  })
}

/** Claude Code joins lines of one id wherever they stand: what is said on two branches again has two. */
const idOf = ({ repeated }: Scribe, { key }: MessageStep, parent: string | null): string =>
  `msg_${sha256(`${String(repeated.sessionId)}\n${parent ?? ''}\n${key}`).slice(0, 24)}`

const envelopeOf = (id: string): Json => ({ id, type: 'message', role: 'assistant', stop_sequence: null })

const recordOf = (
  { losses }: Scribe,
  id: string,
  step: MessageStep,
  blocks: readonly Json[],
  isLast: boolean,
): Json => {
  const { model, visible } = step.members
  const usage = wholeUsage(step.members.usage, losses, step.key)
  return {
    type: 'assistant',
    message: {
      ...envelopeOf(id),
      model: isClaude(model) ? model : noModel,
      content: blocks,
      stop_reason: isLast ? stopOf(step) : null,
      ...(usage === null ? {} : { usage: saidUsage(usage) }),
    },
    ...(visible === false ? { isMeta: true } : {}),
  }
}

const isClaude = (model: unknown): boolean =>
  typeof model === 'string' && /claude|opus|sonnet|haiku/i.test(model)

const stops: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'end_turn'],
  ['end_turn', 'end_turn'],
  ['end-turn', 'end_turn'],
  ['length', 'max_tokens'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['refusal', 'refusal'],
  ['toolUse', 'tool_use'],
  ['tool_use', 'tool_use'],
  ['tool_calls', 'tool_use'],
  ['tool-calls', 'tool_use'],
])

const stopOf = ({ members }: MessageStep): string =>
  callsOf(members).length > 0 ? 'tool_use' : (stops.get(members.stop) ?? 'end_turn')

const isSigned = (reason: unknown): boolean =>
  isObject(reason) && typeof reason.signature === 'string' && reason.signature !== ''

const keepsBlocks = ({ format }: Scribe, { events }: MessageStep): boolean =>
  events.every((event) => isOwn(event, format))

/** Whether signatures are of Anthropic's making: nobody else's are taken. */
const spokeByClaude = (scribe: Scribe, step: MessageStep): boolean =>
  keepsBlocks(scribe, step) ||
  (/anthropic/i.test(String(step.members.provider ?? '')) && isClaude(step.members.model))

const countLosses = (scribe: Scribe, step: MessageStep): void => {
  const { losses } = scribe
  const { key, members } = step
  const { reasoning, replay, refusal, timing, usage, model, provider, stop, meta } = members
  const isClaudes = spokeByClaude(scribe, step)
  const lost = [
    ['provider blocks', !isNothing(replay) && !keepsBlocks(scribe, step)],
    ['refusals', !isNothing(refusal)],
    ['timing', timing !== undefined],
    ['costs', isObject(usage) && usage.costUsd !== undefined],
    ['usage', isObject(usage) && usage.reasoning !== undefined],
    [
      'models',
      (model !== undefined && !isClaude(model)) || (provider !== undefined && provider !== 'anthropic'),
    ],
    ['stops', stop !== undefined && !stops.has(stop)],
    ['marks', meta !== undefined],
  ] as const
  for (const [kind, isLost] of lost) if (isLost) losses.add(kind, key)
  for (const [i, reason] of reasonsOf(reasoning).entries())
    if (!isClaudes || !isSigned(reason)) losses.add('reasoning', `${key}/${i}`)
}
