import { sha256 } from '../../events/id.js'
import type { JsonRecord } from '../jsonl.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** A file that Claude Code keeps beside a transcript: its text, or its bytes in base64 where they are no UTF-8. */
export type SideFile =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly base64: string }

/** The files that one line names, by their names. */
export type SideFiles = ReadonlyMap<string, SideFile>

/** One line of a transcript, as far as every kind of line shares it. */
export interface ClaudeRecord {
  readonly line: number
  readonly value: Json
  readonly raw: string | undefined
  /** `uuid` of a chained line; null for the others. */
  readonly uuid: string | null
  readonly type: string
  /** SHA-256 of the line's text. */
  readonly hash: string
  /** The files beside the transcript that it names. */
  readonly files?: SideFiles
}

export const textOf = (value: Json, member: string): string | null => {
  const found = value[member]
  return typeof found === 'string' && found !== '' ? found : null
}

export const objectOf = (value: Json, member: string): Json => {
  const found = value[member]
  return isObject(found) ? found : {}
}

export const listOf = (value: Json, member: string): readonly string[] => {
  const found = value[member]
  return Array.isArray(found) ? found.filter((item): item is string => typeof item === 'string') : []
}

export const claudeRecord = ({ line, value, text, raw }: JsonRecord): ClaudeRecord | null =>
  isObject(value)
    ? {
        line,
        value,
        raw,
        uuid: textOf(value, 'uuid'),
        type: textOf(value, 'type') ?? 'untyped',
        hash: sha256(text),
      }
    : null

/** Whether a line is part of the conversation's chain: the first such line begins the session. */
export const isChained = ({ uuid, value }: ClaudeRecord): boolean => uuid !== null || isObject(value.message)

/** Whether a value that stands between damaged bytes is a line, not a piece of one. */
export const looksLikeRecord = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.type === 'string' &&
  ['uuid', 'sessionId', 'leafUuid', 'messageId'].some((member) => typeof value[member] === 'string')

/** What the line says of its time: its own, or that of the snapshot it holds. `none` where it names none. */
export const timeOf = ({ value }: ClaudeRecord): { at: string | null; named: boolean } => {
  const given = value.timestamp ?? objectOf(value, 'snapshot').timestamp
  return { at: normalTime(given), named: given !== undefined && given !== null }
}

/** `user`, `system:compact_boundary`: how people name a kind of line. */
export const kindOf = ({ type, value }: ClaudeRecord): string => {
  const detail =
    type === 'system'
      ? textOf(value, 'subtype')
      : type === 'attachment'
        ? textOf(objectOf(value, 'attachment'), 'type')
        : null
  return detail === null ? type : `${type}:${detail}`
}
