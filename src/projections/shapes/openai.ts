import type { ContextMessage } from '../context-repair.js'
import { partsOf, type ResolvedPart, textOr, wordsOf } from './parts.js'

type OpenAIPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: 'file'; readonly file: { readonly file_data: string; readonly filename: string } }

interface OpenAICall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A message of the Chat Completions API. */
export type OpenAIMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly OpenAIPart[] }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly refusal?: string
      readonly tool_calls?: readonly OpenAICall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

/**
 * Chat Completions: tool messages right after the call. Only a user's message holds media there; elsewhere it is named
 * in words. Reasoning has no place in this shape.
 */
export const toOpenAI = (messages: readonly ContextMessage[]): readonly OpenAIMessage[] =>
  messages.flatMap(shape)

const shape = (message: ContextMessage): readonly OpenAIMessage[] => {
  switch (message.role) {
    case 'system':
      return nonEmpty({ role: 'system', content: wordsOf(message) })
    case 'user':
      return nonEmpty({ role: 'user', content: userContent(message) })
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.toolCallId ?? '', content: wordsOf(message) }]
    case 'assistant':
      return assistant(message)
  }
}

const nonEmpty = <M extends OpenAIMessage>(message: M): readonly M[] =>
  message.content === null || message.content.length === 0 ? [] : [message]

const userContent = (message: ContextMessage): string | readonly OpenAIPart[] => {
  const parts = partsOf(message)
  const [first] = parts
  return parts.length === 1 && first?.kind === 'text' ? first.text : parts.map(partShape)
}

const partShape = (part: ResolvedPart): OpenAIPart => {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  const { kind, media, data, url } = part
  const source = data === null ? url : `data:${media};base64,${data}`
  if (kind === 'image' && source !== null) return { type: 'image_url', image_url: { url: source } }
  if (kind === 'audio' && data !== null)
    return { type: 'input_audio', input_audio: { data, format: media.replace(/^.*\//, '') } }
  if (kind === 'document' && data !== null)
    return {
      type: 'file',
      file: { file_data: `data:${media};base64,${data}`, filename: part.alt ?? 'document' },
    }
  return { type: 'text', text: `[${kind}: ${part.alt ?? url ?? media}]` }
}

const assistant = (message: ContextMessage): readonly OpenAIMessage[] => {
  const content = wordsOf(message)
  const refusal = textOr(message.refusal, '')
  const calls = (message.toolCalls ?? []).map(
    (call): OpenAICall => ({
      id: call.id,
      type: 'function',
      // Some models give no text at all for no arguments; the API wants an object.
      function: { name: call.name, arguments: textOr(call.arguments, '') || '{}' },
    }),
  )
  if (content === '' && refusal === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(refusal === '' ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}
