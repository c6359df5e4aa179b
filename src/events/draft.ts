import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { blobRefs } from './blob.js'
import { reasonsOf } from './draft-reasons.js'
import { InvalidDraft } from './errors/invalid-draft.js'
import { type EventId, isEventType, noteTypes, payloads } from './event.js'

/**
 * An event to be: its type and payload, and, where the caller decides them, its time and parent. The store gives the
 * rest. `note` may be left out for the types of format 1.
 */
export interface Draft {
  readonly type: string
  readonly at?: string
  readonly parent?: EventId
  readonly note?: true
  readonly [member: string]: unknown
}

const reserved = ['id', 'body', 'redacted', 'kept'] as const
/** Far longer than any name of a type, and short enough that a line stays small. */
const longestType = 200
const typePattern = /^[a-z][a-z0-9_.-]*$/
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** ISO 8601 UTC in milliseconds, and a day that exists. */
export const isTime = (text: unknown): text is string => {
  if (typeof text !== 'string' || !timePattern.test(text)) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text
}

/** Checks a draft from outside against format 1. Unknown types and members are let through as they are. */
export const decodeDraft = (value: unknown): E.Either<InvalidDraft, Draft> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return E.left(new InvalidDraft(['should be a JSON object']))
  const draft = value as Record<string, unknown>
  const reasons = [...envelopeReasons(draft), ...payloadReasons(draft)]
  if (reasons.length > 0) return E.left(new InvalidDraft(reasons))
  const type = draft.type as string
  return E.right(
    (noteTypes.has(type) && draft.note !== true ? { ...draft, note: true } : draft) as unknown as Draft,
  )
}

const envelopeReasons = (draft: Record<string, unknown>): string[] => {
  const { type, at, parent, note } = draft
  const reasons: string[] = []
  if (typeof type !== 'string' || !typePattern.test(type)) reasons.push('type should match [a-z][a-z0-9_.-]*')
  else if (type.length > longestType) reasons.push(`type should be no longer than ${longestType} characters`)
  else if (type === 'lost') reasons.push('lost is the type of what a repair could not save')
  // Written, it would stop every reader of this version.
  else if (draft.required === true && !isEventType(type))
    reasons.push(`a type that this version does not know (${type}) should not be required`)
  if (at !== undefined && !isTime(at)) reasons.push('at should be a time such as 2026-12-01T09:00:01.000Z')
  // Later events need times of their own after it.
  else if (typeof at === 'string' && at >= '9999') reasons.push('at should be before the year 9999')
  if (parent !== undefined && !(typeof parent === 'string' && /^[0-9a-f]{32}$/.test(parent)))
    reasons.push('parent should be an event id (32 hex)')
  if (note !== undefined && note !== true) reasons.push('note should be true or absent')
  if (note === true && typeof type === 'string' && isEventType(type) && !noteTypes.has(type))
    reasons.push(`a ${type} is no note`)
  for (const member of reserved) if (member in draft) reasons.push(`${member} is reserved`)
  if (typeof draft.toJSON === 'function') reasons.push('should be plain JSON, without toJSON')
  return reasons
}

const payloadReasons = (draft: Record<string, unknown>): string[] => {
  const type = draft.type
  if (typeof type !== 'string' || !isEventType(type)) return []
  const { type: _type, at: _at, parent: _parent, note: _note, ...payload } = draft
  const codec = payloads[type] as t.Mixed
  // Asking is several times cheaper than decoding, which keeps a trail of what it looks at.
  if (codec.is(payload)) return referenceReasons(payload)
  const result = codec.decode(payload)
  return E.isRight(result) ? [] : [...reasonsOf(result.left)]
}

/** Members whose values a caller gives themselves: which of them stand in blobs is the store's to decide. */
const valueMembers = [
  'content',
  'reasoning',
  'refusal',
  'summary',
  'replacement',
  'prompt',
  'toolCalls',
] as const

const referenceReasons = (payload: Record<string, unknown>): string[] =>
  valueMembers
    .filter((member) => blobRefs(payload[member]).length > 0)
    .map((member) => `${member} should hold the value itself, not a reference to a blob`)
