import * as E from 'fp-ts/lib/Either.js'
import { NotFound } from '../../events/errors/index.js'
import { type Event, type EventId, isEventType } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import { eventId } from '../../events/id.js'
import { bodyOf, encodeLine, encodeTombstone, type Line } from '../../events/line.js'
import { walkBack } from '../../events/walk.js'
import { codeStateOf } from '../../projections/code-state.js'
import { recordOf } from '../../projections/members.js'
import { filesAlong, type LoadBlob } from '../code/code-at.js'
import { done } from '../code/done.js'
import { loadEveryBlob } from './every-blob.js'
import type { Home } from './home.js'
import type { Place } from './places.js'

/** Of the notes on a path only these go along: the others tell of what was going on in the session itself. */
const copiedNotes = new Set(['tool', 'title', 'label', 'request'])

/** What a fork came to, and the types that were copied as they are since this version does not know which ids they hold. */
export interface Forked {
  readonly session: EventId
  readonly unknownTypes: readonly string[]
}

/** A new session that begins with the path to an event: every event minted anew, every id in it mapped (docs/FORMAT.md). */
export const forkSession = async (
  home: Home,
  place: Place,
  id: EventId,
  at: EventId | null,
): Promise<Forked> => {
  const log = home.log(place.folder)
  const source: Line[] = []
  for await (const { line, notes } of walkBack(log, id, at))
    source.push(line, ...notes.filter(({ type }) => copiedNotes.has(type)))
  source.sort((a, b) => a.offset - b.offset)
  const leaf = source.findLast(({ note }) => !note)
  if (leaf === undefined)
    throw new NotFound(
      'event',
      at ?? '@',
      `session ${id}`,
      'name an event that is no note: see `coppice log`',
    )
  const { lines, unknownTypes } = mint(source, leaf.id, home)
  const blobs = new Map<string, Buffer>()
  const seen = new Set<string>()
  for (const line of lines)
    await loadEveryBlob(
      eventOf(line, id),
      async (ref) => {
        const bytes = await log.blobs.get(id, ref)
        blobs.set(ref.$blob, bytes)
        return bytes
      },
      seen,
    )
  const made = await log.create(lines, home.durability, blobs)()
  if (E.isLeft(made)) throw made.left
  const session = (lines[0] as Line).id
  await adoptCode(home, place, session, lines, async (ref) => blobs.get(ref.$blob) ?? Buffer.from('null'))
  return { session, unknownTypes }
}

/** The fork keeps the checkpoints that it stands on, whatever becomes of the session that took them. */
const adoptCode = async (
  home: Home,
  place: Place,
  session: EventId,
  lines: readonly Line[],
  load: LoadBlob,
): Promise<void> => {
  const events = lines.filter(({ note }) => !note).map((line) => eventOf(line, session))
  const told = await filesAlong(events, load)
  if (told.length === 0) return
  await done((await home.code(place)).checkpoints.adopt(session, codeStateOf(told)))
}

const mint = (
  source: readonly Line[],
  leaf: EventId,
  home: Home,
): { readonly lines: readonly Line[]; readonly unknownTypes: readonly string[] } => {
  const ids = new Map<EventId, EventId>()
  const unknownTypes = new Set<string>()
  const lines = source.map((line) => {
    const event = eventOf(line, line.id)
    if (!isEventType(line.type) && line.type !== 'lost') unknownTypes.add(line.type)
    const made = line.parent === null ? mintRoot(event, leaf, home) : mintEvent(line, event, ids)
    ids.set(line.id, made.id)
    return made
  })
  return { lines, unknownTypes: [...unknownTypes] }
}

const mintRoot = (root: Event, leaf: EventId, { ports }: Home): Line => {
  const {
    id,
    parent: _parent,
    at: _at,
    type,
    origin: _origin,
    forkedFrom: _from,
    startedBy: _by,
    ...payload
  } = root
  const at = new Date(ports.clock.now()).toISOString()
  const forked = { ...payload, nonce: ports.random.hex(16), forkedFrom: { session: id, event: leaf } }
  return encodeLine({ parent: null, at, type, note: false }, forked)
}

const mintEvent = (line: Line, event: Event, ids: ReadonlyMap<EventId, EventId>): Line => {
  const { id, parent, at, type, note: _note, body: _body, redacted: _redacted, kept, ...payload } = event
  const envelope = { parent: ids.get(parent ?? '') ?? null, at, type, note: line.note }
  if (line.redacted) {
    const body = bodyOf(line)
    const structure = recordOf(kept)
    return encodeTombstone(
      eventId({ ...envelope, body }),
      envelope,
      body,
      structure === null ? undefined : mapIds(type, structure, ids),
    )
  }
  const origin = payload.origin ?? { format: 'coppice', id }
  return encodeLine(envelope, { ...mapIds(type, payload, ids), origin })
}

type Payload = Readonly<Record<string, unknown>>

/** The members that hold ids, by type. What is not on the path keeps its old id, but for a `head`'s `from`, which goes. */
const mapIds = (type: string, payload: Payload, ids: ReadonlyMap<EventId, EventId>): Payload => {
  const mapped = (value: unknown): unknown => (typeof value === 'string' ? (ids.get(value) ?? value) : value)
  const members = (holder: unknown, ...names: readonly string[]): Payload => {
    const record = recordOf(holder) ?? {}
    return Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, names.includes(name) ? mapped(value) : value]),
    )
  }
  switch (type) {
    case 'compaction': {
      const keep = Array.isArray(payload.keep)
        ? { keep: payload.keep.map((item) => members(item, 'id')) }
        : {}
      return { ...members(payload, 'through'), ...keep }
    }
    case 'head': {
      const { from, row, restore, ...rest } = payload
      return {
        ...members(rest, 'to'),
        ...(typeof from === 'string' && ids.has(from) ? { from: ids.get(from) } : {}),
        ...(row === undefined ? {} : { row: members(row, 'event', 'textEvent', 'toolEvent') }),
        ...(restore === undefined ? {} : { restore: members(restore, 'checkpoint', 'safety') }),
      }
    }
    case 'edit':
    case 'label':
      return members(payload, 'target')
    case 'restore':
      return members(payload, 'checkpoint', 'safety')
    default:
      return payload
  }
}
