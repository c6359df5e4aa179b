import { parsedJson, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { partsOf, reasonsOf } from '../write/groups.js'
import type { Losses } from '../write/losses.js'
import { mediaSource, placeholder } from '../write/media.js'
import { isHiddenThought } from '../write/saying.js'
import { callsOf } from '../write/steps.js'
import { wholeUsage } from '../write/usage.js'
import { saidUsage } from './message.js'

/** Messages of any origin as Pi has them. Members are resolved. */

export interface Telling {
  readonly losses: Losses
  /** Of the step: what is lost counts once. */
  readonly key: string
}

/** Blocks of content: texts and images. */
export const blocksFor = (content: unknown, { losses, key }: Telling): readonly Json[] =>
  partsOf(content).map((part, i) => blockFor(part, { losses, key: `${key}/${i}` }, true))

const media = new Set<unknown>(['image', 'document', 'audio'])

const blockFor = (part: Json, telling: Telling, takesImages: boolean): Json => {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (media.has(type)) return mediaBlock(part, telling, takesImages)
  telling.losses.add('other parts', telling.key)
  return { type: 'text', text: JSON.stringify(part) }
}

const mediaBlock = (part: Json, { losses, key }: Telling, takesImages: boolean): Json => {
  const { type, media: _media, data: _data, url: _url, ...rest } = part
  const source = mediaSource(part)
  if (type === 'image' && takesImages && source !== null && 'data' in source) {
    if (Object.keys(rest).length > 0) losses.add('image details', key)
    return { type, data: source.data, mimeType: source.media }
  }
  losses.add(type === 'image' ? 'images' : 'documents', key)
  return { type: 'text', text: placeholder(part) }
}

/** What the user says: text stays text. */
export const userContent = (content: unknown, telling: Telling): string | readonly Json[] =>
  typeof content === 'string' ? content : blocksFor(content, telling)

export const resultMessage = (members: Json, at: string, tool: string, telling: Telling): Json => ({
  role: 'toolResult',
  toolCallId: members.toolCallId,
  toolName: tool,
  content: blocksFor(members.content, telling),
  isError: members.ok === false,
  timestamp: Date.parse(at),
})

export const assistantMessage = (members: Json, at: string, telling: Telling): Json => {
  const usage = wholeUsage(members.usage, telling.losses, telling.key)
  const model = textIn(members, 'model') ?? 'unknown'
  const provider = textIn(members, 'provider') ?? providerOf(model)
  countAssistant(members, at, telling)
  return {
    role: 'assistant',
    content: assistantBlocks(members, telling),
    api: apis.get(provider) ?? 'openai-completions',
    provider,
    model,
    usage: saidUsage(usage ?? { input: 0, output: 0 }),
    stopReason: stopOf(members),
    timestamp: startOf(members.timing, at) ?? Date.parse(at),
  }
}

const assistantBlocks = (members: Json, telling: Telling): readonly Json[] => {
  const { content, refusal, reasoning } = members
  const spoken = [...partsOf(content), ...partsOf(refusal)]
  return [
    ...reasonsOf(reasoning).flatMap((reason) => {
      const text = isObject(reason) ? reason.text : undefined
      return typeof text === 'string' && text !== '' ? [{ type: 'thinking', thinking: text }] : []
    }),
    ...spoken.map((part, i) => blockFor(part, { ...telling, key: `${telling.key}/${i}` }, false)),
    ...callsOf(members).map(({ id, name, arguments: text }) => ({
      type: 'toolCall',
      id: callId(id),
      name,
      arguments: argumentsOf(text, { ...telling, key: `${telling.key}#${id}` }),
    })),
  ]
}

/** A call whose id is empty would find no result. */
export const callId = (id: string): string => (id === '' ? 'call' : id)

/** An object, whatever the model wrote. */
const argumentsOf = (text: unknown, { losses, key }: Telling): Json => {
  const value = typeof text === 'string' ? parsedJson(text === '' ? '{}' : text) : undefined
  if (isObject(value)) return value
  losses.add('arguments', key)
  return { input: value === undefined ? String(text) : value }
}

/** The provider by the names that its models have, where nothing names it. */
const providerOf = (model: string): string =>
  /claude|opus|sonnet|haiku/i.test(model)
    ? 'anthropic'
    : /^(gpt|o\d|codex|chatgpt)/i.test(model)
      ? 'openai'
      : /^gemini/i.test(model)
        ? 'google'
        : 'unknown'

const apis: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'anthropic-messages'],
  ['openai', 'openai-responses'],
  ['google', 'google-generative-ai'],
])

const stops: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['end-turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['STOP', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['MAX_TOKENS', 'length'],
  ['toolUse', 'toolUse'],
  ['tool_use', 'toolUse'],
  ['tool_calls', 'toolUse'],
  ['tool-calls', 'toolUse'],
])

/** Pi leaves a reply that broke off out of what it sends: none else may read so. */
const stopOf = (members: Json): string => {
  if (members.context === false) return members.stop === 'error' ? 'error' : 'aborted'
  return callsOf(members).length > 0 ? 'toolUse' : (stops.get(members.stop) ?? 'stop')
}

/** Pi tells when the model was asked; `at` is when the reply was whole. */
const startOf = (timing: unknown, at: string): number | null => {
  const started = isObject(timing) ? Date.parse(String(timing.startedAt)) : Number.NaN
  return started >= 0 && started <= Date.parse(at) ? started : null
}

const countAssistant = (members: Json, at: string, { losses, key }: Telling): void => {
  const { reasoning, replay, refusal, timing, stop, meta, context } = members
  const hasStart = isObject(timing) && startOf(timing, at) !== null
  const told = hasStart ? ['startedAt', 'completedAt', 'durationMs'] : []
  const untold = isObject(timing) ? Object.keys(timing).filter((name) => !told.includes(name)) : []
  const isKnownStop = stop === undefined || stops.get(stop) === stopOf(members) || context === false
  if (refusal !== undefined && refusal !== null) losses.add('refusals', key)
  if (untold.length > 0) losses.add('timing', key)
  if (!isKnownStop) losses.add('stops', key)
  if (meta !== undefined) losses.add('marks', key)
  for (const [i, reason] of reasonsOf(reasoning).entries())
    if (!isObject(reason) || reason.signature !== undefined || typeof reason.text !== 'string')
      losses.add('signatures', `${key}/${i}`)
  for (const [i, block] of (Array.isArray(replay) ? (replay as unknown[]) : []).entries())
    losses.add(isHiddenThought(block) ? 'signatures' : 'provider blocks', `${key}+${i}`)
}
