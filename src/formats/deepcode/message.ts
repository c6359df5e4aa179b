import type { Part, ToolCall } from '../../events/content.js'
import { isObject, type Json, remainder } from '../remainder.js'
import { mark, outputIn } from './result.js'

/** What Deep Code writes before the text of a summary. */
export const summaryPrefix = 'There are earlier parts of the conversation. Here is a summary: \n\n'

const roles = new Set(['system', 'user', 'assistant', 'tool'])

export interface Mapped {
  readonly payload: Record<string, unknown>
  readonly extra: Json | undefined
}

/** What an event says of its line beside its payload. */
export interface Place {
  /** `origin.id`; another than the line's own id where that stands twice, or is missing. */
  readonly key: string
  readonly session: string
  /** The event's time. */
  readonly at: string
}

/** A line as a message; null where it has no role that we know. */
export const messageOf = (value: Json, place: Place): Mapped | null => {
  const { role, content } = value
  if (
    typeof role !== 'string' ||
    !roles.has(role) ||
    !(content === null || content === undefined || typeof content === 'string')
  )
    return null
  const params = isObject(value.messageParams) ? value.messageParams : {}
  const blocks = blocksIn(value.contentParams)
  const text = content ?? null
  const ok = role === 'tool' ? okOf(text) : undefined
  const calls = role === 'assistant' ? callsOf(params.tool_calls) : undefined
  const reasoning = role === 'assistant' ? params.reasoning_content : undefined
  const callId = role === 'tool' ? params.tool_call_id : undefined
  const meta = metaOf(value.meta)
  const payload = {
    role,
    content: blocks === null ? text : [...(text === null ? [] : [{ type: 'text', text }]), ...blocks],
    ...(calls === undefined ? {} : { toolCalls: calls }),
    ...(typeof callId === 'string' ? { toolCallId: callId } : {}),
    ...(ok === undefined ? {} : { ok }),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(value.visible === false ? { visible: false } : {}),
    ...(meta === undefined ? {} : { meta }),
  }
  const said = lasting(saidMessage(payload, place, value.createTime), value)
  const output = role === 'tool' ? outputIn(text, value.meta) : null
  return {
    payload: output === null ? payload : { ...payload, content: output },
    extra: remainder(lasting(value, value), said),
  }
}

/** The commit that holds the code before a prompt; null where the line names none. */
export const checkpointOf = ({ checkpointHash: hash }: Json): string | null =>
  typeof hash === 'string' && hash !== '' ? hash : null

/**
 * A line without what Deep Code changes in place later, as `value` has it: what that says becomes events of its own. A
 * time of change says nothing beside those.
 */
const lasting = (line: Json, value: Json): Json => {
  const isCompacted = value.compacted === true
  const hasCommit = checkpointOf(value) !== null
  const isChanging = (key: string): boolean =>
    (key === 'compacted' && isCompacted) ||
    (key === 'checkpointHash' && hasCommit) ||
    (key === 'updateTime' && (isCompacted || hasCommit))
  return Object.fromEntries(Object.entries(line).filter(([key]) => !isChanging(key)))
}

/** The line that a payload makes, as it was before anything changed in it. `created`: its time, where it names one. */
export const saidMessage = (payload: Json, { key, session, at }: Place, created: unknown): Json => {
  const { role, content, toolCalls, toolCallId, reasoning, visible, meta } = payload
  const parts = Array.isArray(content) ? (content as Json[]) : []
  const [first] = parts
  const text = Array.isArray(content) ? (first?.type === 'text' ? first.text : null) : content
  const blocks = (first?.type === 'text' ? parts.slice(1) : parts).map(blockOf)
  const calls = (toolCalls as readonly ToolCall[] | undefined)?.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }))
  const params = {
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
  }
  return {
    id: key,
    sessionId: session,
    role,
    content: text ?? null,
    contentParams: blocks.length > 0 ? blocks : null,
    messageParams: Object.keys(params).length > 0 ? params : null,
    compacted: false,
    visible: visible !== false,
    createTime: at,
    updateTime: created,
    ...(meta === undefined ? {} : { meta }),
  }
}

const okOf = (content: string | null): boolean | undefined => {
  try {
    const value: unknown = JSON.parse(content ?? '')
    return isObject(value) && typeof value.ok === 'boolean' ? value.ok : undefined
  } catch {
    return undefined
  }
}

const callsOf = (given: unknown): ToolCall[] | undefined => {
  if (!Array.isArray(given)) return undefined
  const calls = given.flatMap((call) => {
    const { id, function: named } = isObject(call) ? call : {}
    const { name, arguments: text } = isObject(named) ? named : {}
    return typeof id === 'string' && typeof name === 'string' && typeof text === 'string'
      ? [{ id, name, arguments: text }]
      : []
  })
  return calls.length === given.length && calls.length > 0 ? calls : undefined
}

const dataUrl = /^data:([^;,]+);base64,(.*)$/s

/** Images that were pasted, and texts between them; null where there are none, or something else stands there too. */
const blocksIn = (given: unknown): Part[] | null => {
  if (!Array.isArray(given) || given.length === 0) return null
  const blocks = given.flatMap((one): Part[] => {
    if (isObject(one) && one.type === 'text' && typeof one.text === 'string')
      return [{ type: 'text', text: one.text }]
    const image =
      isObject(one) && one.type === 'image_url' && isObject(one.image_url) ? one.image_url.url : undefined
    if (typeof image !== 'string') return []
    const [, media, data] = dataUrl.exec(image) ?? []
    return [
      media !== undefined && data !== undefined
        ? { type: 'image', media, data }
        : { type: 'image', url: image },
    ]
  })
  return blocks.length === given.length ? blocks : null
}

const blockOf = ({ type, text, media, data, url }: Json): Json =>
  type === 'text'
    ? { type, text }
    : { type: 'image_url', image_url: { url: url ?? `data:${media};base64,${data}` } }

/** Members of `meta` that every read computes anew, and the mark of a result that came from elsewhere. */
const computed = new Set(['function', 'paramsMd', 'resultMd', mark])

const metaOf = (meta: unknown): Json | undefined => {
  if (!isObject(meta)) return undefined
  const kept = Object.entries(meta).filter(([key]) => !computed.has(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
