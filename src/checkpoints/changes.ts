import { absent, type CodeState, type FileRecord, sameContent } from '../events/file-record.js'
import type { Seen } from './look.js'
import { foldersAbove, type TreePath } from './tree-path.js'

/**
 * What a look at the disk adds to the code state (pure): the records of paths that are not as last recorded, and of those
 * seen first. Where a file stands now, what was tracked below that name is absent, and the reverse.
 */
export const changesSince = (
  known: CodeState['files'],
  seen: ReadonlyMap<TreePath, Seen>,
): readonly FileRecord[] => {
  const changed = new Map<TreePath, FileRecord>()
  for (const [path, { record, unreadable }] of seen) {
    if (unreadable !== null) continue
    const before = known.get(path)?.last
    if (before === undefined || !sameContent(before, record)) changed.set(path, record)
  }
  const appeared = [...changed.values()].filter(
    ({ path, kind }) => kind !== 'absent' && known.get(path)?.last.kind !== 'file',
  )
  if (appeared.length > 0) crowdOut(known, appeared, changed)
  return [...changed.values()]
}

/** One name is a file or a folder: what is known of the other is absent now, whether it was looked at or not. */
const crowdOut = (
  known: CodeState['files'],
  appeared: readonly FileRecord[],
  changed: Map<TreePath, FileRecord>,
): void => {
  const names = new Set(appeared.map(({ path }) => path))
  const isPresent = (path: TreePath) => (known.get(path)?.last.kind ?? 'absent') !== 'absent'
  for (const { path } of appeared)
    for (const folder of foldersAbove(path))
      if (isPresent(folder) && !changed.has(folder)) changed.set(folder, absent(folder))
  for (const path of known.keys())
    if (isPresent(path) && !changed.has(path) && foldersAbove(path).some((folder) => names.has(folder)))
      changed.set(path, absent(path))
}
