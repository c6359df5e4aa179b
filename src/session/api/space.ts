import type { Collected } from '../../checkpoints/objects/collect.js'
import type { EventId } from '../../events/event.js'
import type { OldCopy } from '../redact/redacted.js'
import type { SessionRef } from './listing.js'

/** What sessions take on disk, and what was freed. */

/** What a session takes on disk, in bytes. */
export interface SessionUse {
  readonly session: EventId
  readonly workspace: string
  readonly archived: boolean
  readonly log: number
  readonly blobs: number
  /** How many checkpoints, what their branch leads to, and what no other session's does. */
  readonly checkpoints: number
  readonly code: number
  readonly ownCode: number
}

export interface Use {
  readonly sessions: readonly SessionUse[]
  /** By workspace: its checkpoints' objects, and those that no session leads to (`gc` frees them). */
  readonly workspaces: readonly WorkspaceUse[]
  readonly caches: number
}

export interface WorkspaceUse {
  readonly workspace: string
  readonly code: number
  readonly unreached: number
  /** Why its checkpoints cannot be read (then both are 0, and so is the code of its sessions); null where they can. */
  readonly why: string | null
}

/** What was freed in one workspace, in bytes; with `dryRun` what would be. */
export interface Freed extends Collected {
  readonly workspace: string
}

/** What left the archive for good: sessions, and logs that `repair` and `redact` replaced. */
export interface Purged {
  readonly sessions: readonly SessionRef[]
  readonly copies: readonly OldCopy[]
}
