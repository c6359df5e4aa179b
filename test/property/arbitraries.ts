import fc from 'fast-check'
import type { Event } from '../../src/events/event.js'
import { stepArbitrary } from './step.js'
import { type History, historyOf } from './two-writers.js'

export { hostileEventsArbitrary } from './hostile-events.js'
export type { Deed, History } from './two-writers.js'

/**
 * Arbitrary logs of one session, as events with real ids, written by two writers who do not always see each other.
 *
 * A log is made from a list of `Step`s (so that it shrinks by leaving steps out): each step says which writer does
 * what, and `pick`, a number that chooses among what there is at that point (a call without result, a prompt to go
 * back to). Steps that make no sense where they stand are passed over, so every log keeps the rules of the design:
 * results follow calls, `through` of a compaction lies on the path and leaves no call open behind it, a writer whose
 * position is no open end first writes a `head` event, and every `head` event has the true `from` and `row`.
 *
 * - `historyArbitrary(size)`: the log and what each writer did, for models
 * - `logArbitrary(size)`: the events alone
 * - `hostileEventsArbitrary(size)`: events of known and unknown types whose members are any JSON
 * - `runs(base)`: how often a property runs, times `FC_RUNS`
 */
export const runs = (base: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base),
})

export const historyArbitrary = (size = 40): fc.Arbitrary<History> =>
  fc.array(stepArbitrary, { maxLength: size, size: 'max' }).map(historyOf)

export const logArbitrary = (size = 40): fc.Arbitrary<readonly Event[]> =>
  historyArbitrary(size).map(({ events }) => events)
