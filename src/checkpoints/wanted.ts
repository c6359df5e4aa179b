import type { CodeState, FileRecord } from '../events/file-record.js'
import { isActing, type Plan } from './plan-entry.js'
import type { TreePath } from './tree-path.js'

/**
 * What a restore goes to, seen from where the session stands (pure): each path's last record at the target; a path that
 * only the present branch knows, and knew first after the target, as it was before (absent: it will be removed).
 */
export const wantedAt = (current: CodeState, target: CodeState): ReadonlyMap<TreePath, FileRecord> => {
  const wanted = new Map<TreePath, FileRecord>()
  for (const [path, { last }] of target.files) wanted.set(path, last)
  for (const [path, { first }] of current.files) if (!wanted.has(path)) wanted.set(path, first)
  return wanted
}

/** A file in a `restore` event, or in the `restore` of a `head`: what was done, and the record that the fold goes on from. */
export type RestoredFile = FileRecord | { readonly path: TreePath; readonly action: string }

/**
 * The `files` of the event that records a restore. A file that a `head` removed, and that the target's branch never knew, is
 * named without its record: whoever makes one of that name there makes a file of their own. What was kept has no record
 * either: it stays as last recorded.
 */
export const restoredFiles = (
  { entries }: Plan,
  target: CodeState,
  event: 'head' | 'restore',
): readonly RestoredFile[] =>
  entries.flatMap((entry) => {
    const { path, action, why, will } = entry
    if (!isActing(entry)) return why === null ? [] : [{ path, action: 'keep' }]
    const isForgotten = event === 'head' && will.kind === 'absent' && !target.files.has(path)
    return isForgotten ? [{ path, action }] : [{ ...will, action }]
  })
