import type { Part, Usage } from '../../events/content.js'
import { listIn, objectIn, parsedJson, textIn, withoutUndefined } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'
import { saidUsage, usageOf } from './info.js'

/** Parts of a message in our terms, and back. */

const dataUrl = /^data:([^;,]+);base64,([A-Za-z0-9+/=]*)$/

/** A file as media: its bytes where they stand in the URL. */
export const mediaOf = ({ url, mime, filename }: Json): Part => {
  const [, , data] = dataUrl.exec(typeof url === 'string' ? url : '') ?? []
  const media = typeof mime === 'string' ? mime : 'application/octet-stream'
  const type = media.startsWith('image/') ? 'image' : media.startsWith('audio/') ? 'audio' : 'document'
  return {
    type,
    media,
    ...(data === undefined ? { url: String(url) } : { data }),
    ...(typeof filename === 'string' ? { alt: filename } : {}),
  }
}

const saidMedia = ({ media, data, url, alt }: Json): Json => ({
  mime: media,
  url: data === undefined ? url : `data:${String(media)};base64,${String(data)}`,
  filename: alt,
})

/** A part of a user's message that the model reads; null for one of OpenCode's own. */
export const spokenOf = (part: Json): Part | null => {
  if (part.type === 'text' && typeof part.text === 'string' && part.ignored !== true)
    return { type: 'text', text: part.text }
  return part.type === 'file' && typeof part.url === 'string' ? mediaOf(part) : null
}

/** What the part of a message would be if it were written from its content alone. */
export const saidSpoken = (content: Json): Json =>
  content.type === 'text' ? { type: 'text', text: content.text } : { type: 'file', ...saidMedia(content) }

/** A part of a reply as a message of its group; null for one of OpenCode's own. */
export const replyOf = (part: Json): Json | null => {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') return { role: 'assistant', content: text }
  if (type === 'reasoning' && typeof text === 'string') {
    const signature = textIn(objectIn(objectIn(part, 'metadata'), 'anthropic'), 'signature')
    const thought = { text, ...(signature === null ? {} : { signature }) }
    return { role: 'assistant', content: null, reasoning: [thought] }
  }
  if (type === 'file' && typeof part.url === 'string') return { role: 'assistant', content: [mediaOf(part)] }
  if (type === 'step-finish') return costOf(part)
  return type === 'tool' && textIn(part, 'callID') !== null ? callOf(part) : null
}

/** What a step cost: OpenCode's message tells the tokens of its last step alone. */
const costOf = (part: Json): Json | null => {
  const usage = usageOf(part)
  const stop = textIn(part, 'reason')
  return usage === undefined
    ? null
    : { role: 'assistant', content: null, usage, ...(stop === null ? {} : { stop }) }
}

const callOf = (part: Json): Json => {
  const { input } = objectIn(part, 'state')
  const call = {
    id: part.callID,
    name: textIn(part, 'tool') ?? '',
    arguments: JSON.stringify(input) ?? '',
  }
  return { role: 'assistant', content: null, toolCalls: [call] }
}

/** The result that a tool's part holds; null while it runs. */
export const resultOf = (part: Json): Json | null => {
  const state = objectIn(part, 'state')
  const { status } = state
  if (part.type !== 'tool' || (status !== 'completed' && status !== 'error')) return null
  const text = textIn(state, status === 'completed' ? 'output' : 'error') ?? ''
  const files = listIn(state, 'attachments').filter(isObject).map(mediaOf)
  const timing = timingOf(objectIn(state, 'time'))
  return {
    role: 'tool',
    content: files.length === 0 ? text : [{ type: 'text', text }, ...files],
    toolCallId: part.callID,
    ok: status === 'completed',
    ...(timing === null ? {} : { timing }),
  }
}

export const timingOf = ({ start, end }: Json): Json | null => {
  const startedAt = normalTime(start)
  const completedAt = normalTime(end)
  if (startedAt === null || completedAt === null) return null
  return { startedAt, completedAt, durationMs: Date.parse(completedAt) - Date.parse(startedAt) }
}

/** The part that a writer makes of a reply's payload, and of its result where it has one. */
export const saidReply = (payload: Json, result: Json | null): Json => {
  const { content, reasoning, toolCalls, usage, stop } = payload
  if (usage !== undefined) return { type: 'step-finish', reason: stop, ...saidUsage(usage as Usage) }
  const [thought] = (Array.isArray(reasoning) ? reasoning : []) as readonly Json[]
  if (thought !== undefined) return { type: 'reasoning', text: thought.text }
  const [call] = (Array.isArray(toolCalls) ? toolCalls : []) as readonly Json[]
  if (call === undefined)
    return typeof content === 'string'
      ? { type: 'text', text: content }
      : { type: 'file', ...saidMedia((content as readonly Json[])[0] ?? {}) }
  const { id, name, arguments: text } = call
  const input = text === '' ? undefined : parsedJson(String(text))
  return {
    type: 'tool',
    callID: id,
    tool: name,
    state: result === null ? { input } : saidState(input, result),
  }
}

const saidState = (input: unknown, { ok, content, timing }: Json): Json => {
  const [first, ...files] = Array.isArray(content) ? (content as Json[]) : [{ text: content }]
  const { startedAt, completedAt } = isObject(timing) ? timing : {}
  return withoutUndefined({
    status: ok === true ? 'completed' : 'error',
    input,
    [ok === true ? 'output' : 'error']: first?.text,
    attachments: files.length === 0 ? undefined : files.map((file) => ({ type: 'file', ...saidMedia(file) })),
    time:
      startedAt === undefined
        ? undefined
        : { start: Date.parse(String(startedAt)), end: Date.parse(String(completedAt)) },
  })
}
