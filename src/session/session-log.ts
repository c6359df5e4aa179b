import * as E from 'fp-ts/lib/Either.js'
import type { Draft } from '../events/draft.js'
import { LogLostTail, StaleTail } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../events/event.js'
import { eventOf } from '../events/event-of.js'
import type { Line } from '../events/line.js'
import type { Durability, EventLog } from '../events/log.js'
import type { Ports } from '../events/system.js'
import { type SessionIndexState, sessionIndex } from '../projections/session-index.js'
import type { CodeDesk } from './code/code-desk.js'
import type { Command } from './command.js'
import type { SessionState } from './decide.js'
import { type Drafted, Drafting, draft } from './drafting.js'
import { evolve } from './evolve.js'
import { Sight, toAppend } from './sight.js'
import { Stamp } from './stamp.js'
import { isRefusal, onTop, type TailPlace, tailPlace } from './standing.js'

/** A command, and who waits for it. */
export interface Waiting {
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

export interface SessionLogOptions {
  readonly log: EventLog
  readonly ports: Ports
  readonly id: EventId
  readonly state: SessionState
  /** Where the last event that the state holds begins and ends in the log, in bytes. */
  readonly tail: TailPlace
  /** All that the state holds is surely on disk. */
  readonly isDurable: boolean
  readonly code: CodeDesk
  /** Takes secrets out of a command before it is decided. */
  readonly guard?: (command: Command) => Promise<Command>
  /** Keeps the fold, so that the next who opens the session reads on from there. */
  readonly save: (state: SessionState, tail: TailPlace) => void
}

/** How far the log may grow before the fold is saved, so that a killed process costs the next one no more (bytes). */
const saveEvery = 4 * 1024 * 1024

/** A log as one session object appends to it: what it knows of it, and where it stands. One thing at a time. */
export class SessionLog {
  readonly id: EventId
  readonly sight: Sight
  readonly #options: SessionLogOptions
  readonly #log: EventLog
  readonly #stamp: Stamp
  #state: SessionState
  #tail: TailPlace
  #savedEnd: number
  /** Whether all that the state holds is surely on disk: only then is the fold kept (INV-8). */
  #isDurable: boolean
  /** Events of appends of which it is not known what the log holds. */
  readonly #unsettled = new Set<EventId>()
  /** Events of restores that were cut off: whoever ends them may append these, and they are this session's own. */
  readonly #cutOff = new Set<EventId>()

  constructor(options: SessionLogOptions) {
    this.#options = options
    this.id = options.id
    this.#log = options.log
    this.#state = options.state
    this.#tail = options.tail
    this.#savedEnd = options.tail.end
    this.#isDurable = options.isDurable
    this.sight = new Sight(options.log, options.id)
    this.#stamp = new Stamp(options.ports)
  }

  get state(): SessionState {
    return this.#state
  }

