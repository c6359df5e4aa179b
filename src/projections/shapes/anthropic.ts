import type { ToolCall } from '../../events/content.js'
import type { ContextMessage } from '../context-repair.js'
import { listOf, type Members, recordOf, stringOf } from '../members.js'
import { inWords, partsOf, type ResolvedPart, textOr, wordsOf } from './parts.js'

type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

type ResultBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'document'; readonly source: Source }

/** A content block of the Messages API. */
export type AnthropicBlock =
  | ResultBlock
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Members }
  | {
      readonly type: 'tool_result'
      readonly tool_use_id: string
      readonly content: readonly ResultBlock[]
      readonly is_error?: true
    }
  | { readonly type: 'thinking' | 'redacted_thinking'; readonly [member: string]: unknown }

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly AnthropicBlock[]
}

export interface AnthropicRequest {
  /** The system messages that the context begins with; '' for none. */
  readonly system: string
  readonly messages: readonly AnthropicMessage[]
}

/**
 * The Messages API: roles alternate and begin with the user, results come first in the message after their call, no
 * text is empty, ids of calls are unique. A system message in the middle stays in its place as text of the user's.
 * Thinking is sent back only where it is signed.
 */
export const toAnthropic = (messages: readonly ContextMessage[]): AnthropicRequest => {
  const start = messages.findIndex(({ role }) => role !== 'system')
  const rest = start < 0 ? [] : messages.slice(start)
  const system = messages.slice(0, start < 0 ? messages.length : start).map(wordsOf)
  return {
    system: system.filter((text) => text !== '').join('\n\n'),
    messages: beginWithUser(merged(turnsOf(rest))),
  }
}

/** The messages one by one, before equal roles are merged. */
const turnsOf = (messages: readonly ContextMessage[]): readonly AnthropicMessage[] => {
  const taken = new Set<string>()
  let open = new Map<string, string>()
  const notes: AnthropicBlock[] = []
  return messages.flatMap((message, at): AnthropicMessage[] => {
    if (message.role === 'assistant') {
      const calls = message.toolCalls ?? []
      open = new Map(calls.map(({ id }) => [id, claim(id, taken)]))
      notes.push(...calls.flatMap(noteOn))
      return [{ role: 'assistant', content: assistantBlocks(message, open) }]
    }
    if (message.role !== 'tool') return [{ role: 'user', content: userBlocks(message) }]
    // After the last result of a batch, so that results stay first.
    const isLast = messages[at + 1]?.role !== 'tool'
    return [{ role: 'user', content: [resultBlock(message, open), ...(isLast ? notes.splice(0) : [])] }]
  })
}

const merged = (turns: readonly AnthropicMessage[]): readonly AnthropicMessage[] => {
  const list: { role: AnthropicMessage['role']; content: AnthropicBlock[] }[] = []
  for (const { role, content } of turns) {
    const last = list.at(-1)
    if (content.length === 0) continue
    if (last?.role === role) last.content.push(...content)
    else list.push({ role, content: [...content] })
  }
  return list
}

const beginWithUser = (messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] =>
  messages[0]?.role === 'assistant'
    ? [{ role: 'user', content: [{ type: 'text', text: '[The conversation begins here.]' }] }, ...messages]
    : messages

/** An id that the API accepts and that no call before had: ids of other providers may hold anything, and come again. */
const claim = (id: string, taken: Set<string>): string => {
  const clean = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 120) || 'call'
  let name = clean
  for (let n = 2; taken.has(name); n++) name = `${clean}_${n}`
  taken.add(name)
  return name
}

const userBlocks = (message: ContextMessage): readonly AnthropicBlock[] => {
  if (message.role === 'system') return textBlocks(wordsOf(message))
  return partsOf(message).map(blockOf)
}

const textBlocks = (text: string): readonly ResultBlock[] =>
  text.trim() === '' ? [] : [{ type: 'text', text }]

const blockOf = (part: ResolvedPart): ResultBlock => {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  const { kind, media, data, url } = part
  if (kind === 'audio' || (data === null && url === null)) return { type: 'text', text: inWords(part) }
  return {
    type: kind,
    source: data === null ? { type: 'url', url: url ?? '' } : { type: 'base64', media_type: media, data },
  }
}

const assistantBlocks = (
  message: ContextMessage,
  ids: ReadonlyMap<string, string>,
): readonly AnthropicBlock[] => {
  const said = [
    ...textBlocks(partsOf(message).map(inWords).join('\n')),
    ...textBlocks(textOr(message.refusal, '')),
  ]
  const calls = (message.toolCalls ?? []).map(
    (call): AnthropicBlock => ({
      type: 'tool_use',
      id: ids.get(call.id) ?? call.id,
      name: call.name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 128) || 'tool',
      input: inputOf(call) ?? {},
    }),
  )
  return said.length + calls.length === 0 ? [] : [...thinkingBlocks(message), ...said, ...calls]
}

/** Signed thinking: the provider's own blocks where they were kept, else what the reasoning says with its signature. */
const thinkingBlocks = ({ replay, reasoning }: ContextMessage): readonly AnthropicBlock[] => {
  const kept = listOf(replay).flatMap((item) => {
    const block = recordOf(item)
    const type = block?.type
    return block !== null && (type === 'thinking' || type === 'redacted_thinking')
      ? [{ ...block, type } as const]
      : []
  })
  if (kept.length > 0) return kept
  return listOf(reasoning).flatMap((item) => {
    const thought = recordOf(item)
    const [thinking, signature] = [stringOf(thought?.text), stringOf(thought?.signature)]
    return thinking === null || signature === null ? [] : [{ type: 'thinking' as const, thinking, signature }]
  })
}

/** The arguments as an object; null where they are none. No text at all means no arguments. */
const inputOf = (call: ToolCall): Members | null => {
  const text = textOr(call.arguments, '')
  if (text.trim() === '') return {}
  try {
    return recordOf(JSON.parse(text))
  } catch {
    return null
  }
}

const noteOn = (call: ToolCall): readonly AnthropicBlock[] =>
  inputOf(call) === null
    ? textBlocks(
        `Note: the arguments of the call of ${call.name || 'a tool'} were no JSON object: ${textOr(call.arguments, '')}`,
      )
    : []

const resultBlock = (message: ContextMessage, ids: ReadonlyMap<string, string>): AnthropicBlock => {
  const call = message.toolCallId ?? ''
  const content = partsOf(message).map(blockOf)
  return {
    type: 'tool_result',
    tool_use_id: ids.get(call) ?? call,
    content: content.length === 0 ? [{ type: 'text', text: '(no output)' }] : content,
    ...(message.ok === false ? { is_error: true as const } : {}),
  }
}
