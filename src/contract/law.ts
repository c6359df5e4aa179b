import type { EventLog } from '../events/log.js'

/** One law that every event log keeps. Rejects with an assertion error where this one does not. */
export interface Law {
  readonly name: string
  readonly check: (log: EventLog) => Promise<void>
}

/** A store whose appends can be made to fail, for the laws of faults. */
export interface Failing {
  readonly log: EventLog
  /** From now on every append fails where it is written, after some of its bytes or none, until `heal`. */
  readonly fail: () => void
  readonly heal: () => void
  /** The same store as another process sees it. The log may be given itself, where only one process can have the store. */
  readonly reopen: () => EventLog
}

export interface FaultLaw {
  readonly name: string
  readonly check: (store: Failing) => Promise<void>
}
