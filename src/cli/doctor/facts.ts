import type { Use, Verified } from '../../session/api.js'
import type { Health } from '../../session/store/health.js'

/** Something that could not be found out, or is not as it must be. */
export interface Fault {
  /** What failed, and where. */
  readonly message: string
  readonly next: string
  /** The tag of an error, or the code of the system's. */
  readonly tag: string
}

/** What `doctor` found, before it is judged. Sizes in bytes. */
export interface Facts {
  readonly node: { readonly version: string; readonly range: string; readonly fits: boolean }
  /** Why the native module (kernel locks) does not load; null where it does. */
  readonly native: string | null
  readonly config: { readonly path: string; readonly isThere: boolean; readonly fault: Fault | null }
  readonly store: StoreFacts
  /** null where nothing could be tried: there is no store, it cannot be used, or nothing was ever kept in it. */
  readonly locks: LockFacts | null
  readonly health: Health | Fault | null
  readonly use: Use | Fault | null
  readonly verified: Verified | Fault | null
  /** The folder that the command looks at, and where its sessions seem to have been before it moved. */
  readonly workspace: string
  readonly movedFrom: readonly string[]
}

export interface StoreFacts {
  readonly path: string
  readonly isThere: boolean
  /** Permission bits. */
  readonly mode: number
  /** Of the user; null where files have no owner. */
  readonly isOwn: boolean | null
  /** What the disk has left for the user; null where it does not say. */
  readonly free: number | null
  readonly fault: Fault | null
}

export type LockFacts =
  | { readonly kind: 'work' }
  | { readonly kind: 'fail'; readonly why: string }
  /** Nothing can be written there, so nothing was tried. */
  | { readonly kind: 'read-only'; readonly why: string }

export const isFault = (value: object): value is Fault => 'message' in value && 'tag' in value
