import type { Usage } from '../../events/content.js'
import { parsedJson } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { partsOf, reasonsOf } from '../write/groups.js'
import type { Losses } from '../write/losses.js'
import { mediaSource, placeholder } from '../write/media.js'
import { bareThought, isBareThought, isHiddenThought } from '../write/saying.js'
import { callsOf } from '../write/steps.js'
import { wholeUsage } from '../write/usage.js'

/** Messages of any origin as ZettCode's reader would give them, so that `saidMessage` makes records of them. */

export interface Telling {
  readonly losses: Losses
  /** Of the step: what is lost counts once. */
  readonly key: string
}

const media = new Set<unknown>(['image', 'document', 'audio'])

const partsFor = (content: unknown, { losses, key }: Telling, takesImages: boolean): readonly Json[] =>
  partsOf(content).map((part, i) => partFor(part, { losses, key: `${key}/${i}` }, takesImages))

const partFor = (part: Json, { losses, key }: Telling, takesImages: boolean): Json => {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (!media.has(type)) {
    losses.add('other parts', key)
    return { type: 'text', text: JSON.stringify(part) }
  }
  const source = mediaSource(part)
  if (type === 'image' && takesImages && source !== null) return imagePart(part, source, { losses, key })
  losses.add(type === 'image' ? 'images' : 'documents', key)
  return { type: 'text', text: placeholder(part) }
}

const details = new Set<unknown>(['auto', 'low', 'high'])

const imagePart = (
  { type, media: _media, data: _data, url: _url, alt, detail, alt_text: named, ...rest }: Json,
  source: NonNullable<ReturnType<typeof mediaSource>>,
  { losses, key }: Telling,
): Json => {
  if (Object.keys(rest).length > 0) losses.add('image details', key)
  return {
    type,
    ...('data' in source ? { media: source.media, data: source.data } : { url: source.url }),
    detail: details.has(detail) ? detail : 'auto',
    alt_text: typeof alt === 'string' ? alt : typeof named === 'string' ? named : null,
  }
}

const contentFor = (content: unknown, telling: Telling): string | readonly Json[] => {
  const parts = partsFor(content, telling, true)
  return parts.every(({ type }) => type === 'text') ? textOf(parts) : parts
}

const textOf = (parts: readonly Json[]): string => parts.map(({ text }) => String(text)).join('\n\n')

const apart = ({ context, aside }: Json): Json => ({
  ...(context === false || aside === true ? { context: false } : {}),
  ...(aside === true ? { aside } : {}),
})

export const promptPayload = (members: Json, telling: Telling): Json => ({
  role: 'user',
  content: contentFor(members.content, telling),
  ...apart(members),
})

export const answerPayload = (members: Json, telling: Telling): Json => {
  const { content, refusal, reasoning, model, provider } = members
  const thoughts = reasonsOf(reasoning).flatMap((reason) =>
    isObject(reason) && typeof reason.text === 'string' && reason.text !== '' ? [reason.text] : [],
  )
  const usage = usageFor(members.usage, telling)
  return {
    role: 'assistant',
    content: textOf(partsFor([...partsOf(content), ...partsOf(refusal)], telling, false)),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join('\n\n') }),
    toolCalls: callsOf(members).map(({ id, name, arguments: given }) => ({
      id,
      name,
      arguments: argumentsFor(given, { ...telling, key: `${telling.key}#${id}` }),
    })),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
    ...(usage === null ? {} : { usage }),
    ...apart(members),
  }
}

/** The text of an object, whatever the model wrote. */
const argumentsFor = (given: unknown, { losses, key }: Telling): string => {
  const text = typeof given === 'string' ? given : ''
  const value = parsedJson(text === '' ? '{}' : text)
  if (isObject(value)) return text === '' ? '{}' : text
  losses.add('arguments', key)
  return JSON.stringify({ input: value === undefined ? text : value })
}

export const resultPayload = (members: Json, telling: Telling): Json => ({
  role: 'tool',
  content: members.context === false ? '[removed]' : contentFor(members.content, telling),
  toolCallId: members.toolCallId,
  ok: members.ok !== false,
})

/** All five counts; ZettCode refuses a file where what the cache gave is more than what went in. */
const usageFor = (given: unknown, { losses, key }: Telling): Usage | null => {
  if (isObject(given) && given.costUsd !== undefined) losses.add('costs', key)
  const usage = wholeUsage(given, losses, key)
  if (usage === null) return null
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  return { input, output, cacheRead, cacheWrite, reasoning }
}

/** What of a message ZettCode has no place for. */
export const countLost = (members: Json, { losses, key }: Telling): void => {
  const { role, reasoning, replay, refusal, stop, meta, visible } = members
  const lost = [
    ['refusals', refusal !== undefined && refusal !== null],
    ['stops', stop !== undefined],
    ['marks', meta !== undefined],
    ['hidden messages', visible === false],
    ['usage', role !== 'assistant' && members.usage !== undefined],
  ] as const
  for (const [kind, isLost] of lost) if (isLost) losses.add(kind, key)
  if (isBareThought(members)) losses.addOwn('reasoning', bareThought, key)
  for (const [i, reason] of reasonsOf(reasoning).entries())
    if (!isObject(reason) || reason.signature !== undefined || typeof reason.text !== 'string')
      losses.add('signatures', `${key}/${i}`)
  for (const [i, block] of (Array.isArray(replay) ? (replay as unknown[]) : []).entries())
    losses.add(isHiddenThought(block) ? 'signatures' : 'provider blocks', `${key}+${i}`)
}
