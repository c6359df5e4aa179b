import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { Moved, NotFound, StaleTail, WriteFailed } from '../events/errors/index.js'
import type { EventId } from '../events/event.js'
import { sha256 } from '../events/id.js'
import type { Line } from '../events/line.js'
import type { AppendError, Appended, BlobStore, EventLog } from '../events/log.js'

export interface MemoryLogOptions {
  /**
   * Asked before each append: a count makes it fail with WriteFailed once so many of its lines are stored, as a disk that
   * runs full in the middle of a write; undefined lets it be.
   */
  readonly fault?: (session: EventId, lines: readonly Line[]) => number | undefined
}

interface Held {
  readonly lines: Line[]
  readonly blobs: Map<string, Buffer>
  readonly identity: string
  bytes: number
  modified: number
}

/**
 * An event log in memory, which keeps every law of one: for tests of what is built on logs. It is gone with the object;
 * nothing in it can be damaged, so `salvage` and `closeGaps` are of no account.
 */
export const memoryLog = (options: MemoryLogOptions = {}): EventLog => new MemoryLog(options)

const where = 'the log in memory'

class MemoryLog implements EventLog {
  readonly #sessions = new Map<EventId, Held>()
  readonly #watchers = new Set<() => void>()
  #changes = 0

  constructor(readonly options: MemoryLogOptions) {}

  create: EventLog['create'] = (lines, _durability, blobs) => async () => {
    const [root] = lines
    if (root === undefined || root.type !== 'session' || root.parent !== null)
      throw new TypeError('a session begins with its root')
    if (this.#sessions.has(root.id)) return E.left(new StaleTail(root.id, null, root.id))
    const identity = `memory:${++this.#changes}`
    const held: Held = { lines: [], blobs: new Map(blobs), identity, bytes: 0, modified: 0 }
    this.#sessions.set(root.id, held)
    return E.right(this.#add(held, lines))
  }

  append: EventLog['append'] = (session, expectedTail, lines) => async () => {
    const held = this.#sessions.get(session)
    if (held === undefined) return E.left(noSession(session))
    const tail = tailOf(held)
    if (tail !== expectedTail) return E.left(new StaleTail(session, expectedTail, tail))
    const stored = this.options.fault?.(session, lines)
    if (stored === undefined) return E.right(this.#add(held, lines))
    this.#add(held, lines.slice(0, stored))
    return E.left(new WriteFailed(where, new Error('the fault that was asked for')))
  }

  async *readForward(
    session: EventId,
    { from = 0 }: { readonly from?: number } = {},
  ): AsyncGenerator<readonly Line[]> {
    const lines = this.#held(session).lines.filter(({ offset }) => offset >= from)
    if (lines.length > 0) yield lines
  }

  async *readBackward(session: EventId): AsyncGenerator<readonly Line[]> {
    yield this.#held(session).lines.toReversed()
  }

  sessions(): readonly EventId[] {
    return [...this.#sessions.keys()].sort()
  }

  stamp: EventLog['stamp'] = (session) => {
    const held = this.#sessions.get(session)
    if (held === undefined) return null
    const { bytes, identity, modified } = held
    return { bytes, identity, modified }
  }

  async *watch(
    session: EventId,
    { after, signal }: { readonly after?: EventId; readonly signal: AbortSignal },
  ): AsyncGenerator<readonly Line[]> {
    const { lines } = this.#held(session)
    let next = after === undefined ? lines.length : lines.findIndex(({ id }) => id === after) + 1
    if (after !== undefined && next === 0)
      throw new NotFound('event', after, session, 'begin at an event of this session')
    while (!signal.aborted) {
      if (next === lines.length) {
        await this.#change(signal)
        continue
      }
      const news = lines.slice(next)
      next = lines.length
      yield news
    }
  }

  readonly blobs: BlobStore = {
    put: (session, blobs) => this.#put(session, blobs),
    get: async (session, { $blob }) => {
      const bytes = this.#held(session).blobs.get($blob)
      if (bytes === undefined) throw new NotFound('blob', $blob, session, 'it was never put there')
      return Buffer.from(bytes)
    },
    list: (session) => [...(this.#sessions.get(session)?.blobs.keys() ?? [])].sort(),
  }

  close(): void {
    this.#wake()
  }

  #put(session: EventId, blobs: ReadonlyMap<string, Buffer>): TaskEither<AppendError, void> {
    return async () => {
      const held = this.#sessions.get(session)
      if (held === undefined) return E.left(new Moved(`${where}, session ${session}`))
      for (const [name, bytes] of blobs) {
        if (sha256(bytes) !== name) throw new TypeError(`the blob ${name} is not what its name says`)
        held.blobs.set(name, Buffer.from(bytes))
      }
      return E.right(undefined)
    }
  }

  #held(session: EventId): Held {
    const held = this.#sessions.get(session)
    if (held === undefined) throw noSession(session)
    return held
  }

  #add(held: Held, lines: readonly Line[]): Appended {
    const placed = lines.map((line) => {
      const offset = held.bytes
      held.bytes += line.bytes.length + 1
      return { ...line, offset }
    })
    held.lines.push(...placed)
    if (placed.length > 0) held.modified = ++this.#changes
    this.#wake()
    return { lines: placed, tail: tailOf(held) }
  }

  /** Resolves with the next append to any session, or when the signal aborts. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#watchers.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#watchers.add(done)
      signal.addEventListener('abort', done)
    })
  }

  #wake(): void {
    for (const wake of [...this.#watchers]) wake()
  }
}

const tailOf = ({ lines }: Held): EventId => (lines[lines.length - 1] as Line).id

const noSession = (session: EventId): NotFound =>
  new NotFound('session', session, where, 'make it first, with `create`')
