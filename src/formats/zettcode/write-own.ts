import { type Event, type EventId, noteTypes } from '../../events/event.js'
import { isObject, type Json, reunite } from '../remainder.js'
import { extraOf, isOwn, originIn } from '../write/own.js'
import { rawLine } from '../write/text.js'
import type { Outgoing } from '../writer.js'
import { saidMessage } from './message.js'
import { saidCheckpoint, saidHeader } from './said.js'
import { recordLine } from './write-line.js'

/** Records of a session that came from ZettCode itself: given back as they were. */

export const format = 'zettcode'

export const keyOf = (event: Event): string => originIn(event, format)?.id ?? ''

/** A checkpoint that the reader told once more, on a branch that leaves above it. */
const isCopy = (event: Event): boolean => event.type === 'compaction' && extraOf(event) === undefined

/** Whether a record of its own stands for it. */
export const isRecord = (event: Event): boolean =>
  isOwn(event, format) &&
  (event.type === 'message' ||
    (event.type === 'compaction' && !isCopy(event)) ||
    (event.type === 'edit' && extraOf(event) !== undefined) ||
    (event.type === 'custom' && String(event.name).startsWith('zettcode:')))

const says = (event: Event): boolean =>
  event.type === 'message' ||
  event.type === 'compaction' ||
  (event.type === 'custom' && event.redacted !== true && event.content !== undefined)

/** What of the source stands as it did: every record with nothing but records above it. */
export interface OwnRecords {
  /** In the order of the file. */
  readonly events: readonly Event[]
  /** The message that an event stands for, or that the nearest one above it does; null above all. */
  readonly messages: ReadonlyMap<EventId, string | null>
  /** The key of every event that came from ZettCode. */
  readonly keys: ReadonlyMap<EventId, string>
}

/** `wanted`: the events of the branch that alone is wanted; null where all are. */
export const ownRecords = (session: Outgoing, wanted: ReadonlySet<EventId> | null): OwnRecords => {
  const events: Event[] = []
  const messages = new Map<EventId, string | null>()
  const copied = new Set(
    session.events.flatMap((event) =>
      isOwn(event, format) && isCopy(event) && wanted?.has(event.id) === true
        ? [keyOf(event).slice(0, keyOf(event).lastIndexOf('@'))]
        : [],
    ),
  )
  for (const event of session.events) {
    const above = event.parent === null ? null : messages.get(event.parent)
    if (above === undefined || noteTypes.has(event.type)) continue
    const isOurs = isOwn(event, format)
    if (!isOurs && says(event)) continue
    const isWanted = wanted?.has(event.id) !== false || copied.has(keyOf(event))
    if (isOurs && isRecord(event) && isWanted) events.push(event)
    if (wanted?.has(event.id) !== false)
      messages.set(event.id, isOurs && event.type === 'message' ? keyOf(event) : above)
  }
  const keys = new Map(
    session.events.flatMap((event) => (isOwn(event, format) ? [[event.id, keyOf(event)]] : [])),
  )
  return { events, messages, keys }
}

/** The number of a checkpoint; the highest on a branch counts. */
export const versionOf = (event: Event): number => {
  const record = event.type === 'custom' ? event.data : extraOf(event)
  return isObject(record) && typeof record.version === 'number' ? record.version : 0
}

/** The record that an event came from; the event is resolved. `parent`: the message above, or the last that it covers. */
export const ownRecord = (event: Event, session: string, parent: string | null): Json => {
  const extra = extraOf(event)
  if (event.type === 'custom') return isObject(event.data) ? event.data : {}
  if (event.type === 'edit') return extra ?? {}
  if (event.type === 'compaction') return reunite(extra, saidCheckpoint(keyOf(event), parent ?? '', event.at))
  const { origin: _origin, ...payload } = event
  return listed(reunite(extra, saidMessage(payload, { key: keyOf(event), session, parent })))
}

/** The envelope of a message stands in a list. */
export const listed = (record: Json): Json =>
  Array.isArray(record.message) ? record : { ...record, message: [record.message] }

/** The line of an event as its file had it. */
export const ownLine = async (
  session: Outgoing,
  event: Event,
  id: string,
  { messages, keys }: OwnRecords,
): Promise<string | Uint8Array> => {
  const resolved = await session.resolve(event)
  const raw = isObject(resolved.origin) ? resolved.origin.raw : undefined
  if (typeof raw === 'string') return rawLine(raw)
  const above =
    event.type === 'compaction' ? keys.get(String(event.through)) : messages.get(event.parent ?? '')
  return recordLine(ownRecord(resolved, id, above ?? null))
}

/**
 * The first record. null where the file had none, and stays as it was. `startedBy`: the session that started this one;
 * null where its own record is to say so.
 */
export const headerOf = (
  root: Event,
  id: string,
  startedBy: string | null,
  isChanged: boolean,
): Json | null => {
  const said = saidHeader(id, root.at)
  const isOurs = isOwn(root, format)
  const record = isOurs ? reunite(extraOf(root), said) : said
  const isMissing = Object.keys(record).length === 0
  if (isMissing && !isChanged) return null
  const header = isMissing ? said : record
  return isOurs || startedBy === null ? header : { ...header, parent_session_id: startedBy }
}
