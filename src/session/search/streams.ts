import type { Candidate } from './database.js'
import { docsAt, type Found, foundIn, inOrder, lineChunk, type Question, scan } from './hits.js'
import type { Source } from './sources.js'

/** One session's hits, newest first, found as far as they are asked for. */
export interface Stream {
  readonly source: Source
  /** No hit that is still to come is newer. */
  readonly newest: string
  /** Whether the next hit is at hand: then `newest` is its time. */
  readonly isReady: boolean
  readonly isOver: boolean
  /** Goes on with finding. */
  find(): Promise<void>
  take(): Found
}

/** Later than any time of an event: what may hold anything is looked at first. */
export const anyTime = '~'

/** How many candidates are looked at together, and what each costs at most: where all of them do, the log is read whole (bytes). */
const together = 16
const bytesEach = 2 * lineChunk

/** By reading the log, once. */
export class ScanStream implements Stream {
  #found: readonly Found[] | null = null
  #next = 0

  constructor(
    readonly source: Source,
    readonly question: Question,
    readonly atMost: string,
  ) {}

  get newest(): string {
    return this.#found === null ? this.atMost : (this.#found[this.#next]?.hit.at ?? '')
  }
  get isReady(): boolean {
    return this.#found !== null && this.#next < this.#found.length
  }
  get isOver(): boolean {
    return this.#found !== null && this.#next >= this.#found.length
  }
  async find(): Promise<void> {
    this.#found ??= await scan(this.source, this.question)
  }
  take(): Found {
    return this.#found?.[this.#next++] as Found
  }
  /** Events that were given already. */
  leaveOut(events: ReadonlySet<string>): void {
    this.#found = this.#found?.filter(({ hit }) => !events.has(hit.event)) ?? null
  }
}

/** By looking at the events that the index names; by reading the log where the index proves wrong, or names too many. */
export class CandidateStream implements Stream {
  readonly #left: Candidate[]
  #found: Found[] = []
  readonly #seen = new Set<string>()
  #whole: ScanStream | null = null

  constructor(
    readonly source: Source,
    readonly question: Question,
    candidates: readonly Candidate[],
  ) {
    // The next one last.
    this.#left = [...candidates].sort((a, b) => a.at - b.at || a.offset - b.offset)
    if (candidates.length * bytesEach > source.stamp.bytes)
      this.#whole = new ScanStream(source, question, this.newest)
  }

  get newest(): string {
    if (this.#whole !== null) return this.#whole.newest
    const next = this.#left[this.#left.length - 1]
    return this.#found[0]?.hit.at ?? (next === undefined ? '' : new Date(next.at).toISOString())
  }
  get isReady(): boolean {
    return this.#whole?.isReady ?? this.#found.length > 0
  }
  get isOver(): boolean {
    return this.#whole?.isOver ?? (this.#found.length === 0 && this.#left.length === 0)
  }
  take(): Found {
    const found = this.#whole?.take() ?? (this.#found.shift() as Found)
    this.#seen.add(found.hit.event)
    return found
  }

  async find(): Promise<void> {
    if (this.#whole !== null) return this.#whole.find()
    const some = this.#left.splice(-together)
    const docs = await docsAt(
      this.source,
      some.map(({ offset }) => offset).sort((a, b) => a - b),
    )
    const times = new Map(some.map(({ offset, at }) => [offset, at]))
    const isTrue = docs?.every(({ offset, at }) => times.get(offset) === Date.parse(at)) === true
    if (!isTrue) return this.#readWhole()
    const found = docs.flatMap((doc) => foundIn(this.source, doc, this.question) ?? [])
    this.#found = inOrder(found).filter(({ hit }) => !this.#seen.has(hit.event))
  }

  /** What was given already is not given again. */
  async #readWhole(): Promise<void> {
    const seen = this.#seen
    const { source, question } = this
    this.#whole = new ScanStream(source, question, anyTime)
    await this.#whole.find()
    this.#whole.leaveOut(seen)
  }
}
