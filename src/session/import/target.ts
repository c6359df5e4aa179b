import * as E from 'fp-ts/lib/Either.js'
import { storeValues } from '../../events/blob.js'
import { decodeDraft } from '../../events/draft.js'
import { advancesHead, type Event, type EventId } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import { sha256 } from '../../events/id.js'
import { encodeText, type Line } from '../../events/line.js'
import type { EventLog } from '../../events/log.js'
import { walkBack } from '../../events/walk.js'
import { membersOf, recordOf, stringOf } from '../../projections/members.js'
import { emptyRow, nextRow, type Row } from '../../projections/row.js'
import { type SessionIndexState, sessionIndex } from '../../projections/session-index.js'
import { loadRow } from '../lookup.js'
import type { Home } from '../store/home.js'
import type { Place } from '../store/places.js'
import { type KnownEvent, KnownEvents } from './known-events.js'
import { RecentRows } from './recent-rows.js'

/** An event to write, its parent and time decided. */
export interface Made {
  readonly key: string
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly note: boolean
  readonly payload: Record<string, unknown>
  readonly extra?: unknown
  readonly raw?: string
}

/** In the key of an edit that the importer itself makes, of a record that changed in its source. */
export const editKey = '#edit:'

/** How much is gathered before it is written (bytes). */
const batchBytes = 1024 * 1024

/** Digests of what a payload says, in its stored form and without `origin`: equal ones are the same record. */
const digestsOf = (payload: object): { readonly digest: string; readonly content: string } => {
  const { content, ...rest } = payload as { readonly content?: unknown }
  const said = sha256(typeof content === 'string' ? `"${content}` : (JSON.stringify(content) ?? ''))
  return { digest: sha256(`${said} ${JSON.stringify(rest)}`), content: said }
}

const knownOf = (event: Event): KnownEvent => {
  const { id, parent: _parent, at: _at, type: _type, note: _note, origin: _origin, ...says } = event
  return { id, ...digestsOf(says), isRedacted: event.redacted === true }
}

/**
 * One session that an import writes to: what it holds already, by the keys of its source, and the lines that wait to be
 * written. In a dry run nothing is written.
 */
export class ImportTarget {
  readonly #known = new KnownEvents()
  readonly #rows = new RecentRows()
  readonly #bases = new Map<EventId, EventId>()
  #state: SessionIndexState = sessionIndex.initial
  #waiting: Line[] = []
  #waitingBytes = 0
  #blobs = new Map<string, Buffer>()
  #written: EventId | null = null
  #position: EventId | null = null
  added = 0

  constructor(
    readonly home: Home,
    readonly place: Place,
    readonly format: string,
    readonly isDry: boolean,
  ) {}

  get id(): EventId {
    return this.#state.birth.session ?? ''
  }
  get events(): number {
    return this.#state.events
  }
  /** Where the source's next record would hang: its own last event here. */
  get position(): EventId {
    return this.#position ?? this.id
  }
  /** Whether the head is still where imports left it: nobody went on here. */
  get isAtHead(): boolean {
    return this.#state.head === this.position
  }

  /** Takes in a session that an earlier import made. */
  async load(session: EventId): Promise<void> {
    for await (const batch of this.home.log(this.place.folder).readForward(session)) {
      for (const line of batch) this.#take(eventOf(line, session))
    }
    this.#written = this.#state.tail
  }

