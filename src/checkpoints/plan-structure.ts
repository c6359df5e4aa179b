import type { FileRecord } from '../events/file-record.js'
import { hard, isActing, type PlanEntry, type PlanInput } from './plan-entry.js'
import { shownPath } from './shown-path.js'
import { foldersAbove, type TreePath } from './tree-path.js'

/**
 * Takes out of a plan what the shape of the tree forbids, until the rest fits together: a file where a folder with other
 * files stands (no such folder is ever removed), a file below what stays a file, two names that are one on this disk.
 */
export const fitTogether = (entries: readonly PlanEntry[], input: PlanInput): readonly PlanEntry[] => {
  const plan = new Map(entries.map((entry) => [entry.path, entry]))
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    const twins = input.foldsCase ? twinsIn(plan.values()) : new Map<TreePath, TreePath>()
    for (const entry of plan.values()) {
      const why = isActing(entry) ? misfit(entry, plan, input, twins) : null
      if (why === null) continue
      plan.set(entry.path, { ...entry, ...hard(why, input.choice) })
      isSettled = false
    }
  }
  return [...plan.values()]
}

/** What will be there after the plan. */
const finalOf = (entry: PlanEntry): FileRecord => (isActing(entry) ? entry.will : entry.was)

const misfit = (
  entry: PlanEntry,
  plan: ReadonlyMap<TreePath, PlanEntry>,
  { disk }: PlanInput,
  twins: ReadonlyMap<TreePath, TreePath>,
): string | null => {
  if (entry.will.kind === 'absent') return null
  const isDeleted = (path: TreePath): boolean => {
    const found = plan.get(path)
    return found !== undefined && isActing(found) && found.will.kind === 'absent'
  }
  const seen = disk.get(entry.path)
  const stays = seen?.holds.find(({ path, isFolder }) => !isFolder && !isDeleted(path))
  if (stays !== undefined) return `a folder stands there, and ${shownPath(stays.path)} in it`
  const blocker = seen?.blockedBy ?? null
  if (blocker !== null && !isDeleted(blocker)) return `${shownPath(blocker)} stands where a folder should be`
  const above = foldersAbove(entry.path).find((folder) => {
    const found = plan.get(folder)
    return found !== undefined && finalOf(found).kind !== 'absent'
  })
  if (above !== undefined) return `${shownPath(above)} is a file then`
  const twin = twins.get(entry.path)
  return twin === undefined
    ? null
    : `differs only by case from ${shownPath(twin)}, which is the same name on this disk`
}

/** Each path that is there after the plan, and another one that differs only by case. */
const twinsIn = (entries: Iterable<PlanEntry>): ReadonlyMap<TreePath, TreePath> => {
  const first = new Map<string, TreePath>()
  const twins = new Map<TreePath, TreePath>()
  for (const entry of entries) {
    if (finalOf(entry).kind === 'absent') continue
    const folded = entry.path.normalize('NFC').toLowerCase()
    const other = first.get(folded)
    if (other === undefined) first.set(folded, entry.path)
    else {
      twins.set(entry.path, other)
      twins.set(other, entry.path)
    }
  }
  return twins
}
