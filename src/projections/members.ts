import { type BlobRef, isBlobRef, type Text, type ToolCall } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'

/** The members of an event's payload, whose values may be any JSON: folds look before they reach. */
export type Members = Readonly<Record<string, unknown>>

const nothing: Members = {}

/** What a fold may read of an event: its members, or, once it is redacted, the bare structure that was kept. */
export const membersOf = (event: Event): Members =>
  event.redacted === true ? (recordOf(event.kept) ?? nothing) : event

export const recordOf = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const stringOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** A finite number, -0 as 0: what JSON gives back as it was. */
export const numberOf = (value: unknown): number | null =>
  Number.isFinite(value) ? (value as number) + 0 : null

/** A member of a record that stands in it itself: `__proto__` and `constructor` are names like any other. */
export const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** The record without one key; the same record where it has none. */
export const without = <T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> =>
  Object.hasOwn(record, key)
    ? Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))
    : record

/** Text as it stands in a line: a string or the blob that holds it, with no member that a blob does not have. */
export const textMember = (value: unknown): Text | null => {
  if (typeof value === 'string') return value
  if (!isBlobRef(value)) return null
  const { $blob, bytes, as, media }: Record<keyof BlobRef, unknown> = { media: undefined, ...value }
  return {
    $blob: $blob as string,
    bytes: numberOf(bytes) ?? 0,
    as: as === 'json' || as === 'base64' ? as : 'text',
    ...(typeof media === 'string' ? { media } : {}),
  }
}

/** The calls of a message that have an id, each id once; a call whose arguments are gone has none (''). */
export const callsOf = (message: Members): readonly ToolCall[] => {
  const seen = new Set<string>()
  return listOf(message.toolCalls).flatMap((item) => {
    const call = recordOf(item)
    const id = stringOf(call?.id)
    if (call === null || id === null || seen.has(id)) return []
    seen.add(id)
    return [{ id, name: stringOf(call.name) ?? '', arguments: textMember(call.arguments) ?? '' }]
  })
}

/** Whether an event is a message that a person sees as part of the conversation itself (no aside). */
export const isPrompt = (event: Event, members: Members): boolean =>
  event.type === 'message' && members.role === 'user' && members.visible !== false && members.aside !== true

/** A reference to a point of another session. */
export interface SessionPoint {
  readonly session: EventId
  readonly event: EventId | null
}

export const sessionPointOf = (value: unknown): SessionPoint | null => {
  const point = recordOf(value)
  const session = stringOf(point?.session)
  return session === null ? null : { session, event: stringOf(point?.event) }
}
