import type { EventId } from '../../events/event.js'
import type { LineAccount } from './accounting.js'

/** One row a source file and session: `events` is what the session now holds, `new` what this import added. */
export interface Imported {
  readonly source: string
  readonly session: EventId
  readonly events: number
  readonly new: number
  readonly notes: readonly string[]
}

/** `line` counts from 1; null where the whole source could not be read. */
export interface Failure {
  readonly source: string
  readonly line: number | null
  readonly reason: string
}

/** One row a source file. */
export interface SourceRead {
  readonly source: string
  readonly format: string
  /** It is as it was when it was imported last, and was not read again. */
  readonly unchanged: boolean
  /** Null where it has no lines (a database, a compressed file), or could not be read. */
  readonly lines: LineAccount | null
}

export interface ImportReport {
  readonly imported: readonly Imported[]
  readonly failed: readonly Failure[]
  readonly sources: readonly SourceRead[]
}
