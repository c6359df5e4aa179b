import type { Event, EventId } from '../../events/event.js'
import { isSameGroup } from '../../projections/groups.js'
import { type Members, membersOf, stringOf } from '../../projections/members.js'
import type { CallView, Entry, ResultView, SaidEntry } from './entry.js'
import { markEntry, stateWords } from './marks.js'
import type { Outline } from './outline.js'
import { resultView, saidEntry } from './said.js'

interface OpenCall {
  readonly view: CallView
  readonly at: string
  readonly states: string[]
  result: ResultView | null
}

/** Past this much text a step is shown as it is: results that come later stand for themselves. */
const mostChars = 8_000_000

/**
 * What one answer of the model led to: its message (of one event or several), its calls with their results, and what
 * happened meanwhile. Held until the next message, so that each result stands with its call.
 */
export class Step {
  readonly #entries: Entry[] = []
  readonly #calls = new Map<string, OpenCall>()
  readonly #callers = new Map<EventId, readonly string[]>()
  #last: Members | null = null
  #chars = 0

  constructor(private readonly outline: Outline) {}

  /** Takes an event in; false where it does not belong here and the next step begins with it. `event`: resolved, redacted. */
  take(event: Event): boolean {
    const members = membersOf(event)
    const isFirst = this.#entries.length === 0
    if (!isFirst && (this.#chars > mostChars || endsSteps(event))) return false
    if (event.type !== 'message') return this.#mark(event, members)
    if (members.role === 'tool') return this.#result(event, members)
    const continues = this.#last !== null && isSameGroup(this.#last, members)
    if (!isFirst && !continues) return false
    this.#said(event, members, continues)
    return true
  }

  /** All of it, in order. */
  entries(): readonly Entry[] {
    const entries = this.#entries.map((entry) => (entry.kind === 'said' ? this.#withResults(entry) : entry))
    return factsOnFirst(entries)
  }

  #said(event: Event, members: Members, continues: boolean): void {
    const entry = saidEntry(event, { continues, compacted: this.outline.compacted.has(event.id), tool: null })
    this.#entries.push(entry)
    this.#last = members
    for (const view of entry.calls) this.#calls.set(view.id, { view, at: event.at, states: [], result: null })
    this.#callers.set(
      event.id,
      entry.calls.map(({ id }) => id),
    )
    this.#chars += sizeOf(entry)
  }

  #result(event: Event, members: Members): boolean {
    const id = stringOf(members.toolCallId) ?? ''
    const call = this.#calls.get(id)
    const compacted = this.outline.compacted.has(event.id)
    const tool = this.outline.callNames.get(id) ?? null
    if (call === undefined || call.result !== null) {
      this.#entries.push(saidEntry(event, { continues: false, compacted, tool }))
      return true
    }
    call.result = resultView(event, call.at)
    this.#chars += call.result.pieces.reduce(
      (sum, piece) => sum + ('text' in piece ? piece.text.length : 0),
      0,
    )
    return true
  }

  #mark(event: Event, members: Members): boolean {
    const call = event.type === 'tool' ? this.#calls.get(stringOf(members.toolCallId) ?? '') : undefined
    const isOwn = call !== undefined && this.#callers.get(event.parent ?? '')?.includes(call.view.id) === true
    if (isOwn && event.redacted !== true) call.states.push(stateWords(members.state, members.by))
    else this.#entries.push(markEntry(event, this.outline.callNames))
    return true
  }

  #withResults(entry: SaidEntry): SaidEntry {
    return {
      ...entry,
      calls: entry.calls.map((call) => {
        const open = this.#calls.get(call.id)
        const result = open?.view === call ? open.result : null
        const elsewhere = result === null ? this.#elsewhere(call.id) : null
        return { ...call, states: open?.view === call ? open.states : [], result, elsewhere }
      }),
    }
  }

  #elsewhere(call: string): EventId | null {
    return this.outline.resultsOf.get(call)?.findLast((id) => this.outline.turnOf.has(id)) ?? null
  }
}

/** Where the conversation takes a turn of its own, results that come after are late. */
const endsSteps = (event: Event): boolean =>
  event.type === 'compaction' || event.type === 'branch' || event.type === 'head' || event.type === 'edit'

const sizeOf = (entry: SaidEntry): number =>
  [...entry.pieces, ...entry.calls.flatMap(({ pieces }) => pieces)].reduce(
    (sum, piece) => sum + ('text' in piece ? piece.text.length : 0),
    0,
  )

/** What a message cost is told once, at its head, as its last event says it. */
const factsOnFirst = (entries: readonly Entry[]): readonly Entry[] => {
  let first = -1
  const facts = new Map<number, readonly string[]>()
  entries.forEach((entry, at) => {
    if (entry.kind !== 'said') return
    if (!entry.continues) first = at
    else if (first >= 0) {
      facts.set(first, entry.facts.length > 0 ? entry.facts : (facts.get(first) ?? []))
      facts.set(at, [])
    }
  })
  return entries.map((entry, at) =>
    entry.kind === 'said' && facts.has(at) && (facts.get(at)?.length ?? 0) + Number(entry.continues) > 0
      ? { ...entry, facts: facts.get(at) ?? entry.facts }
      : entry,
  )
}
