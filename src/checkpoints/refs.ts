import type { EventId } from '../events/event.js'

/** The branch of a session's checkpoints (docs/CHECKPOINTS.md). */
export const branchRef = (session: EventId): string => `refs/heads/${session}`

/** Where it stands while the session is archived: nothing of it is freed, and it comes back whole. */
export const archiveRef = (session: EventId): string => `refs/archive/${session}`

/** The session of a ref. */
export const sessionOf = (ref: string): EventId => ref.slice(ref.lastIndexOf('/') + 1)
