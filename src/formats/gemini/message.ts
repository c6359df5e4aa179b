import type { Part, Usage } from '../../events/content.js'
import { countIn, listIn, textIn, withoutUndefined } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** A message of Gemini's in our terms, and back. */

export type Kind = 'user' | 'gemini' | 'other'

/** Who speaks: `type` since the CLI's own files, `role` in what it exported. */
export const kindOf = (message: Json): Kind => {
  const type = textIn(message, 'type') ?? textIn(message, 'role')
  if (type === 'user') return 'user'
  return type === 'gemini' || type === 'model' || type === 'assistant' ? 'gemini' : 'other'
}

export const looksLikeMessage = (value: unknown): boolean =>
  isObject(value) &&
  (typeof value.type === 'string' || typeof value.role === 'string') &&
  ('content' in value || Array.isArray(value.parts) || Array.isArray(value.toolCalls))

export const timeOf = (message: Json): string | null => {
  const given = message.timestamp ?? message.ts
  return normalTime(typeof given === 'number' && given < 1e11 ? Math.round(given * 1000) : given)
}

const partOf = (part: unknown): Part => {
  if (typeof part === 'string') return { type: 'part', part } as Part
  if (!isObject(part)) return { type: 'part', part } as Part
  const names = Object.keys(part)
  if (typeof part.text === 'string' && names.length === 1) return { type: 'text', text: part.text }
  const { inlineData, fileData } = part
  if (isObject(inlineData) && names.length === 1) {
    const { mimeType: media, data, ...rest } = inlineData
    if (typeof media === 'string' && typeof data === 'string' && Object.keys(rest).length === 0)
      return { type: mediaType(media), media, data } as Part
  }
  if (isObject(fileData) && names.length === 1) {
    const { mimeType: media, fileUri: url, ...rest } = fileData
    if (typeof media === 'string' && typeof url === 'string' && Object.keys(rest).length === 0)
      return { type: mediaType(media), media, url } as Part
  }
  return { type: 'part', part } as Part
}

const mediaType = (media: string): string =>
  media.startsWith('image/') ? 'image' : media.startsWith('audio/') ? 'audio' : 'document'

const saidPart = (part: Json): unknown => {
  const { type, media, data, url } = part
  if (type === 'part') return part.part
  if (type === 'text') return { text: part.text }
  return data === undefined
    ? { fileData: { mimeType: media, fileUri: url } }
    : { inlineData: { mimeType: media, data } }
}

/** What a message says; the empty text of one that only calls is none. */
export const contentOf = (message: Json): string | Part[] | null => {
  const given = message.content ?? message.parts
  if (Array.isArray(given)) return given.map(partOf)
  return typeof given === 'string' && given !== '' ? given : isObject(given) ? [partOf(given)] : null
}

const saidContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part) => saidPart(part as Json)) : (content ?? '')

/** A thought as reasoning: its subject stands before it, as people read it. */
const reasoningOf = (message: Json): { text: string }[] =>
  listIn(message, 'thoughts').flatMap((thought) => {
    if (!isObject(thought) || typeof thought.description !== 'string') return []
    const { description, subject, ...rest } = thought
    const text = typeof subject === 'string' ? `${subject}: ${description as string}` : description
    return [{ ...rest, ...(subject === undefined ? {} : { subject }), text: text as string }]
  })

const saidThoughts = (reasoning: unknown): unknown =>
  Array.isArray(reasoning)
    ? (reasoning as Json[]).map(({ text, subject, ...rest }) => ({
        ...rest,
        ...(subject === undefined ? {} : { subject }),
        description: typeof subject === 'string' ? String(text).slice(subject.length + 2) : (text as string),
      }))
    : undefined

/** Gemini counts thoughts beside `output`; ours includes them. undefined where it gives no numbers. */
const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const input = countIn(given, 'input')
  const output = countIn(given, 'output')
  if (input === undefined || output === undefined) return undefined
  const cacheRead = countIn(given, 'cached')
  const reasoning = countIn(given, 'thoughts')
  return {
    input,
    output: output + (reasoning ?? 0),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

const saidUsage = ({ input, output, cacheRead, reasoning }: Usage): Json =>
  withoutUndefined({
    input,
    output: output - (reasoning ?? 0),
    cached: cacheRead,
    thoughts: reasoning,
    total: input + output,
  })

/** The payload of a `user` or `gemini` message without its calls, which are events of their own in its group. */
export const speechOf = (message: Json, group: string): Json => {
  if (kindOf(message) === 'user') return { role: 'user', content: contentOf(message) }
  const reasoning = reasoningOf(message)
  const model = textIn(message, 'model')
  const usage = usageOf(message.tokens)
  return {
    role: 'assistant',
    content: contentOf(message),
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(model === null ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    group,
  }
}

/** The message that a writer makes of `speechOf`; calls are compared one by one. */
export const saidSpeech = (payload: Json, id: string, at: string): Json => {
  const { role, content, reasoning, model, usage } = payload
  const said = { id, timestamp: at, type: role === 'user' ? 'user' : 'gemini', content: saidContent(content) }
  return role === 'user'
    ? said
    : {
        ...said,
        thoughts: saidThoughts(reasoning),
        model,
        tokens: usage === undefined ? undefined : saidUsage(usage as Usage),
      }
}
