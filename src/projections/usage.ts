import { type Chain, push, toArray } from '../events/chain.js'
import type { Event, EventId } from '../events/event.js'
import { isPrompt, type Members, membersOf, own } from './members.js'
import { advanceEnds, type OpenEnds } from './open-ends.js'
import type { Projection } from './projection.js'
import {
  addCounted,
  type Counted,
  emptyTally,
  groupOf,
  type Spending,
  spendingOf,
  type Tally,
  tallyUp,
  totalsOf,
} from './usage-tally.js'

/** The prompt that a turn began with. */
interface Turn {
  readonly prompt: EventId
  readonly at: string
}

interface TurnSpending extends Spending {
  readonly turn: Turn | null
  /** The day, UTC: `2026-12-01`. */
  readonly day: string
}

export interface UsageState {
  readonly tally: Tally
  /** For each open end: the turn it is in. */
  readonly turns: OpenEnds<Turn | null>
  readonly spent: Chain<TurnSpending> | null
  /** The newest grouped spending, which a later event of its group replaces. */
  readonly last: TurnSpending | null
}

const apply = (state: UsageState, event: Event): UsageState => {
  const members = membersOf(event)
  const above = event.parent === null ? null : (own(state.turns, event.parent) ?? null)
  const turn = isPrompt(event, members) ? { prompt: event.id, at: event.at } : above
  return {
    ...spend(state, event, members, turn),
    tally: tallyUp(state.tally, event, members),
    turns: event.note === true ? state.turns : advanceEnds(state.turns, event, members, turn),
  }
}

/** The same counting as in `tallyUp`: a group counts once, by its last usage. */
const spend = (state: UsageState, event: Event, members: Members, turn: Turn | null): UsageState => {
  const spending = spendingOf(event, members)
  const spent = spending === null ? null : { ...spending, turn, day: event.at.slice(0, 10) }
  const group = groupOf(event, members)
  if (group === null) return spent === null ? state : { ...state, spent: push(state.spent, spent) }
  if (group === state.last?.group) return spent === null ? state : { ...state, last: spent }
  return { ...state, spent: state.last === null ? state.spent : push(state.spent, state.last), last: spent }
}

/** Usage in tokens, costs in US dollars, over all branches. */
export interface UsageReport extends Pick<Tally, 'total' | 'models' | 'requests'> {
  /** From one prompt to the next, in the order in which they first cost something. */
  readonly turns: readonly (Counted & { readonly turn: EventId; readonly at: string })[]
  /** By day, UTC. */
  readonly days: readonly (Counted & { readonly day: string })[]
}

const view = (state: UsageState): UsageReport => {
  const turns = new Map<EventId, Counted & { turn: EventId; at: string }>()
  const days = new Map<string, Counted & { day: string }>()
  for (const { turn, day, usage } of [
    ...toArray(state.spent),
    ...(state.last === null ? [] : [state.last]),
  ]) {
    days.set(day, { day, ...addCounted(days.get(day), usage) })
    if (turn !== null)
      turns.set(turn.prompt, { turn: turn.prompt, at: turn.at, ...addCounted(turns.get(turn.prompt), usage) })
  }
  return { ...totalsOf(state.tally), turns: [...turns.values()], days: [...days.values()] }
}

/** What a session cost: in total, per model, per turn, per day. */
export const usage: Projection<UsageState, UsageReport> = {
  name: 'usage',
  version: 1,
  scope: 'session',
  initial: { tally: emptyTally, turns: {}, spent: null, last: null },
  apply,
  view,
}
