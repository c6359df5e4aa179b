import { type Event, type EventId, noteTypes } from '../../events/event.js'
import { isObject, type Json, reunite } from '../remainder.js'
import type { HexIds } from '../write/ids.js'
import { extraOf, isOwn, originIn } from '../write/own.js'
import { jsonLine, rawLine } from '../write/text.js'
import type { Outgoing } from '../writer.js'
import { isOwnId, saidEnvelope } from './entry.js'
import { recordOf } from './record.js'
import { type EntryId, format, type PiFile } from './write-file.js'

/** Entries of a session that came from Pi itself: given back as they were. */

/** Events that the reader or the importer makes beside an entry's own. */
export const isDerived = (event: Event): boolean =>
  event.type === 'session' ||
  event.type === 'head' ||
  event.type === 'status' ||
  (event.type === 'edit' && originIn(event, format)?.id.includes('#edit:') === true)

const says = (event: Event): boolean =>
  event.type === 'message' ||
  event.type === 'compaction' ||
  (event.type === 'custom' && event.redacted !== true && event.content !== undefined)

export interface OwnEntries {
  /** Notes included, in the order of the file. */
  readonly events: readonly Event[]
  readonly own: ReadonlyMap<EventId, EntryId>
}

/**
 * What of the source stands as it did: every entry with nothing but entries above it. Events that say nothing to the
 * model do not part them. `wanted`: the events of the branch that alone is wanted; null where all are.
 */
export const ownEntries = (
  session: Outgoing,
  wanted: ReadonlySet<EventId> | null,
  ids: HexIds | null,
): OwnEntries => {
  const events: Event[] = []
  const own = new Map<EventId, EntryId>()
  for (const event of session.events) {
    if (event.parent === null) {
      own.set(event.id, null)
      continue
    }
    const above = own.get(event.parent)
    if (above === undefined) continue
    const isEntry = isOwn(event, format) && !isDerived(event)
    if (noteTypes.has(event.type)) {
      if (isEntry) events.push(event)
    } else if (isEntry && wanted?.has(event.id) !== false) {
      events.push(event)
      own.set(event.id, isRepeated(event) ? above : idOf(event, ids))
    } else if (!isEntry && !says(event)) own.set(event.id, above)
  }
  return { events, own }
}

/** The id of an entry; where it has none, one of `ids`. */
export const idOf = (event: Event, ids: HexIds | null): EntryId => {
  const key = keyOf(event)
  return isOwnId(key) ? key : (ids?.take(event.id) ?? null)
}

const keyOf = (event: Event): string => originIn(event, format)?.id ?? '#'

/** An entry whose id stood before: it has no place of its own. */
export const isRepeated = (event: Event): boolean =>
  !isOwnId(keyOf(event)) &&
  (event.type === 'edit' || (event.type === 'custom' && String(event.name).startsWith('pi:repeated:')))

/** Where an entry stands, and how to name the entries of other events. */
export interface Place {
  readonly id: EntryId
  readonly parent: EntryId
  readonly keyOf: (event: unknown) => unknown
}

/** The entry of an event, which is resolved, at another place than its own. */
export const movedRecord = (event: Event, place: Place): Json => {
  const { origin: _origin, ...payload } = event
  const extra = event.type === 'custom' ? event.data : extraOf(event)
  const from = {
    type: event.type,
    payload: event.type === 'custom' ? { ...payload, data: withoutPlace(extra) } : payload,
    extra: withoutPlace(extra),
    at: event.at,
    isRepeated: false,
  }
  return recordOf(from, envelopeAt(place, event.at), place.keyOf)
}

const envelopeAt = ({ id, parent }: Place, at: string): Json => ({ id, parentId: parent, timestamp: at })

/** `extra` of an entry without where it stood, and without marks of members that it lacked there. */
const withoutPlace = (extra: unknown): Json | undefined => {
  if (!isObject(extra)) return undefined
  const { id: _id, parentId: _parent, '-': missing, ...rest } = extra
  const left = Array.isArray(missing) ? missing.filter((name) => !place.has(name)) : []
  return left.length === 0 ? rest : { ...rest, '-': left }
}
const place = new Set<unknown>(['id', 'parentId'])

/** The line of an event as its file had it. `ids` names entries that had no id. */
export const ownLine = async (file: PiFile, event: Event): Promise<string | Uint8Array> => {
  const { session, own, isUpgraded } = file
  const resolved = await session.resolve(event)
  const raw = isObject(resolved.origin) ? resolved.origin.raw : undefined
  const key = keyOf(event)
  const lacksId = isUpgraded && !isRepeated(event)
  if (typeof raw === 'string' && (isOwnId(key) || !lacksId)) return rawLine(raw)
  const parent = own.get(event.parent ?? '') ?? null
  const named = (target: unknown): unknown => own.get(String(target)) ?? file.entries.get(String(target))
  if (lacksId && !isOwnId(key)) {
    const id = own.get(event.id) ?? file.ids.take(event.id)
    return jsonLine(upgraded(movedRecord(resolved, { id, parent, keyOf: named }), event, file))
  }
  const { origin: _origin, ...payload } = resolved
  const from = {
    type: event.type,
    payload,
    extra: extraOf(resolved),
    at: event.at,
    isRepeated: isRepeated(event),
  }
  return jsonLine(recordOf(from, saidEnvelope(key, parent, event.at), named))
}

/** What version 1 says otherwise: where a compaction cut, and what a hook said. */
const upgraded = (record: Json, event: Event, { session, own }: PiFile): Json => {
  const { firstKeptEntryIndex: index, ...rest } = record
  if (index === undefined) return isObject(rest.message) ? { ...rest, message: renamed(rest.message) } : rest
  const first = session.events.find(
    ({ id, parent, note }) => parent === event.through && note !== true && own.has(id),
  )
  return { ...rest, firstKeptEntryId: own.get(first?.id ?? '') ?? record.id }
}

const renamed = (message: Json): Json =>
  message.role === 'hookMessage' ? { ...message, role: 'custom' } : message

/** The header that the file had, or one of version 3. */
export const headerLine = async (file: PiFile, root: Event, id: string): Promise<string> => {
  const { session, isUpgraded } = file
  const resolved = await session.resolve(root)
  const isFromPi = isOwn(root, format)
  const said = { type: 'session', id, timestamp: root.at, cwd: isFromPi ? root.cwd : session.workspace }
  if (!isFromPi)
    return jsonLine({ type: 'session', version: 3, id, timestamp: said.timestamp, cwd: said.cwd })
  const header = reunite(extraOf(resolved), said)
  const isOld = typeof header.version !== 'number' || header.version < 2
  return jsonLine(isUpgraded && isOld ? { ...header, version: 3 } : header)
}