  #take(event: Event): void {
    this.#state = sessionIndex.apply(this.#state, event)
    const origin = recordOf(membersOf(event).origin)
    const key = origin?.format === this.format ? stringOf(origin.id) : null
    if (advancesHead(event)) {
      const above = event.parent === null ? undefined : this.#rows.get(event.parent)
      const row = above === undefined ? this.#state.open[event.id]?.row : nextRow(above, event)
      this.#rows.set(event.id, row ?? emptyRow, above)
      if (event.type === 'head' || (event.type === 'edit' && key?.includes(editKey)))
        this.#bases.set(event.id, this.baseOf(event.parent ?? event.id))
      if (key !== null || event.parent === null) this.#position = event.id
    }
    if (key !== null && event.parent !== null) this.#known.set(key, knownOf(event))
  }

  /** The nearest event that stands for a record of the source: no `head` event, no edit of what a record said before. */
  baseOf(id: EventId): EventId {
    return this.#bases.get(id) ?? id
  }

  /** The row after an event; of one that stands far above, from the log. */
  async rowAt(id: EventId): Promise<Row> {
    const row = this.#rows.get(id)
    if (row !== undefined || this.isDry) return row ?? emptyRow
    await this.flush(false)
    return loadRow(eventsAbove(this.home.log(this.place.folder), this.id, id), null)
  }

  /** Whether something can hang there without a `head` event first: it is an open end (docs/FORMAT.md). */
  isOpen(id: EventId): boolean {
    return Object.hasOwn(this.#state.open, id)
  }

  idOf = (key: string): EventId | null => this.#known.idOf(key)

  /** How a record that was imported before compares with what it says now; null where it is new. */
  compare(key: string, payload: object): 'same' | 'changed' | null {
    if (!this.#known.has(key)) return null
    const stored = storeValues(payload)
    const found = this.#known.compare(key, E.isRight(stored) ? digestsOf(stored.right.payload).digest : '')
    return found === 'redacted' ? 'same' : found
  }

  /** Whether a record that changed has another content than what was imported of it. */
  saysOtherwise(key: string, payload: object): boolean {
    const stored = storeValues(payload)
    return E.isLeft(stored) || !this.#known.hasContent(key, digestsOf(stored.right.payload).content)
  }

  /** Makes an event's line and has it wait. Throws InvalidDraft for what no line can hold. */
  add({ key, parent, at, type, note, payload, extra, raw }: Made): EventId {
    const origin = {
      format: this.format,
      id: key,
      ...(extra === undefined ? {} : { extra }),
      ...(raw === undefined ? {} : { raw }),
    }
    const checked = decodeDraft({ type, at, ...payload, origin })
    if (E.isLeft(checked)) throw checked.left
    const stored = storeValues({ ...payload, origin })
    if (E.isLeft(stored)) throw stored.left
    const line = encodeText({ parent, at, type, note }, stored.right.text)
    for (const [name, bytes] of stored.right.blobs) {
      this.#blobs.set(name, bytes)
      this.#waitingBytes += bytes.length
    }
    this.#take({ id: line.id, parent, at, type, ...(note ? { note } : {}), ...stored.right.payload })
    this.#waiting.push(line)
    this.#waitingBytes += line.bytes.length
    this.added++
    return line.id
  }

  get isFull(): boolean {
    return this.#waitingBytes > batchBytes
  }

  /** Writes what waits; `sync` once at the end covers all that was written before. */
  async flush(isLast: boolean): Promise<void> {
    const lines = this.#waiting
    const blobs = this.#blobs
    this.#waiting = []
    this.#blobs = new Map()
    this.#waitingBytes = 0
    if (this.isDry || (lines.length === 0 && !isLast) || this.added === 0) return
    const log = this.home.log(this.place.folder)
    if (this.#written === null) {
      const made = await log.create(lines, this.home.durability, blobs)()
      if (E.isLeft(made)) throw made.left
    } else {
      const stored = await log.blobs.put(this.id, blobs)()
      if (E.isLeft(stored)) throw stored.left
      const appended = await log.append(
        this.id,
        this.#written,
        lines,
        isLast ? this.home.durability : 'none',
      )()
      if (E.isLeft(appended)) throw appended.left
    }
    this.#written = lines[lines.length - 1]?.id ?? this.#written
  }
}

/** From an event up to the root. */
async function* eventsAbove(log: EventLog, session: EventId, leaf: EventId): AsyncGenerator<Event> {
  for await (const { line } of walkBack(log, session, leaf)) yield eventOf(line, session)
}
