import type { Event } from '../../events/event.js'
import { callsOf, type Members, membersOf, numberOf, recordOf, stringOf } from '../../projections/members.js'
import { readUsage } from '../../projections/usage-tally.js'
import { layOutCall } from '../layout/call-layout.js'
import { visible } from '../visible.js'
import { contentPieces, reasoningPieces } from './content.js'
import type { CallView, Piece, ResultView, SaidEntry, Speaker } from './entry.js'
import { duration, spent } from './quantity.js'

const speakers: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool'])

export interface SaidHow {
  readonly continues: boolean
  readonly compacted: boolean
  /** The tool whose result it is. */
  readonly tool: string | null
}

/** A message; its calls without their results. `event` is resolved and redacted. */
export const saidEntry = (event: Event, { continues, compacted, tool }: SaidHow): SaidEntry => {
  const members = membersOf(event)
  const role = stringOf(members.role) ?? ''
  const speaker = (speakers.has(role) ? role : 'other') as Speaker
  return {
    kind: 'said',
    id: event.id,
    at: event.at,
    speaker,
    heading: headingOf(speaker, role, tool),
    facts: factsOf(members),
    continues,
    compacted,
    pieces: event.redacted === true ? [redactedPiece] : piecesOf(members, speaker),
    calls: callsOf(members).map(({ id, name, arguments: given }) => callView(id, name, given)),
  }
}

const redactedPiece: Piece = { kind: 'plain', text: '[redacted]' }

const headingOf = (speaker: Speaker, role: string, tool: string | null): string => {
  if (speaker === 'tool') return visible(`Result${tool === null ? '' : ` of ${tool}`}`)
  if (speaker === 'other') return visible(role || 'Unknown')
  return `${speaker[0]?.toUpperCase()}${speaker.slice(1)}`
}

const factsOf = (members: Members): readonly string[] => {
  const timing = recordOf(members.timing)
  const usage = readUsage(members.usage)
  const [took, first] = [numberOf(timing?.durationMs), numberOf(timing?.firstTokenMs)]
  const thought = numberOf(timing?.reasoningMs)
  return [
    ...(stringOf(members.model) ? [visible(stringOf(members.model) ?? '')] : []),
    ...(took === null ? [] : [duration(took)]),
    ...(first === null ? [] : [`first token after ${duration(first)}`]),
    ...(thought === null ? [] : [`thought for ${duration(thought)}`]),
    ...(usage === null ? [] : spent(usage)),
    ...(isOddStop(members.stop) ? [visible(`stopped: ${members.stop}`)] : []),
    ...(members.visible === false ? ['hidden'] : []),
    ...(members.context === false ? ['not for the model'] : []),
  ]
}

const usualStops: ReadonlySet<unknown> = new Set([
  'stop',
  'end_turn',
  'tool_use',
  'toolUse',
  'tool_calls',
  'tool-calls',
])
const isOddStop = (stop: unknown): stop is string =>
  typeof stop === 'string' && stop !== '' && !usualStops.has(stop)

const kindFor = {
  assistant: 'prose',
  user: 'plain',
  system: 'plain',
  tool: 'output',
  other: 'plain',
} as const

const piecesOf = (members: Members, speaker: Speaker): readonly Piece[] => [
  ...reasoningPieces(members.reasoning),
  ...contentPieces(members.content, kindFor[speaker]),
  ...contentPieces(members.refusal, 'refusal'),
]

const callView = (id: string, name: string, given: unknown): CallView => {
  const raw = typeof given === 'string' ? given : ''
  const { about, pieces, isWhole } = layOutCall(raw)
  return {
    id,
    name: visible(name) || 'unnamed tool',
    about,
    pieces,
    raw: isWhole ? null : visible(raw),
    states: [],
    result: null,
    elsewhere: null,
  }
}

/** A tool's result as it stands within its call. */
export const resultView = (event: Event, callAt: string): ResultView => {
  const members = membersOf(event)
  const timing = recordOf(members.timing)
  const between = Date.parse(event.at) - Date.parse(callAt)
  return {
    id: event.id,
    at: event.at,
    ok: typeof members.ok === 'boolean' ? members.ok : null,
    durationMs: numberOf(timing?.durationMs) ?? (between > 0 ? between : null),
    pieces:
      event.redacted === true
        ? [redactedPiece]
        : [...contentPieces(members.content, 'output'), ...fullOutput(members)],
  }
}

/** The whole of an output of which the model saw the beginning (docs/FORMAT.md, `meta`). */
const fullOutput = (members: Members): readonly Piece[] => {
  const text = stringOf(recordOf(recordOf(members.meta)?.fullOutput)?.text)
  return text === null ? [] : [{ kind: 'plain', text: visible(text), label: 'Full output' }]
}
