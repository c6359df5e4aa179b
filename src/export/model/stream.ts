import { isBlobRef } from '../../events/content.js'
import type { Event, EventId } from '../../events/event.js'
import { membersOf } from '../../projections/members.js'
import type { FileChange, ReportSource } from '../source.js'
import { visible } from '../visible.js'
import type { Entry } from './entry.js'
import type { Outline } from './outline.js'
import { Repeats } from './repeats.js'
import { Step } from './step.js'
import type { Turn } from './turns.js'

export type Item =
  | { readonly kind: 'turn'; readonly segment: number; readonly turn: Turn }
  | { readonly kind: 'entry'; readonly segment: number; readonly entry: Entry }
  | {
      readonly kind: 'changes'
      readonly segment: number
      readonly turn: Turn
      readonly files: readonly FileChange[]
    }
  /** A branch leaves here. */
  | { readonly kind: 'fork'; readonly segment: number }
  | { readonly kind: 'end'; readonly segment: number }

/** How many events are resolved and redacted at once: their texts are in memory together. */
const together = 32
/** A line of the context's list. */
const longestExcerpt = 96

/**
 * The texts of a report, in log order, a step at a time: passes over the log that hold little more than they give. One
 * object serves all passes of one report, so that a repeated text is known whichever pass showed it.
 */
export class Reading {
  readonly #repeats = new Repeats()
  /** The first words of each event that the context holds. */
  readonly excerpts = new Map<EventId, string>()
  /** For each event that a branch left from: the last entry that was given up to it. */
  readonly cuts = new Map<EventId, EventId>()
  readonly #wanted: ReadonlySet<EventId>
  readonly #forks: ReadonlySet<EventId>

  constructor(
    private readonly source: ReportSource,
    private readonly outline: Outline,
  ) {
    this.#wanted = new Set([...outline.context.flatMap(({ ids }) => ids), ...outline.editedBy.values()])
    this.#forks = new Set(outline.segments.list.flatMap(({ from }) => from ?? []))
  }

  async *items(isWanted: (segment: number) => boolean): AsyncGenerator<Item> {
    const open = new Map<number, Open>()
    const given = new Set<EventId>()
    const left = this.#countsFor(isWanted)
    for await (const batch of this.source.events()) {
      const events = batch.filter(({ id }) => !given.has(id) && this.#segment(id, isWanted) !== null)
      for (const { id } of events) given.add(id)
      for (let at = 0; at < events.length; at += together)
        for (const event of await this.#whole(events.slice(at, at + together))) {
          yield* this.#take(event, open)
          const segment = this.#turn(event.id).segment
          const rest = (left.get(segment) ?? 0) - 1
          left.set(segment, rest)
          if (rest === 0) yield* this.#end(segment, open)
        }
    }
    for (const segment of open.keys()) yield* this.#end(segment, open)
  }

  #countsFor(isWanted: (segment: number) => boolean): Map<number, number> {
    const counts = new Map<number, number>()
    for (const at of this.outline.turnOf.values()) {
      const { segment } = this.outline.turns[at] as Turn
      if (isWanted(segment)) counts.set(segment, (counts.get(segment) ?? 0) + 1)
    }
    return counts
  }

  #turn(id: EventId): Turn {
    return this.outline.turns[this.outline.turnOf.get(id) ?? 0] as Turn
  }

  #segment(id: EventId, isWanted: (segment: number) => boolean): number | null {
    const turn = this.outline.turns[this.outline.turnOf.get(id) ?? -1]
    return turn === undefined || !isWanted(turn.segment) ? null : turn.segment
  }

  /** Resolved and redacted, without what no entry shows. */
  async #whole(events: readonly Event[]): Promise<readonly Event[]> {
    return this.source.redact(await this.source.resolve(events.map(light)))
  }

  async *#take(event: Event, open: Map<number, Open>): AsyncGenerator<Item> {
    const turn = this.#turn(event.id)
    const { segment } = turn
    let state = open.get(segment)
    if (state?.turn !== turn && event.note !== true) {
      if (state !== undefined) yield* this.#endTurn(state)
      state = { turn, step: new Step(this.outline), last: event.id, given: event.id }
      open.set(segment, state)
      yield { kind: 'turn', segment, turn }
    }
    if (state === undefined) return
    if (event.note !== true) state.last = event.id
    if (!state.step.take(event)) {
      yield* this.#give(state)
      state.step = new Step(this.outline)
      state.step.take(event)
    }
    if (!this.#forks.has(event.id)) return
    // Where a branch leaves, what comes after stands on its own, so that either branch can be shown without the other.
    yield* this.#give(state)
    state.step = new Step(this.outline)
    this.cuts.set(event.id, state.given)
    yield { kind: 'fork', segment }
  }

  *#give(state: Open): Generator<Item> {
    const { step, turn } = state
    for (const entry of step.entries()) {
      this.#remember(entry)
      state.given = entry.id
      yield { kind: 'entry', segment: turn.segment, entry: this.#repeats.entry(entry) }
    }
  }

  async *#endTurn(state: Open): AsyncGenerator<Item> {
    yield* this.#give(state)
    const { turn, last } = state
    if (turn.codeAt === null || turn.before === null) return
    const files = await this.source.redact(await this.source.changes(turn.before, last))
    if (files.length > 0)
      yield { kind: 'changes', segment: turn.segment, turn, files: files.map(shownChange) }
  }

  async *#end(segment: number, open: Map<number, Open>): AsyncGenerator<Item> {
    const state = open.get(segment)
    if (state === undefined) return
    open.delete(segment)
    yield* this.#endTurn(state)
    yield { kind: 'end', segment }
  }

  #remember(entry: Entry): void {
    this.#excerpt(entry.id, entry)
    if (entry.kind === 'said')
      for (const { result } of entry.calls) if (result !== null) this.#excerpt(result.id, result)
  }

  #excerpt(id: EventId, { pieces }: Pick<Entry, 'pieces'>): void {
    if (!this.#wanted.has(id)) return
    const text =
      pieces.flatMap((piece) => ('text' in piece && piece.kind !== 'reasoning' ? [piece.text] : []))[0] ?? ''
    const line = text.slice(0, 600).replace(/\s+/g, ' ').trim()
    this.excerpts.set(
      id,
      line.length > longestExcerpt ? `${[...line].slice(0, longestExcerpt - 1).join('')}…` : line,
    )
  }
}

interface Open {
  readonly turn: Turn
  step: Step
  last: EventId
  /** The last entry that was given. */
  given: EventId
}

/** `$` members that are resolved elsewhere stay; what no entry shows goes before anything is loaded for it. */
const light = (event: Event): Event => {
  const { replay: _replay, origin: _origin, row: _row, keep: _keep, ...rest } = event
  if (event.type === 'request' || event.type === 'head') return rest as Event
  const members = membersOf(event)
  return isBlobRef(members.meta) ? ({ ...rest, meta: undefined } as Event) : (rest as Event)
}

const shownChange = (change: FileChange): FileChange => ({
  ...change,
  path: visible(change.path),
  text: visible(change.text),
})
