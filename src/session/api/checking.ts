import type { EventId } from '../../events/event.js'
import type { Lost } from '../../events/file-log/repair.js'

/** What verify and repair find. */

export interface Verified {
  readonly sessions: number
  readonly events: number
  readonly bytes: number
  readonly problems: readonly Problem[]
  readonly diverged: readonly { readonly session: EventId; readonly ends: readonly EventId[] }[]
  readonly redacted: number
}

export interface Problem {
  readonly session: string
  readonly kind: string
  readonly line: number | null
  readonly offset: number | null
  readonly detail: string
}

export interface SessionRepaired {
  /** Events in the new log that stood in the old one. */
  readonly kept: number
  readonly lost: readonly Lost[]
  /** The event that the index knew as the log's last, where it is not in the new log: acknowledged events were lost. */
  readonly lostTail: EventId | null
}
