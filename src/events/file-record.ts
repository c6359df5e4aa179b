import type { BlobRef } from './content.js'
import type { EventId } from './event.js'

/**
 * One file of a code checkpoint, as its event holds it (docs/CHECKPOINTS.md). `path` is the path in the checkpoint's tree:
 * `workspace/src/a.ts`, or `outside/etc/hosts` for a file outside the workspace.
 */
export interface FileRecord {
  readonly path: string
  readonly kind: 'file' | 'link' | 'absent'
  /** Permission bits; of a file only. */
  readonly mode?: number
  /** The git object that holds the bytes (of a link: its target). */
  readonly oid?: string
  readonly bytes?: number
  /**
   * Who had written these bytes, where a checkpoint or a restore met what is not this session's: another session of the
   * workspace, or `someone`.
   */
  readonly by?: EventId | 'someone'
  /** On a path's first record: a search of the whole workspace had not found it before, so it was absent. */
  readonly new?: true
  /**
   * On a path's first record: why the searches before may have overlooked it. Whether it was there before is not known then,
   * so an undo leaves it.
   */
  readonly doubt?: string
}

/** What a search of the whole workspace says of itself, in the checkpoint's event. */
export interface Scan {
  /** false where a limit cut it off, or where more was left out than `left` names. */
  readonly complete: boolean
  /** Paths that are in no checkpoint, and why. */
  readonly left: readonly LeftOut[]
  /** The `.gitignore` files that held and are in no checkpoint, since they are ignored themselves. */
  readonly hidden?: readonly HiddenRules[]
}

export interface HiddenRules {
  readonly path: string
  readonly oid: string
}

export interface LeftOut {
  readonly path: string
  readonly why: string
}

/** A tracked file at a node. */
export interface CodeFile {
  /** Its last record at or before the node. */
  readonly last: FileRecord
  /** What it was before the branch first knew it. */
  readonly first: FileRecord
  /** Why nobody knows whether `first` is what it was; null where it is. */
  readonly doubt: string | null
  /** The checkpoint or restore that wrote `last`. */
  readonly event: EventId
  /** Why that one was taken: `after-tool`, `prompt`, …, or `restore`. */
  readonly reason: string
  /** Every event on the branch that met here what is not this session's, and whose it was (`by` of the record). */
  readonly others: readonly { readonly event: EventId; readonly by: string }[]
}

/** The code state at a node: what is known of every tracked path (docs/CHECKPOINTS.md). */
export interface CodeState {
  /** The nearest checkpoint at or before the node, and its commit; null where there is none. */
  readonly checkpoint: EventId | null
  readonly commit: string | null
  /** What restores changed since that commit: its tree and these are the state. */
  readonly since: readonly FileRecord[]
  readonly files: ReadonlyMap<string, CodeFile>
  /** The last records of the `.gitignore` files, among `files` too. */
  readonly rules: ReadonlyMap<string, FileRecord>
  /** The last search of the whole workspace, when (ISO 8601), and the `.gitignore` files as it met them. */
  readonly scan: (Scan & { readonly at: string; readonly rules: ReadonlyMap<string, FileRecord> }) | null
  /** Lists of files that stand in blobs: resolve them in their events, and fold again. */
  readonly unresolved: readonly { readonly event: EventId; readonly blob: BlobRef }[]
}

export const isFileRecord = (value: unknown): value is FileRecord => {
  if (typeof value !== 'object' || value === null) return false
  const { path, kind, oid, mode, bytes } = value as Record<keyof FileRecord, unknown>
  if (typeof path !== 'string' || path === '') return false
  if (kind === 'absent') return true
  if (kind !== 'file' && kind !== 'link') return false
  return typeof oid === 'string' && isNumber(bytes) && (kind === 'link' || isNumber(mode))
}

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)

/** Whether two records say the same of the disk. */
export const sameContent = (a: FileRecord, b: FileRecord): boolean =>
  a.kind === b.kind && a.oid === b.oid && (a.kind !== 'file' || a.mode === b.mode)

export const absent = (path: string): FileRecord => ({ path, kind: 'absent' })
