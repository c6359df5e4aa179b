import * as E from 'fp-ts/lib/Either.js'
import { storeValues } from '../../events/blob.js'
import { decodeDraft } from '../../events/draft.js'
import { advancesHead, type Event, type EventId } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import { sha256 } from '../../events/id.js'
import { encodeLine, type Line, parseLine } from '../../events/line.js'
import { membersOf, recordOf, stringOf } from '../../projections/members.js'
import { emptyRow, nextRow, type Row } from '../../projections/row.js'
import { type SessionIndexState, sessionIndex } from '../../projections/session-index.js'
import type { Home } from '../store/home.js'
import type { Place } from '../store/places.js'

/** What is known of an event that an import made: where it is, and what it said. */
interface Known {
  readonly id: EventId
  readonly type: string
  readonly digest: string
  /** Of its content alone. */
  readonly content: string
  /** It was redacted since: nothing that its source says may bring it back. */
  readonly isRedacted: boolean
}

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

/** What a payload says, in its stored form and without `origin`: equal digests are the same record. */
const digestOf = (payload: object): string => sha256(JSON.stringify(payload))
const contentOf = (payload: object): string =>
  digestOf([(payload as { readonly content?: unknown }).content ?? null])

const saysOf = (event: Event): object => {
  const { id: _id, parent: _parent, at: _at, type: _type, note: _note, origin: _origin, ...payload } = event
  return payload
}

const knownOf = (event: Event): Known => {
  const says = saysOf(event)
  return {
    id: event.id,
    type: event.type,
    digest: digestOf(says),
    content: contentOf(says),
    isRedacted: event.redacted === true,
  }
}

/**
 * One session that an import writes to: what it holds already, by the keys of its source, and the lines that wait to be
 * written. In a dry run nothing is written.
 */
export class ImportTarget {
  readonly #known = new Map<string, Known>()
  readonly #rows = new Map<EventId, Row>()
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
      this.#rows.set(event.id, nextRow(above ?? emptyRow, event))
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

  rowAt(id: EventId): Row {
    return this.#rows.get(id) ?? emptyRow
  }

  /** Whether something can hang there without a `head` event first: it is an open end (docs/FORMAT.md). */
  isOpen(id: EventId): boolean {
    return Object.hasOwn(this.#state.open, id)
  }

  idOf = (key: string): EventId | null => this.#known.get(key)?.id ?? null

  /** How a record that was imported before compares with what it says now; null where it is new. */
  compare(key: string, payload: object): 'same' | 'changed' | null {
    const known = this.#known.get(key)
    if (known === undefined) return null
    if (known.isRedacted) return 'same'
    const stored = storeValues(payload)
    return E.isRight(stored) && digestOf(stored.right.payload) === known.digest ? 'same' : 'changed'
  }

  /** Whether a record that changed has another content than what was imported of it. */
  saysOtherwise(key: string, payload: object): boolean {
    const stored = storeValues(payload)
    return E.isLeft(stored) || contentOf(stored.right.payload) !== this.#known.get(key)?.content
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
    const line = encodeLine({ parent, at, type, note }, stored.right.payload)
    for (const [name, bytes] of stored.right.blobs) {
      this.#blobs.set(name, bytes)
      this.#waitingBytes += bytes.length
    }
    const event = parseLine(line)
    if (E.isLeft(event)) throw new Error(event.left)
    this.#take(event.right)
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
