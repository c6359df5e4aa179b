import type { Event } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'
import type { CallNames } from '../write/call-names.js'
import { partsOf, reasonsOf } from '../write/groups.js'
import type { Losses } from '../write/losses.js'
import { mediaSource, placeholder } from '../write/media.js'
import { isHiddenThought } from '../write/saying.js'
import { callsOf } from '../write/steps.js'

/** What events of any origin say, as response items. Members are resolved. */

export interface Telling {
  readonly losses: Losses
  /** Of the step: what is lost counts once. */
  readonly key: string
}

/** Content of a role, as blocks. Only the model's says nothing but text. */
export const blocksFor = (content: unknown, role: string, { losses, key }: Telling): readonly Json[] =>
  partsOf(content).map((part, i) => blockFor(part, role, { losses, key: `${key}/${i}` }))

const media = new Set<unknown>(['image', 'document', 'audio'])

const blockFor = (part: Json, role: string, telling: Telling): Json => {
  const { type, text } = part
  const kind = role === 'assistant' ? 'output_text' : 'input_text'
  if (type === 'text' && typeof text === 'string') return { type: kind, text }
  if (type === 'image' && role !== 'assistant') {
    const url = imageUrl(part, telling)
    if (url !== null) return { type: 'input_image', image_url: url }
  }
  if (media.has(type)) return { type: kind, text: placeOf(part, telling) }
  telling.losses.add('other parts', telling.key)
  return { type: kind, text: JSON.stringify(part) }
}

const imageUrl = (part: Json, { losses, key }: Telling): string | null => {
  const { type: _type, media: _media, data: _data, url: _url, ...rest } = part
  const source = mediaSource(part)
  if (source === null) return null
  if (Object.keys(rest).length > 0) losses.add('image details', key)
  return 'data' in source ? `data:${source.media};base64,${source.data}` : source.url
}

const placeOf = (part: Json, { losses, key }: Telling): string => {
  losses.add(part.type === 'image' ? 'images' : 'documents', key)
  return placeholder(part)
}

export const messageItem = (role: string, content: unknown, telling: Telling): Json => ({
  type: 'message',
  role,
  content: blocksFor(content, role, telling),
})

/** An answer: what it thought, what it said, what it called. */
export const answerItems = (
  members: Json,
  events: readonly Event[],
  names: CallNames,
  telling: Telling,
): readonly Json[] => {
  const { content, refusal, reasoning } = members
  const thoughts = reasonsOf(reasoning).flatMap((reason) =>
    isObject(reason) && typeof reason.text === 'string' && reason.text !== '' ? [reason.text] : [],
  )
  const said = [...partsOf(content), ...partsOf(refusal)]
  return [
    ...(thoughts.length === 0 ? [] : [reasoningItem(thoughts)]),
    ...(said.length === 0 ? [] : [messageItem('assistant', said, telling)]),
    ...callsOf(members).map(({ id, name, arguments: text }) => ({
      type: 'function_call',
      name: names.toolOf(name),
      arguments: String(text),
      call_id: names.idOf(callerOf(events, id), id),
    })),
  ]
}

/** The event of an answer that makes a call. */
const callerOf = (events: readonly Event[], call: string): string =>
  events.find((event) => callsOf(event).some(({ id }) => id === call))?.id ?? ''

const reasoningItem = (texts: readonly string[]): Json => ({
  type: 'reasoning',
  summary: texts.map((text) => ({ type: 'summary_text', text })),
  content: null,
  encrypted_content: null,
})

export const outputItem = (members: Json, call: string, telling: Telling): Json => {
  const { content } = members
  const isText = typeof content === 'string' || content === null || content === undefined
  return {
    type: 'function_call_output',
    call_id: call,
    output: isText ? (content ?? '') : blocksFor(content, 'tool', telling),
  }
}

/** A hundred days (ms): what is longer was not measured, and nanoseconds stay exact. */
const longest = 8.64e9

/** How a call went: Codex tells it in a line of its own, before what the tool gave. null where nothing is known. */
export const outcomeEvent = (members: Json, call: string, tool: string): Json | null => {
  const { ok, timing } = members
  const given = isObject(timing) && typeof timing.durationMs === 'number' ? timing.durationMs : 0
  const nanos = Math.round((given > 0 && given < longest ? given : 0) * 1e6)
  if (typeof ok !== 'boolean') return null
  return {
    type: 'mcp_tool_call_end',
    call_id: call,
    invocation: { server: 'coppice', tool, arguments: null },
    duration: { secs: Math.floor(nanos / 1e9), nanos: nanos % 1e9 },
    result: { Ok: { content: [], isError: !ok } },
  }
}

/** What people see of an item, in the lines that Codex shows them from. */
export const mirrorsOf = (item: Json): readonly Json[] => {
  if (item.type === 'reasoning')
    return (item.summary as readonly Json[]).map(({ text }) => ({ type: 'agent_reasoning', text }))
  if (item.type !== 'message' || !Array.isArray(item.content)) return []
  const message = (item.content as readonly Json[])
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n')
  if (message === '') return []
  return item.role === 'assistant'
    ? [{ type: 'agent_message', message }]
    : [{ type: 'user_message', message, images: [], local_images: [], text_elements: [] }]
}

/** What of an answer Codex has no place for. */
export const countAnswer = (members: Json, { losses, key }: Telling): void => {
  const { reasoning, replay, refusal, timing, usage, stop, meta, model, provider, visible } = members
  const lost = [
    ['refusals', refusal !== undefined && refusal !== null],
    ['timing', timing !== undefined],
    ['stops', stop !== undefined],
    ['models', model !== undefined || provider !== undefined],
    ['marks', meta !== undefined],
    ['hidden messages', visible === false],
    ['costs', isObject(usage) && usage.costUsd !== undefined],
  ] as const
  for (const [kind, isLost] of lost) if (isLost) losses.add(kind, key)
  for (const [i, reason] of reasonsOf(reasoning).entries())
    if (!isObject(reason) || reason.signature !== undefined || typeof reason.text !== 'string')
      losses.add('signatures', `${key}/${i}`)
  for (const [i, block] of (Array.isArray(replay) ? (replay as unknown[]) : []).entries())
    losses.add(isHiddenThought(block) ? 'signatures' : 'provider blocks', `${key}+${i}`)
}
