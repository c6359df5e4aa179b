import * as E from 'fp-ts/lib/Either.js'
import { InvalidDraft, LogLostTail, NotFound, Refused, StaleTail } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../events/event.js'
import { eventOf } from '../events/event-of.js'
import type { Line } from '../events/line.js'
import type { Durability, EventLog } from '../events/log.js'
import type { Ports } from '../events/system.js'
import { sessionIndex } from '../projections/session-index.js'
import { nodeOf } from './branch.js'
import type { Command } from './command.js'
import type { SessionState } from './decide.js'
import { type Drafted, draft } from './drafting.js'
import { Sight, toAppend } from './sight.js'
import { Stamp } from './stamp.js'
import type { Presence } from './store/presence.js'

/** Someone who waits for a read of the log. */
interface Asking {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Waiting {
  readonly command: Command
  readonly durability: Durability
  readonly resolve: (events: readonly Event[]) => void
  readonly reject: (error: unknown) => void
}

/** A command's lines, ready to append. */
interface Prepared {
  readonly waiting: Waiting
  readonly drafted: Drafted
}

export interface OpenSessionOptions {
  readonly log: EventLog
  readonly ports: Ports
  readonly id: EventId
  /** Of appends that do not say. */
  readonly durability: Durability
  readonly state: SessionState
  /** Where the last event that the state holds begins and ends in the log, in bytes. */
  readonly tail: TailPlace
  readonly others: readonly Presence[]
  /** Keeps the fold, so that the next who opens the session reads on from there. */
  readonly save: (state: SessionState, tail: TailPlace) => void
  readonly release: () => void
}

export interface TailPlace {
  readonly from: number
  readonly end: number
}

/** How far the log may grow before the fold is saved, so that a killed process costs the next one no more (bytes). */
const saveEvery = 4 * 1024 * 1024

/**
 * The thin shell round `decide` and `evolve`: it runs commands one batch after the other against the log. Commands that
 * arrive while an append is under way share the next one (group commit).
 */
export class OpenSession {
  readonly id: EventId
  readonly others: readonly Presence[]
  readonly #options: OpenSessionOptions
  readonly #log: EventLog
  readonly #sight: Sight
  readonly #stamp: Stamp
  #state: SessionState
  #tail: TailPlace
  #savedEnd: number
  #queue: Waiting[] = []
  #refreshes: Asking[] = []
  #isBusy = false
  #isClosed = false
  /** After a rejected append nothing is done before the log was read again (docs/FORMAT.md). */
  #mustReload = false
  /** Events of appends of which it is not known what the log holds. */
  readonly #unsettled = new Set<EventId>()

  constructor(options: OpenSessionOptions) {
    this.#options = options
    this.id = options.id
    this.others = options.others
    this.#log = options.log
    this.#state = options.state
    this.#tail = options.tail
    this.#savedEnd = options.tail.end
    this.#sight = new Sight(options.log, options.id)
    this.#stamp = new Stamp(options.ports)
  }

  get state(): SessionState {
    return this.#state
  }

