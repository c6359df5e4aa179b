import type { EventId } from '../../events/event.js'

export interface RedactOptions {
  /** Full ids. */
  readonly events?: readonly EventId[]
  /** Looks for secrets: redacts the events that hold one (of the named events, where some are named). */
  readonly detect?: boolean
  /** Only says what would be redacted; nothing is changed. */
  readonly dryRun?: boolean
  /** For the note in the log. */
  readonly reason?: string
}

/** An event that seems to hold secrets: what kinds, one for each place. Never what they are. */
export interface Found {
  readonly event: EventId
  readonly type: string
  readonly kinds: readonly string[]
}

/** Another session of the store that holds some of the same events: a fork, or another import of the same source. */
export interface Elsewhere {
  readonly session: EventId
  readonly workspace: string
  readonly archived: boolean
  /** Those that say the same, by their ids there. */
  readonly events: readonly EventId[]
}

/** A log as it was before something rewrote it, in the archive: of `repair` (damaged), or of `redact` (redacted). */
export interface OldCopy {
  readonly session: EventId
  readonly kind: 'damaged' | 'redacted'
  readonly path: string
  /** When it went there, in milliseconds; 0 where its name does not say. */
  readonly at: number
}

/** What a redaction came to. */
export interface Redacted {
  /** The events that became tombstones (that would, in a dry run), in log order. */
  readonly redacted: readonly EventId[]
  /** Those of them that were not asked for: they held a copy. */
  readonly followed: readonly EventId[]
  /** What was detected, and that cannot go: a session's root. `[]` where nothing was looked for. */
  readonly found: readonly Found[]
  readonly staying: readonly Found[]
  /** The folder that holds the old log, until `archive --purge`; null where nothing was redacted. */
  readonly archived: string | null
  /** Files of the archive that hold the session as it was at other times. */
  readonly oldCopies: readonly OldCopy[]
  readonly elsewhere: readonly Elsewhere[]
  /** The session has code checkpoints, which may hold the same and were not touched. */
  readonly hasCheckpoints: boolean
}
