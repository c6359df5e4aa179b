import type { CodeState, FileRecord } from '../events/file-record.js'
import type { Doubt } from './first-seen.js'
import { foldersAbove, type TreePath } from './tree-path.js'

/** How the paths of a checkpoint came to be looked at. */
export interface LookedFor {
  readonly reason: string
  /** Whether a search found them; its doubts, null where it was the first one. */
  readonly isSearch: boolean
  readonly doubt: Doubt | null
}

/**
 * Marks the first record of each file that was absent before, as far as that is known (pure): no search before had found it;
 * or its name was a folder, or lay below what was a file. Where no tool has just made such a one, it is somebody's.
 */
export const markFirst = (
  changes: readonly FileRecord[],
  { files }: Pick<CodeState, 'files'>,
  { reason, isSearch, doubt }: LookedFor,
): readonly FileRecord[] => {
  const isFirst = ({ path, kind }: FileRecord): boolean => kind !== 'absent' && !files.has(path)
  const first = new Set(changes.filter(isFirst).map(({ path }) => path))
  if (first.size === 0) return changes
  const crowded = crowdedOut(first, files)
  return changes.map((record): FileRecord => {
    if (!first.has(record.path)) return record
    if (crowded.has(record.path))
      return { ...record, new: true, ...(isSearch || reason === 'after-tool' ? {} : { by: 'someone' }) }
    if (doubt === null) return record
    const why = doubt(record.path)
    return why === null ? { ...record, new: true } : { ...record, doubt: why }
  })
}

/** Those whose name was a folder when a file in it was last recorded, or lay below a file: nothing can have stood there. */
const crowdedOut = (first: ReadonlySet<TreePath>, files: CodeState['files']): ReadonlySet<TreePath> => {
  const isPresent = (path: TreePath): boolean => (files.get(path)?.last.kind ?? 'absent') !== 'absent'
  const crowded = new Set([...first].filter((path) => foldersAbove(path).some(isPresent)))
  for (const path of files.keys())
    if (isPresent(path)) for (const folder of foldersAbove(path)) if (first.has(folder)) crowded.add(folder)
  return crowded
}
