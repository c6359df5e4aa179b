import type { ToolCall } from '../../events/content.js'
import { isFiniteNumber, listIn, objectIn, parsedJson, textIn, withoutUndefined } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { blocksOf, partsOf, textType } from './content.js'

/** A response item as a message, and what it does to calls. */
export interface Mapped {
  readonly payload: Json
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

/** What is known of a call from elsewhere: Codex tells how a command went in a line of its own. */
export interface Outcome {
  readonly ok?: boolean
  readonly durationMs?: number
}

/** The payload of a response item; null for one that has no place in the model. `key` names a call without an id. */
export const messageOf = (
  item: Json,
  key: string,
  outcomeOf: (call: string) => Outcome | undefined,
): Mapped | null => {
  const type = textIn(item, 'type') ?? 'message'
  if (type === 'message') return spoken(item)
  if (type === 'reasoning') return { payload: reasoned(item), calls: [], results: [] }
  if (opaque.has(type)) {
    return { payload: { role: 'assistant', content: null, replay: [item] }, calls: [], results: [] }
  }
  const call = callOf(item, type, key)
  if (call !== null) {
    const payload = { role: 'assistant', content: null, toolCalls: [call] }
    return { payload, calls: [call.id], results: [] }
  }
  return outputs.has(type) ? answered(item, type, outcomeOf) : null
}

/** What the provider itself ran, or only it understands: sent back unchanged. */
const opaque = new Set(['web_search_call', 'image_generation_call', 'compaction'])

const roles: Readonly<Record<string, string>> = {
  user: 'user',
  assistant: 'assistant',
  developer: 'system',
  system: 'system',
}

/** What Codex tells the model in the user's name. */
const injected =
  /^\s*(<(environment_context|user_instructions|permissions instructions|INSTRUCTIONS|turn_aborted|skill|subagent_notification|collaboration_mode|user_shell_command|apps_instructions|plugins_instructions)\b|# AGENTS\.md instructions)/

const spoken = (item: Json): Mapped | null => {
  const role = roles[String(item.role)]
  const given = item.content ?? item.message
  if (role === undefined || !(typeof given === 'string' || Array.isArray(given))) return null
  const blocks = Array.isArray(given) ? given : null
  const refused = (blocks ?? []).filter(isRefusal).map(({ refusal }) => refusal)
  const content =
    blocks === null
      ? given
      : partsOf(
          blocks.filter((block) => !isRefusal(block)),
          textType(item.role),
        )
  const first = Array.isArray(content) ? content[0] : { text: content }
  const isInjected = isObject(first) && injected.test(String(first.text))
  const payload = {
    role,
    content,
    ...(refused.length > 0 ? { refusal: refused.join('\n') } : {}),
    ...(role === 'system' || (role === 'user' && isInjected) ? { visible: false } : {}),
  }
  return { payload, calls: [], results: [] }
}

const isRefusal = (block: unknown): block is { refusal: string } =>
  isObject(block) && block.type === 'refusal' && typeof block.refusal === 'string'

const reasoned = (item: Json): Json => {
  const texts = (member: string): { text: string }[] =>
    listIn(item, member).flatMap((part) =>
      isObject(part) && typeof part.text === 'string' ? [{ text: part.text }] : [],
    )
  const summary = texts('summary')
  const reasoning = summary.length > 0 ? summary : texts('content')
  return {
    role: 'assistant',
    content: null,
    ...(reasoning.length > 0 ? { reasoning } : {}),
    // Only the provider can read what is encrypted, and it wants the item whole.
    ...(typeof item.encrypted_content === 'string' ? { replay: [item] } : {}),
  }
}

const callOf = (item: Json, type: string, key: string): ToolCall | null => {
  const id = textIn(item, 'call_id') ?? textIn(item, 'id') ?? key
  const name = textIn(item, 'name') ?? textIn(objectIn(item, 'function'), 'name') ?? ''
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  switch (type) {
    case 'function_call':
    case 'tool_call':
      return { id, name, arguments: text(item.arguments) }
    case 'custom_tool_call':
      return { id, name, arguments: text(item.input) }
    case 'local_shell_call':
      return { id, name: 'local_shell', arguments: text(item.action) }
    case 'tool_search_call':
      return { id, name: 'tool_search', arguments: text(item.arguments) }
  }
  return null
}

const outputs = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
  'tool_search_output',
  'tool_result',
  'function_result',
])