  run(command: Command, durability: Durability = this.#options.durability): Promise<readonly Event[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed(this.id))
      this.#queue.push({ command, durability, resolve, reject })
      this.#wake()
    })
  }

  /** Reads what others appended since, once what is under way is done. */
  refresh(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed(this.id))
      this.#refreshes.push({ resolve, reject })
      this.#wake()
    })
  }

  /** Lets go once what was asked before is done; whatever is asked after it is refused. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isBusy) this.#letGo()
  }

  #letGo(): void {
    this.#save()
    this.#options.release()
  }

  #save(): void {
    this.#savedEnd = this.#tail.end
    this.#options.save(this.#state, this.#tail)
  }

  #wake(): void {
    if (!this.#isBusy) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length + this.#refreshes.length > 0) {
      if (this.#refreshes.length > 0) await this.#refresh(this.#refreshes.splice(0))
      if (this.#queue.length > 0) await this.#runBatch(this.#queue.splice(0))
    }
    this.#isBusy = false
    if (this.#isClosed) this.#letGo()
  }

  async #refresh(asked: readonly Asking[]): Promise<void> {
    try {
      await this.#reload()
      for (const { resolve } of asked) resolve()
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      if (this.#mustReload) await this.#reload()
      for (let waiting = batch; waiting.length > 0; ) waiting = await this.#attempt(waiting)
    } catch (error) {
      // Whoever waits behind a rejected append decides again, on what the log then holds (docs/FORMAT.md).
      const all = [...batch, ...this.#queue.splice(0)]
      this.#mustReload = true
      await this.#reload().catch(() => {})
      for (const { reject } of all) reject(error)
    }
  }

  /** Decides a batch and appends it; gives what must be decided again, since another writer came first. */
  async #attempt(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const before = this.#state
    const { prepared, state } = await this.#prepare(batch)
    if (prepared.length === 0) return []
    const lines = prepared.flatMap(({ drafted }) => drafted.lines)
    const durability = prepared.some(({ waiting }) => waiting.durability === 'sync') ? 'sync' : 'none'
    for (const { id } of lines) this.#unsettled.add(id)
    const appended = await this.#log.append(this.id, before.index.tail ?? this.id, lines, durability)()
    if (E.isLeft(appended)) {
      if (!(appended.left instanceof StaleTail)) throw appended.left
      this.#unsettled.clear()
      await this.#reload()
      return prepared.map(({ waiting }) => waiting)
    }
    this.#unsettled.clear()
    this.#stand(before, state, appended.right.lines, lines.length, prepared)
    return []
  }

  /** Takes in what an append wrote: the log's own note, where it had to write one, comes before the session's lines. */
  #stand(
    before: SessionState,
    after: SessionState,
    written: readonly Line[],
    count: number,
    prepared: readonly Prepared[],
  ): void {
    const extra = written.slice(0, written.length - count).map((line) => eventOf(line, this.id))
    // The log's note came first, so what was folded ahead of it is folded again after it.
    const index =
      extra.length === 0
        ? after.index
        : written.map((line) => eventOf(line, this.id)).reduce(sessionIndex.apply, before.index)
    this.#state = { ...after, index }
    this.#tail = tailPlace(written) ?? this.#tail
    if (this.#tail.end - this.#savedEnd > saveEvery) this.#save()
    for (const [i, { waiting, drafted }] of prepared.entries())
      waiting.resolve(i === 0 ? [...extra, ...drafted.events] : drafted.events)
  }

  /** Decides each command on the state that the ones before it lead to. What is refused is rejected alone. */
  async #prepare(
    batch: readonly Waiting[],
  ): Promise<{ readonly prepared: readonly Prepared[]; readonly state: SessionState }> {
    this.#sight.clear()
    const prepared: Prepared[] = []
    let state = this.#state
    for (const waiting of batch) {
      try {
        const drafted = await draft(waiting.command, state, this.#sight, this.#stamp)
        await this.#storeBlobs(drafted.blobs, waiting.durability)
        prepared.push({ waiting, drafted })
        state = drafted.state
      } catch (error) {
        if (!isRefusal(error)) throw error
        waiting.reject(error)
      }
    }
    return { prepared, state }
  }

  async #storeBlobs(blobs: ReadonlyMap<string, Buffer>, durability: Durability): Promise<void> {
    if (blobs.size === 0) return
    const stored = await this.#log.blobs.put(this.id, blobs, durability)()
    if (E.isLeft(stored)) throw stored.left
  }

  /**
   * Reads what came after the known tail and decides where to stand (docs/FORMAT.md): on the last of its own unsettled events
   * that is there, else on top of notes and context-neutral descendants, else where it stood.
   */
  async #reload(): Promise<void> {
    const lines = await this.#newLines()
    const news = lines.map((line) => eventOf(line, this.id))
    const lastOwn = news.findLast((event) => this.#unsettled.has(event.id) && advancesHead(event))
    const stood = lastOwn?.id ?? this.#state.position
    const position = onTop(stood, news.slice(lastOwn === undefined ? 0 : news.indexOf(lastOwn) + 1))
    const index = news.reduce(sessionIndex.apply, this.#state.index)
    this.#state = { index, position, branch: position === this.#state.position ? this.#state.branch : null }
    this.#tail = tailPlace(lines) ?? this.#tail
    this.#unsettled.clear()
    this.#mustReload = false
  }

  async #newLines(): Promise<Line[]> {
    const tail = this.#state.index.tail ?? this.id
    const news: Line[] = []
    for await (const batch of this.#log.readBackward(this.id, toAppend)) {
      for (const line of batch) {
        if (line.id === tail) return news.reverse()
        news.push(line)
      }
    }
    throw new LogLostTail(this.id, tail)
  }
}

const closed = (id: EventId): Refused =>
  new Refused('the session is closed', `session ${id}`, 'open it again')

const tailPlace = (lines: readonly Line[]): TailPlace | null => {
  const last = lines[lines.length - 1]
  return last === undefined ? null : { from: last.offset, end: last.offset + last.bytes.length + 1 }
}

/** What is wrong with one command and says nothing of the log: those around it go on. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Refused ||
  error instanceof InvalidDraft ||
  (error instanceof NotFound && error.kind === 'event')

/** The last of what came, where all of it is notes and context-neutral events one under the other; else where it stood. */
const onTop = (stood: EventId, news: readonly Event[]): EventId => {
  let position = stood
  for (const event of news) {
    if (!advancesHead(event)) continue
    if (event.parent !== position || !nodeOf(event).isNeutral) return stood
    position = event.id
  }
  return position
}
