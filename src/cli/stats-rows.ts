import type { Event, EventId } from '../events/event.js'
import { membersOf } from '../projections/members.js'
import { emptyTally, type Tally, type Tokens, tallyUp, totalsOf } from '../projections/usage-tally.js'

/** What one model cost in one session on one day (UTC). Tokens; `input` includes what the cache gave. */
export interface StatsRow extends Tokens {
  readonly day: string
  readonly model: string
  readonly session: EventId
  readonly requests: number
  /** The part of `input` that the cache gave, 0 to 1; null where there is no input. */
  readonly cacheShare: number | null
}

/** Adds up a session's log per day and model; pure. */
export const statsRows = (session: EventId, events: Iterable<Event>): readonly StatsRow[] => {
  const days = new Map<string, Tally>()
  for (const event of events) {
    const day = event.at.slice(0, 10)
    days.set(day, tallyUp(days.get(day) ?? emptyTally, event, membersOf(event)))
  }
  return [...days].flatMap(([day, tally]) =>
    Object.entries(totalsOf(tally).models).map(([model, counted]) => ({
      day,
      model,
      session,
      ...counted,
      cacheShare: counted.input > 0 ? Math.min(1, counted.cacheRead / counted.input) : null,
    })),
  )
}