/** The member that holds what a tool gave. */
const outputMember = (type: string): string =>
  type === 'tool_search_output'
    ? 'tools'
    : type === 'tool_result' || type === 'function_result'
      ? 'result'
      : 'output'

const answered = (item: Json, type: string, outcomeOf: (call: string) => Outcome | undefined): Mapped => {
  const id = textIn(item, 'call_id')
  const output = item[outputMember(type)]
  const known = (id === null ? undefined : outcomeOf(id)) ?? outcomeIn(output)
  const content =
    type === 'tool_search_output'
      ? JSON.stringify(output)
      : typeof output === 'string'
        ? output
        : contentIn(output)
  const payload = {
    role: 'tool',
    content: content ?? null,
    ...(id === null ? {} : { toolCallId: id }),
    ...(known?.ok === undefined ? {} : { ok: known.ok }),
    ...(known?.durationMs === undefined ? {} : { timing: { durationMs: known.durationMs } }),
  }
  return { payload, calls: [], results: id === null ? [] : [id] }
}

const contentIn = (output: unknown): unknown => {
  if (Array.isArray(output)) {
    const parts = partsOf(output, 'input_text')
    return typeof parts === 'string' ? [{ type: 'text', text: parts }] : parts
  }
  if (!isObject(output)) return output === undefined || output === null ? null : JSON.stringify(output)
  if (typeof output.type === 'string') return contentIn([output])
  const { content } = output
  return typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? contentIn(content)
      : JSON.stringify(output)
}

/** What older versions put into the output itself. */
const outcomeIn = (output: unknown): Outcome | undefined => {
  if (isObject(output) && typeof output.success === 'boolean') return { ok: output.success }
  const wrapped = typeof output === 'string' && output.startsWith('{"output":') ? parsedJson(output) : output
  const metadata = isObject(wrapped) ? objectIn(wrapped, 'metadata') : {}
  const code = metadata.exit_code
  const seconds = metadata.duration_seconds
  if (typeof code !== 'number') return undefined
  return { ok: code === 0, ...(isFiniteNumber(seconds) ? { durationMs: seconds * 1000 } : {}) }
}

/** The type that a writer gives the item of a payload. */
export const saidType = ({ role, toolCalls, reasoning, replay }: Json): string => {
  if (Array.isArray(replay) && isObject(replay[0])) return textIn(replay[0], 'type') ?? 'reasoning'
  if (role === 'tool') return 'function_call_output'
  return toolCalls !== undefined ? 'function_call' : reasoning !== undefined ? 'reasoning' : 'message'
}

/** The item that a writer makes of a payload, as an item of `type` where that is not the one it would choose. */
export const saidItem = (payload: Json, type = saidType(payload)): Json => {
  const { role, content, replay, reasoning, refusal, toolCallId } = payload
  const said = { type: saidType(payload) }
  if (Array.isArray(replay) && isObject(replay[0])) return replay[0]
  if (role === 'tool') return withoutUndefined({ ...said, call_id: toolCallId, ...saidOutput(content, type) })
  const [call] = (payload.toolCalls ?? []) as readonly ToolCall[]
  if (call !== undefined) return { ...said, ...saidCall(call, type) }
  if (type === 'reasoning') {
    const texts = (Array.isArray(reasoning) ? reasoning : []) as readonly { text: string }[]
    return { ...said, summary: texts.map(({ text }) => ({ type: 'summary_text', text })) }
  }
  const name = role === 'system' ? 'developer' : role
  const blocks = blocksOf(content, textType(name))
  const refused = refusal === undefined ? [] : [{ type: 'refusal', refusal }]
  return { ...said, role: name, content: Array.isArray(blocks) ? [...blocks, ...refused] : blocks }
}

const saidCall = ({ id, name, arguments: given }: ToolCall, type: string): Json => {
  const text = given as string
  const parsed = text === '' ? undefined : parsedJson(text)
  switch (type) {
    case 'custom_tool_call':
      return { call_id: id, name, input: text }
    case 'local_shell_call':
      return { call_id: id, action: parsed }
    case 'tool_search_call':
      return { call_id: id, arguments: parsed }
    case 'tool_call':
      return { function: { name }, arguments: parsed }
  }
  return { call_id: id, name, arguments: text }
}

const saidOutput = (content: unknown, type: string): Json => {
  if (type === 'tool_search_output') return { tools: parsedJson(String(content)) }
  return {
    [outputMember(type)]: Array.isArray(content) ? blocksOf(content, 'input_text') : (content ?? undefined),
  }
}
