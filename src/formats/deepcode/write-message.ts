import { isObject, type Json } from '../remainder.js'
import { partsOf, reasonsOf } from '../write/groups.js'
import type { Losses } from '../write/losses.js'
import { mediaSource, placeholder } from '../write/media.js'
import { bareThought, isBareThought, isHiddenThought } from '../write/saying.js'
import { callsOf } from '../write/steps.js'
import { resultMeta, wrapResult } from './result.js'

/** Messages of any origin as Deep Code's reader would give them, so that `saidMessage` makes lines of them. */

export interface Telling {
  readonly losses: Losses
  /** Of the step: what is lost counts once. */
  readonly key: string
}

const media = new Set<unknown>(['image', 'document', 'audio'])

/** Texts and images; texts that follow one another are one. */
const partsFor = (content: unknown, { losses, key }: Telling, takesImages: boolean): readonly Json[] => {
  const parts: Json[] = []
  for (const [i, part] of partsOf(content).entries()) {
    const found = partFor(part, { losses, key: `${key}/${i}` }, takesImages)
    const last = parts.at(-1)
    if (found.type === 'text' && last?.type === 'text')
      parts[parts.length - 1] = { type: 'text', text: `${String(last.text)}\n\n${String(found.text)}` }
    else parts.push(found)
  }
  return parts
}

const partFor = (part: Json, { losses, key }: Telling, takesImages: boolean): Json => {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (!media.has(type)) {
    losses.add('other parts', key)
    return { type: 'text', text: JSON.stringify(part) }
  }
  const { type: _type, media: _media, data: _data, url: _url, ...rest } = part
  const source = mediaSource(part)
  if (type === 'image' && takesImages && source !== null) {
    if (Object.keys(rest).length > 0) losses.add('image details', key)
    return 'data' in source ? { type, media: source.media, data: source.data } : { type, url: source.url }
  }
  losses.add(type === 'image' ? 'images' : 'documents', key)
  return { type: 'text', text: placeholder(part) }
}

const textFor = (content: unknown, telling: Telling): string | null => {
  const [part] = partsFor(content, telling, false)
  return part === undefined ? null : String(part.text)
}

/** What the user or the system says. */
export const promptPayload = (role: string, { content, visible }: Json, telling: Telling): Json => {
  const parts = partsFor(content, telling, true)
  const [first] = parts
  const isText = parts.length < 2 && first?.type !== 'image'
  return {
    role,
    content: isText ? (first?.text ?? '') : parts,
    ...(visible === false ? { visible } : {}),
  }
}

export const answerPayload = (members: Json, telling: Telling): Json => {
  const { content, refusal, reasoning, visible } = members
  const calls = callsOf(members)
  const thoughts = reasonsOf(reasoning).flatMap((reason) =>
    isObject(reason) && typeof reason.text === 'string' && reason.text !== '' ? [reason.text] : [],
  )
  return {
    role: 'assistant',
    content: textFor([...partsOf(content), ...partsOf(refusal)], telling),
    ...(calls.length === 0 ? {} : { toolCalls: calls.map((call) => ({ ...call, ...named(call, telling) })) }),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join('\n\n') }),
    ...(visible === false ? { visible } : {}),
    ...(calls.length === 0 ? {} : { meta: { asThinking: true } }),
  }
}

/** Deep Code pairs no call whose id is empty. */
const named = ({ id }: { readonly id: string }, { losses, key }: Telling): { readonly id: string } => {
  if (id === '') losses.add('call ids', key)
  return { id: callId(id) }
}

const callId = (id: string): string => (id === '' ? 'call' : id)

/** `call`: the one that it answers. */
export const resultPayload = (members: Json, call: Json, telling: Telling): Json => {
  const { content, ok, visible, context } = members
  const name = typeof call.name === 'string' ? call.name : ''
  const text = context === false ? '[removed]' : (textFor(content, telling) ?? '')
  return {
    role: 'tool',
    content: wrapResult(text, name, ok !== false),
    toolCallId: callId(String(call.id)),
    ...(visible === false ? { visible } : {}),
    meta: resultMeta({ name, arguments: String(call.arguments ?? '') }),
  }
}

/** What of a message Deep Code has no place for. */
export const countLost = (members: Json, { losses, key }: Telling): void => {
  const { reasoning, replay, refusal, timing, usage, stop, meta, model, provider } = members
  const lost = [
    ['refusals', refusal !== undefined && refusal !== null],
    ['timing', timing !== undefined],
    ['stops', stop !== undefined],
    ['models', model !== undefined || provider !== undefined],
    ['marks', meta !== undefined],
    ['costs', isObject(usage) && usage.costUsd !== undefined],
  ] as const
  for (const [kind, isLost] of lost) if (isLost) losses.add(kind, key)
  if (isBareThought(members)) losses.addOwn('reasoning', bareThought, key)
  if (usage !== undefined)
    losses.addOwn('usage by message', 'count of the tokens of one message: only their sum is kept', key)
  for (const [i, reason] of reasonsOf(reasoning).entries())
    if (!isObject(reason) || reason.signature !== undefined || typeof reason.text !== 'string')
      losses.add('signatures', `${key}/${i}`)
  for (const [i, block] of (Array.isArray(replay) ? (replay as unknown[]) : []).entries())
    losses.add(isHiddenThought(block) ? 'signatures' : 'provider blocks', `${key}+${i}`)
}
