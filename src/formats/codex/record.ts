import { sha256 } from '../../events/id.js'
import { textIn } from '../members.js'
import type { ObjectRecord } from '../records.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** One line of a rollout. */
export interface CodexRecord {
  readonly line: number
  readonly raw: string | undefined
  readonly value: Json
  /** `response_item`, `event_msg`, … */
  readonly type: string
  readonly payload: Json
  /** The line is its payload: what Codex wrote before it had envelopes. */
  readonly isBare: boolean
  /** SHA-256 of the line's text. */
  readonly hash: string
}

/** Types of items that models and tools exchange. */
export const itemTypes: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'function_result',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'tool_call',
  'tool_result',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
  'image_generation_call',
  'compaction',
])

export const codexRecord = ({ line, value, text, raw }: ObjectRecord): CodexRecord => {
  const base = { line, raw, value, hash: sha256(text) }
  const type = textIn(value, 'type')
  if (isObject(value.payload) && type !== null)
    return { ...base, type, payload: value.payload, isBare: false }
  return { ...base, type: bareType(value, type), payload: value, isBare: true }
}

const bareType = (value: Json, type: string | null): string => {
  if ((type !== null && itemTypes.has(type)) || (type === null && typeof value.role === 'string'))
    return 'response_item'
  if (type !== null) return type
  const isMeta = typeof value.id === 'string' && value.timestamp !== undefined
  return isMeta ? 'session_meta' : (textIn(value, 'record_type') ?? 'untyped')
}

/** Whether a value that stands between damaged bytes is a line, not a piece of one. */
export const looksLikeRecord = (value: unknown): boolean =>
  isObject(value) &&
  ((isObject(value.payload) && typeof value.type === 'string' && 'timestamp' in value) ||
    (typeof value.type === 'string' &&
      itemTypes.has(value.type) &&
      ('role' in value || 'call_id' in value || 'summary' in value)))

/** Some tools write seconds since 1970. */
const secondsBelow = 1e11

/** The time of a line; null where it names none. */
export const timeOf = ({ value, payload, type }: CodexRecord): string | null => {
  const given = value.timestamp ?? value.created_at ?? (type === 'session_meta' ? payload.timestamp : null)
  return normalTime(typeof given === 'number' && given < secondsBelow ? Math.round(given * 1000) : given)
}

/** `event_msg:token_count`: how people name a kind of line. */
export const kindOf = ({ type, payload }: CodexRecord): string => {
  const detail = textIn(payload, 'type') ?? (type === 'response_item' ? 'message' : null)
  return detail === null || detail === type ? type : `${type}:${detail}`
}
