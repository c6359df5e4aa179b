import type { Event, EventId } from '../../events/event.js'
import { isObject, type Json, reunite } from '../remainder.js'
import { extraOf, originIn } from '../write/own.js'
import { jsonLine, rawLine } from '../write/text.js'
import type { Outgoing } from '../writer.js'
import { saidAssistant, saidSummary, saidTitle, saidUser } from './record.js'
import { backupKey } from './side-files.js'

/** Lines of a session that came from Claude Code itself: given back as they were, from events and `extra`. */

/** One line of the source: its events in order. */
export interface OwnLine {
  readonly events: readonly Event[]
  /** null for a line without one. */
  readonly uuid: string | null
  /** The `uuid` above it, as the reader placed it. */
  readonly parentUuid: string | null
}

export interface OwnLines {
  /** In the order of the file. */
  readonly lines: readonly OwnLine[]
  /** The `uuid` of the line that an event stands for, or that the nearest event above it does. */
  readonly uuidAt: (event: EventId | null) => string | null
}

/** The key of a line without a `uuid` is its type and a hash (transcript.ts); what follows is the event's own. */
const unnamed = /^([^#]*#[0-9a-f]{16}(?:#\d+)?)(?:#|$)/
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(#|$)/i

/** The key of the line that an event belongs to, and whether the line has a `uuid`, which then is its key. */
export const lineKey = (id: string): { readonly key: string; readonly hasUuid: boolean } => {
  const found = uuidForm.test(id) ? null : unnamed.exec(id)
  return found === null
    ? { key: id.split('#')[0] as string, hasUuid: true }
    : { key: found[1] as string, hasUuid: false }
}

/** Events that the reader or the importer makes beside a line's own: they have no line themselves. */
const isDerived = (event: Event, id: string): boolean =>
  event.type === 'session' ||
  event.type === 'head' ||
  event.type === 'status' ||
  (event.type === 'title' && id.endsWith('#title')) ||
  (event.type === 'custom' && event.name === 'claude:file-history' && id.includes(backupKey)) ||
  (event.type === 'edit' && !isObject((event.origin as Json).extra))

export const ownLines = (session: Outgoing, format: string): OwnLines => {
  const parents = new Map(session.events.map((event) => [event.id, event.parent]))
  const uuids = new Map<EventId, string>()
  const uuidAt = (event: EventId | null): string | null => {
    let at = event
    for (let steps = 0; at !== null && steps <= parents.size; steps++) {
      const uuid = uuids.get(at)
      if (uuid !== undefined) return uuid
      at = parents.get(at) ?? null
    }
    return null
  }
  const lines: OwnLine[] = []
  for (const { events, key, hasUuid } of gathered(session.events, format)) {
    const [first] = events
    const last = events.at(-1)
    const parentUuid = uuidAt(first?.parent ?? null)
    if (hasUuid && last !== undefined && !isRepeated(last)) uuids.set(last.id, key)
    lines.push({ events, uuid: hasUuid ? key : null, parentUuid })
  }
  return { lines, uuidAt }
}

const isRepeated = ({ type, name }: Event): boolean =>
  type === 'edit' || (type === 'custom' && String(name).startsWith('claude:repeated:'))

interface Gathered {
  readonly key: string
  readonly hasUuid: boolean
  readonly events: Event[]
}

/** Results of one line, and what the user says in it, follow one another. */
const gathered = (events: readonly Event[], format: string): readonly Gathered[] => {
  const found: Gathered[] = []
  for (const event of events) {
    const id = originIn(event, format)?.id
    if (id === undefined || isDerived(event, id)) continue
    const { key, hasUuid } = lineKey(id)
    const last = found.at(-1)
    const isMore =
      last?.key === key && last.events.every(({ type, role }) => type === 'message' && role === 'tool')
    if (isMore && event.type === 'message') last.events.push(event)
    else found.push({ key, hasUuid, events: [event] })
  }
  return found
}

/** The record of a line; `repeated` is what every line of its session repeats. Events are resolved. */
export const ownRecord = (line: OwnLine, events: readonly Event[], repeated: Json): Json => {
  const last = events.at(-1) as Event
  if (isRepeated(last)) return (last.type === 'edit' ? extraOf(last) : (last.data as Json)) ?? {}
  const kept = last.type === 'custom' ? (isObject(last.data) ? last.data : undefined) : extraOf(last)
  const said = saidBy(events, kept)
  return reunite(kept, { ...envelopeOf(line, last, kept, said, repeated), ...said })
}

/** Lines that name no session: their file does. */
const withoutSession = new Set<unknown>(['file-history-snapshot', 'summary'])

/** What the line says of itself beside its own members; chain.ts leaves the same out of `extra`. */
const envelopeOf = (
  { uuid, parentUuid }: OwnLine,
  { at }: Event,
  kept: Json | undefined,
  said: Json,
  repeated: Json,
): Json => {
  if (uuid !== null) return { ...repeated, uuid, parentUuid, timestamp: at }
  if (isObject(said.message) || isObject(kept?.message)) return repeated
  return withoutSession.has(kept?.type ?? said.type) ? {} : { sessionId: repeated.sessionId }
}

/** `extra` holds the type of a line that its event does not say. */
const saidBy = (events: readonly Event[], extra: Json | undefined): Json => {
  const last = events.at(-1) as Event
  if (last.type === 'custom') return { type: typeIn(String(last.name).slice('claude:'.length)) }
  if (last.type === 'compaction') return saidSummary(last.summary)
  if (last.type === 'title')
    return extra?.type === 'summary' ? { type: 'ai-title' } : saidTitle(last.title, last.by === 'import')
  if (extra?.type === 'attachment') return {}
  if (last.role === 'assistant') return saidAssistant(last)
  const results = events.filter(({ role }) => role === 'tool')
  return saidUser(results, last.role === 'user' ? last : null)
}

/** `system:compact_boundary` is a `system` line. */
const typeIn = (kind: string): string => /^(system|attachment):/.exec(kind)?.[1] ?? kind

/** The line as its file had it. */
export const ownText = async (
  session: Outgoing,
  line: OwnLine,
  repeated: Json,
): Promise<string | Uint8Array> => {
  const events = await Promise.all(line.events.map((event) => session.resolve(event)))
  const raw = (events.at(-1)?.origin as Json | undefined)?.raw
  return typeof raw === 'string' ? rawLine(raw) : jsonLine(ownRecord(line, events, repeated))
}
