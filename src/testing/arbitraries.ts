import fc from 'fast-check'
import type { Draft } from '../events/draft.js'
import type { Event } from '../events/event.js'
import { stepArbitrary } from './step.js'
import { type History, historyOf } from './two-writers.js'

export { hostileEventsArbitrary } from './hostile-events.js'
export type { Deed, History } from './two-writers.js'

/**
 * Arbitrary logs of one session, as events with real ids, written by two writers who do not always see each other.
 *
 * A log is made from a list of `Step`s (so that it shrinks by leaving steps out): each step says which writer does
 * what, and `pick`, a number that chooses among what there is at that point (a call without result, a prompt to go
 * back to). Steps that make no sense where they stand are passed over, so every log keeps the rules of the format:
 * results follow calls, `through` of a compaction lies on the path and leaves no call open behind it, a writer whose
 * position is no open end first writes a `head` event, and every `head` event has the true `from` and `row`.
 *
 * - `historyArbitrary(size)`: the log and what each writer did, for models
 * - `logArbitrary(size)`: the events alone
 * - `hostileEventsArbitrary(size)`: events of known and unknown types whose members are any JSON
 */
export const historyArbitrary = (size = 40): fc.Arbitrary<History> =>
  fc.array(stepArbitrary, { maxLength: size, size: 'max' }).map(historyOf)

export const logArbitrary = (size = 40): fc.Arbitrary<readonly Event[]> =>
  historyArbitrary(size).map(({ events }) => events)

const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\n', '{"$blob":1}', '\u2028', '\ud83d', '\u001b[2J') },
  // Longer than what a line holds itself.
  { weight: 1, arbitrary: fc.constant('é'.repeat(40_000)) },
)

/** Drafts that any session takes wherever it stands: none names another event. */
export const draftArbitrary: fc.Arbitrary<Draft> = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: text,
  }),
  fc.record({
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    content: text,
    model: fc.constantFrom('m1', 'm2'),
    usage: fc.record({ input: fc.nat(100_000), output: fc.nat(10_000) }),
  }),
  fc.record({
    type: fc.constant('custom'),
    name: fc.constantFrom('a', 'b'),
    data: fc.jsonValue({ maxDepth: 2 }),
  }),
  fc.record({ type: fc.constant('title'), title: text, by: fc.constantFrom('user', 'auto') }),
  fc.record({ type: fc.constant('status'), status: fc.constantFrom('processing', 'completed', 'failed') }),
) as fc.Arbitrary<Draft>
