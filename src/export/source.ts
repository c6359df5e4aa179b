import type { Event, EventId } from '../events/event.js'

/** How one file differs between two nodes, as a unified diff. */
export interface FileChange {
  readonly path: string
  readonly status: 'added' | 'deleted' | 'modified'
  readonly isBinary: boolean
  readonly added: number
  readonly removed: number
  readonly text: string
}

/** Takes secrets out of every string of a value: a mark `[redacted: …]` stands in the place of each. */
export type Redact = <T>(value: T) => Promise<T>

/**
 * What a report reads. A log is read in passes and never held, so that memory does not grow with what was said: every
 * call of `events` begins anew, and must give the same events.
 */
export interface ReportSource {
  /** Every event in log order, in batches, values in their stored form. */
  events(): AsyncIterable<readonly Event[]>
  /** The caller's form of a stored value: blobs filled in. */
  resolve<T>(value: T): Promise<T>
  /** Runs over every text that the report shows. */
  readonly redact: Redact
  /** The same for texts that are shown once more (titles, excerpts), so that nothing is counted twice. */
  readonly redactAgain: Redact
  /** What changed in the code between two nodes; `[]` where no code is tracked. */
  changes(from: EventId, to: EventId): Promise<readonly FileChange[]>
}

/** Which part of a session is wanted. */
export interface ReportAsk {
  /** An event of the branch to show; its path is what the report begins with. Null: the head. */
  readonly branch: EventId | null
  /** First and last event to show, both on that path; null: from the root, to its end. */
  readonly from: EventId | null
  readonly to: EventId | null
  /** Hidden messages too. */
  readonly all: boolean
}

/** What the log does not say. */
export interface ReportFacts {
  /** ISO 8601. */
  readonly exportedAt: string
  readonly version: string
  readonly workspace: string
  /** Whether `redact` takes anything out. */
  readonly isRedacted: boolean
}
