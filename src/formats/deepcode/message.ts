import type { Part, ToolCall } from '../../events/content.js'
import { isObject, type Json, remainder } from '../remainder.js'

/** What Deep Code writes before the text of a summary. */
export const summaryPrefix = 'There are earlier parts of the conversation. Here is a summary: \n\n'

const roles = new Set(['system', 'user', 'assistant', 'tool'])

/** Members that Deep Code changes in place later: what they say becomes events of its own. */
const changing = new Set(['compacted', 'checkpointHash'])

export interface Mapped {
  readonly payload: Record<string, unknown>
  readonly extra: Json | undefined
}

/** A line as a message; null where it has no role that we know. */
export const messageOf = (value: Json): Mapped | null => {
  const { role, content } = value
  if (
    typeof role !== 'string' ||
    !roles.has(role) ||
    !(content === null || content === undefined || typeof content === 'string')
  )
    return null
  const params = isObject(value.messageParams) ? value.messageParams : {}
  const images = imagesOf(value.contentParams)
  const text = content ?? null
  const ok = role === 'tool' ? okOf(text) : undefined
  const calls = role === 'assistant' ? callsOf(params.tool_calls) : undefined
  const reasoning = role === 'assistant' ? params.reasoning_content : undefined
  const callId = role === 'tool' ? params.tool_call_id : undefined
  const meta = metaOf(value.meta)
  const payload = {
    role,
    content: images === null ? text : [...(text === null ? [] : [{ type: 'text', text }]), ...images],
    ...(calls === undefined ? {} : { toolCalls: calls }),
    ...(typeof callId === 'string' ? { toolCallId: callId } : {}),
    ...(ok === undefined ? {} : { ok }),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(value.visible === false ? { visible: false } : {}),
    ...(meta === undefined ? {} : { meta }),
  }
  return { payload, extra: remainder(lasting(value), saidOf(payload, value)) }
}

/** The line without what changes in place; a time of change says nothing beside those. */
const lasting = (value: Json): Json => {
  const hasChanged = value.compacted === true || typeof value.checkpointHash === 'string'
  const isChanging = (key: string): boolean => changing.has(key) || (key === 'updateTime' && hasChanged)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isChanging(key)))
}

/** The line that a writer makes of the payload. Ids, times and the session come from the event. */
const saidOf = (payload: Json, value: Json): Json => {
  const { role, content, toolCalls, toolCallId, reasoning, visible, meta } = payload
  const parts = Array.isArray(content) ? (content as Json[]) : []
  const text = Array.isArray(content) ? (parts.find(({ type }) => type === 'text')?.text ?? null) : content
  const images = parts.filter(({ type }) => type === 'image').map(blockOf)
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
    id: value.id,
    sessionId: value.sessionId,
    role,
    content: text,
    contentParams: images.length > 0 ? images : null,
    messageParams: Object.keys(params).length > 0 ? params : null,
    visible: visible !== false,
    createTime: value.createTime,
    ...(lasting(value).updateTime === undefined ? {} : { updateTime: value.createTime }),
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

/** Images that were pasted; null where there are none, or something else stands there too. */
const imagesOf = (given: unknown): Part[] | null => {
  if (!Array.isArray(given) || given.length === 0) return null
  const images = given.flatMap((one): Part[] => {
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
  return images.length === given.length ? images : null
}

const blockOf = ({ media, data, url }: Json): Json => ({
  type: 'image_url',
  image_url: { url: url ?? `data:${media};base64,${data}` },
})

/** Members of `meta` that every read computes anew. */
const computed = new Set(['function', 'paramsMd', 'resultMd'])

const metaOf = (meta: unknown): Json | undefined => {
  if (!isObject(meta)) return undefined
  const kept = Object.entries(meta).filter(([key]) => !computed.has(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