  save(): void {
    if (!this.#isDurable) return
    this.#savedEnd = this.#tail.end
    this.#options.save(this.#state, this.#tail)
  }

  /** Decides a batch and appends it; gives what must be decided again, since another writer came first. */
  async attempt(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const before = this.#state
    const { prepared, state } = await this.#prepare(batch)
    if (prepared.length === 0) return []
    const lines = prepared.flatMap(({ drafted }) => drafted.lines)
    const durability = prepared.some(({ waiting }) => waiting.durability === 'sync') ? 'sync' : 'none'
    const written = await this.#append(lines, durability)
    if (written === null) return prepared.map(({ waiting }) => waiting)
    const extra = this.#stand(before, state, written, lines.length)
    for (const [i, { waiting, drafted }] of prepared.entries())
      waiting.resolve(i === 0 ? [...extra, ...drafted.events] : drafted.events)
    return []
  }

  /** Drafts that nobody writes yet. */
  drafting(): Drafting {
    this.sight.clear()
    return new Drafting(this.#state, this.sight, this.#stamp, this.#options.code)
  }

  /** The line of a draft, its blobs on disk. */
  async seal(one: Draft): Promise<Line> {
    const { line, blobs } = this.#stamp.seal(one, this.#state.position, this.#state.index.tailAt)
    await this.#storeBlobs(blobs, 'sync')
    return line
  }

  /**
   * Appends a line that must be there or not, whatever other writers append meanwhile: true once it is on disk, false
   * where it is surely not there. Rejects where nobody can say.
   */
  async put(line: Line): Promise<boolean> {
    this.#cutOff.add(line.id)
    const isThere = await this.#put(line)
    this.#cutOff.delete(line.id)
    return isThere
  }

  async #put(line: Line): Promise<boolean> {
    try {
      for (;;) {
        const before = this.#state
        const written = await this.#append([line], 'sync')
        if (written === null) continue
        this.#stand(before, evolve(before, eventOf(line, this.id)), written, 1)
        return true
      }
    } catch {
      await this.reload()
      if ((await this.sight.kindOf(line.id)) === null) return false
      // It stands there, but what failed may have been its sync (INV-2).
      while ((await this.#append([], 'sync')) === null);
      return true
    }
  }

  /** Gives all that was written; null where another writer came first, and then the log was read anew. */
  async #append(lines: readonly Line[], durability: Durability): Promise<readonly Line[] | null> {
    for (const { id } of lines) this.#unsettled.add(id)
    const tail = this.#state.index.tail ?? this.id
    const appended = await this.#log.append(this.id, tail, lines, durability)()
    if (E.isLeft(appended) && !(appended.left instanceof StaleTail)) throw appended.left
    this.#unsettled.clear()
    if (E.isRight(appended)) {
      this.#isDurable = durability === 'sync'
      return appended.right.lines
    }
    await this.reload()
    // Whoever reads does not see what whoever appends stands on: to decide again would go on for ever.
    if ((this.#state.index.tail ?? this.id) === tail) throw appended.left
    return null
  }

  /**
   * Takes in what an append wrote: the log's own note, where it had to write one, comes before the session's `count` lines.
   * Gives that note.
   */
  #stand(
    before: SessionState,
    after: SessionState,
    written: readonly Line[],
    count: number,
  ): readonly Event[] {
    const extra = written.slice(0, written.length - count).map((line) => eventOf(line, this.id))
    // The log's note came first, so what was folded ahead of it is folded again after it.
    const index =
      extra.length === 0
        ? after.index
        : written.map((line) => eventOf(line, this.id)).reduce(sessionIndex.apply, before.index)
    this.#state = { ...after, index }
    this.#tail = tailPlace(written) ?? this.#tail
    if (this.#tail.end - this.#savedEnd > saveEvery) this.save()
    return extra
  }

  /** Decides each command on the state that the ones before it lead to. What is refused is rejected alone. */
  async #prepare(
    batch: readonly Waiting[],
  ): Promise<{ readonly prepared: readonly Prepared[]; readonly state: SessionState }> {
    this.sight.clear()
    const prepared: Prepared[] = []
    let state = this.#state
    for (const waiting of batch) {
      try {
        const command = (await this.#options.guard?.(waiting.command)) ?? waiting.command
        const drafted = await draft(command, state, this.sight, this.#stamp, this.#options.code)
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

  /** The same, after someone ended this session's restores: these events of theirs are its own. */
  async reloadAfter(own: readonly EventId[]): Promise<void> {
    for (const id of own) this.#unsettled.add(id)
    await this.reload()
  }

  /**
   * Reads what came after the known tail and decides where to stand (docs/FORMAT.md): on the last of its own unsettled events
   * that is there, else on top of notes and context-neutral descendants, else where it stood.
   */
  async reload(): Promise<void> {
    const lines = await this.#newLines()
    if (lines.length > 0) this.#isDurable = false
    const news = lines.map((line) => eventOf(line, this.id))
    const isOwn = ({ id }: Event): boolean => this.#unsettled.has(id) || this.#cutOff.has(id)
    const lastOwn = news.findLast((event) => isOwn(event) && advancesHead(event))
    const stood = lastOwn?.id ?? this.#state.position
    const position = onTop(stood, news.slice(lastOwn === undefined ? 0 : news.indexOf(lastOwn) + 1))
    const isRedacted = news.some(({ type }) => type === 'redaction')
    const index = isRedacted
      ? await this.#refolded(news.at(-1)?.id)
      : news.reduce(sessionIndex.apply, this.#state.index)
    const { branch, code } = this.#state
    const isHere = position === this.#state.position && !isRedacted
    this.#state = { index, position, branch: isHere ? branch : null, code }
    this.#tail = tailPlace(lines) ?? this.#tail
    this.#unsettled.clear()
  }

  /** What was folded before a redaction holds what it took away, and would write it again. */
  async #refolded(tail: EventId | undefined): Promise<SessionIndexState> {
    let index = sessionIndex.initial
    for await (const batch of this.#log.readForward(this.id, toAppend))
      for (const line of batch) {
        index = sessionIndex.apply(index, eventOf(line, this.id))
        if (line.id === tail) return index
      }
    return index
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
