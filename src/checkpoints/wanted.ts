import { type CodeState, type FileRecord, sameContent } from '../events/file-record.js'
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
export type RestoredFile = (FileRecord | { readonly path: TreePath }) & { readonly action: string }

/**
 * The `files` of the event that records a restore. What was kept, though the target has it otherwise, has the record of what
 * it is, and whose. A file that a `head` removed, and that the target's branch never knew, is named without a record: whoever
 * makes one of that name there makes a file of their own.
 */
export const restoredFiles = (
  { entries }: Plan,
  target: CodeState,
  event: 'head' | 'restore',
): readonly RestoredFile[] =>
  entries.flatMap((entry): readonly RestoredFile[] => {
    const { path, action, was, will, by, isRead } = entry
    if (!isActing(entry)) {
      if (!isRead) return [{ path, action: 'keep' }]
      return sameContent(was, will) ? [] : [{ ...was, action: 'keep', ...(by === null ? {} : { by }) }]
    }
    const isForgotten = event === 'head' && will.kind === 'absent' && !target.files.has(path)
    return isForgotten ? [{ path, action }] : [{ ...will, action }]
  })
