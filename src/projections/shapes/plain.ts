import type { ContextMessage } from '../context-repair.js'
import { textOr, wordsOf } from './parts.js'

/** A message of the context as text, for people and for programs that speak to no provider. */
export interface PlainMessage {
  readonly role: ContextMessage['role']
  readonly content: string
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly toolCallId?: string
  readonly ok?: boolean
  readonly refusal?: string
  readonly synthetic?: 'not started' | 'outcome unknown'
}

export const toPlain = (messages: readonly ContextMessage[]): readonly PlainMessage[] =>
  messages.map((message) => {
    const { role, toolCallId, ok, synthetic } = message
    const calls = (message.toolCalls ?? []).map((call) => ({
      ...call,
      arguments: textOr(call.arguments, ''),
    }))
    const refusal = textOr(message.refusal, '')
    return {
      role,
      content: wordsOf(message),
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(ok === undefined ? {} : { ok }),
      ...(refusal === '' ? {} : { refusal }),
      ...(synthetic === undefined ? {} : { synthetic }),
    }
  })
