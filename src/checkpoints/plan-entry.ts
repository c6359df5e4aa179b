import type { CodeState, FileRecord } from '../events/file-record.js'
import type { Seen } from './look.js'
import type { TreePath } from './tree-path.js'

export type PlanAction = 'create' | 'change' | 'delete' | 'keep' | 'conflict'

/** What a restore does with one tracked path. */
export interface PlanEntry {
  readonly path: TreePath
  readonly action: PlanAction
  /** Why it is a conflict, or is kept though the target differs; null where the action says it all. */
  readonly why: string | null
  /** Whether the word for it (`force`) can settle the conflict. */
  readonly forcible: boolean
  /** What is on disk, and what the target has. */
  readonly was: FileRecord
  readonly will: FileRecord
  readonly outside: boolean
  /** Whose it is, where what is on disk is not this session's: another session, or `someone`. */
  readonly by: string | null
  /** false: it could not be read, and `was` is worth nothing. */
  readonly isRead: boolean
}

/** `force`: restores what others changed too. `keep`: leaves it. `outside`: restores files outside the workspace. */
export interface Choice {
  readonly force?: boolean
  readonly keep?: boolean
  readonly outside?: boolean
}

export interface PlanInput {
  /** The code state where the session stands. */
  readonly current: CodeState
  /** The code state at the node to go to. */
  readonly target: CodeState
  /** What each path should be (`restoreTarget` of the two). */
  readonly wanted: ReadonlyMap<TreePath, FileRecord>
  readonly disk: ReadonlyMap<TreePath, Seen>
  /** Whether names that differ only by case are one name on this disk. */
  readonly foldsCase: boolean
  readonly choice: Choice
}

export interface Plan {
  readonly entries: readonly PlanEntry[]
}

/** Entries that change something on disk. */
export const isActing = ({ action }: PlanEntry): boolean =>
  action === 'create' || action === 'change' || action === 'delete'

export const conflictsOf = ({ entries }: Plan): readonly PlanEntry[] =>
  entries.filter(({ action }) => action === 'conflict')

/** A conflict that no `force` settles. */
export const hard = (
  why: string,
  { keep }: Choice,
): { readonly action: 'keep' | 'conflict'; readonly why: string; readonly forcible: false } => ({
  action: keep === true ? 'keep' : 'conflict',
  why,
  forcible: false,
})
