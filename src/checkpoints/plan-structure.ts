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
      const found = isActing(entry) ? misfit(entry, plan, input, twins) : null
      if (found === null) continue
      plan.set(entry.path, { ...entry, ...hard(found.why, input.choice), forcible: found.forcible })
      isSettled = false
    }
  }
  return [...plan.values()]
}

/** What will be there after the plan. */
const finalOf = (entry: PlanEntry): FileRecord => (isActing(entry) ? entry.will : entry.was)

/** `forcible`: it fits once the word for another conflict is said. */
interface Misfit {
  readonly why: string
  readonly forcible: boolean
}

const misfit = (
  entry: PlanEntry,
  plan: ReadonlyMap<TreePath, PlanEntry>,
  { disk }: PlanInput,
  twins: ReadonlyMap<TreePath, TreePath>,
): Misfit | null => {
  if (entry.will.kind === 'absent') return null
  const goes = (path: TreePath, byForce: boolean): boolean => {
    const found = plan.get(path)
    return found?.will.kind === 'absent' && (isActing(found) || (byForce && isForcible(found)))
  }
  const seen = disk.get(entry.path)
  const held = (seen?.holds ?? []).filter(({ path, isFolder }) => !isFolder && !goes(path, false))
  const stays = held.find(({ path }) => !goes(path, true)) ?? held[0]
  if (stays !== undefined)
    return {
      why: `a folder stands there, and ${shownPath(stays.path)} in it`,
      forcible: goes(stays.path, true),
    }
  const blocker = seen?.blockedBy ?? null
  if (blocker !== null && !goes(blocker, false))
    return { why: `${shownPath(blocker)} stands where a folder should be`, forcible: goes(blocker, true) }
  const above = foldersAbove(entry.path).find((folder) => {
    const found = plan.get(folder)
    return found !== undefined && finalOf(found).kind !== 'absent'
  })
  if (above !== undefined) return { why: `${shownPath(above)} is a file then`, forcible: goes(above, true) }
  const twin = twins.get(entry.path)
  return twin === undefined
    ? null
    : {
        why: `differs only by case from ${shownPath(twin)}, which is the same name on this disk`,
        forcible: false,
      }
}

const isForcible = ({ action, forcible }: PlanEntry): boolean => action === 'conflict' && forcible

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
