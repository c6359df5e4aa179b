import type { Event } from '../events/event.js'

/**
 * A pure fold of events into a state (INV-3), and what the state shows. `apply` is total over every event, known or
 * not, of any shape, and never changes the state it is given.
 *
 * `session`: fed every event of the log, in log order. `branch`: fed the events on one path and the notes that hang on
 * them, in log order.
 */
export interface Projection<S, V = S> {
  readonly name: string
  /** Grows when `apply` or `view` gives another answer for the same log: a saved fold of another version is folded anew. */
  readonly version: number
  readonly scope: 'session' | 'branch'
  readonly initial: S
  readonly apply: (state: S, event: Event) => S
  /** What is shown of the state: plain JSON. Computed when asked, so it may cost as much as it shows. */
  readonly view: (state: S) => V
}
