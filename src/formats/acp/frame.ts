import { sha256 } from '../../events/id.js'
import { objectIn, parsedJson, textIn } from '../members.js'
import type { ObjectRecord } from '../records.js'
import { isObject, type Json, remainder } from '../remainder.js'
import { normalTime } from '../time.js'

/** One JSON-RPC message as a recorder wrote it, bare or in an envelope of the recorder's own. */
export interface Frame {
  readonly line: number
  readonly raw: string | undefined
  /** The line. */
  readonly value: Json
  /** The JSON-RPC message in it. */
  readonly message: Json
  /** `session/update`; null for a response. */
  readonly method: string | null
  readonly params: Json
  /** The JSON-RPC id; null for a notification. */
  readonly id: string | null
  /** Who sent it, as the recorder says; null where it does not. */
  readonly direction: string | null
  readonly at: string | null
  readonly hash: string
}

const isMessage = (value: unknown): value is Json =>
  isObject(value) &&
  (typeof value.method === 'string' || ('id' in value && ('result' in value || 'error' in value)))

const envelopes = ['frame', 'message', 'msg', 'data', 'payload', 'rpc', 'raw', 'line'] as const

/** The JSON-RPC message of a line; null where it holds none. */
export const messageIn = (value: unknown): Json | null => {
  if (isMessage(value)) return value
  if (!isObject(value)) return null
  for (const name of envelopes) {
    const inner = value[name]
    const message = typeof inner === 'string' ? parsedJson(inner) : inner
    if (isMessage(message)) return message
  }
  return null
}

const timeOf = (value: Json, params: Json): string | null => {
  const given =
    objectIn(params, '_meta').agentTimestampMs ?? value.timestamp ?? value.time ?? value.at ?? value.ts
  return normalTime(typeof given === 'number' && given < 1e11 ? Math.round(given * 1000) : given)
}

export const frameOf = ({ line, value, text, raw }: ObjectRecord): Frame | null => {
  const message = messageIn(value)
  if (message === null) return null
  const params = objectIn(message, 'params')
  const { id } = message
  return {
    line,
    raw,
    value,
    message,
    method: textIn(message, 'method'),
    params,
    id: typeof id === 'string' || typeof id === 'number' ? `${typeof id}:${id}` : null,
    direction: textIn(value, 'direction') ?? textIn(value, 'dir') ?? textIn(value, 'from'),
    at: timeOf(value, params),
    hash: sha256(text),
  }
}

/** Agents put their own updates under a prefix: `_x.ai/session/update`. */
export const isUpdate = (method: string | null): boolean =>
  method === 'session/update' || method?.endsWith('/session/update') === true

/** A chunk's frame without the text that its message holds, and how long that is. */
export const restOf = (frame: Frame): Json => {
  const text = objectIn(objectIn(frame.params, 'update'), 'content').text
  if (typeof text !== 'string' || frame.message !== frame.value) return frame.value
  const rest = remainder(frame.value, { params: { update: { content: { text } } } }) ?? {}
  return { ...rest, length: text.length }
}
