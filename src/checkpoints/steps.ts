import { dirname, join } from 'node:path'
import type { FileRecord } from '../events/file-record.js'
import type { Seen } from './look.js'
import { isActing, type Plan, type PlanEntry } from './plan-entry.js'
import { absoluteOf, foldersAbove, type TreePath } from './tree-path.js'

/** One file of a restore, with absolute paths: what is there, what will be, and where each waits meanwhile. */
export interface Step {
  readonly path: string
  readonly was: FileRecord
  readonly will: FileRecord
  /** Where what is there is moved to, until the restore is recorded; null where nothing is there. */
  readonly aside: string | null
  /** Where the new file is written before it gets its name; null where there will be none, or a symlink. */
  readonly fresh: string | null
  /** Where a new file goes when it has to leave its name again. */
  readonly out: string
}

/** Everything that a restore does to the disk, in the journal before the first of it is done. */
export interface Steps {
  readonly steps: readonly Step[]
  /** Folders in the way of a file, deepest first. */
  readonly removeFolders: readonly { readonly path: string; readonly mode: number }[]
  /** Folders that are not there yet, those above first. */
  readonly makeFolders: readonly string[]
  /** Folders that may be left empty, deepest first: they go once the restore is recorded. */
  readonly emptied: readonly string[]
}

export interface StepsInput {
  readonly plan: Plan
  readonly disk: ReadonlyMap<TreePath, Seen>
  readonly workspace: string
  /** Names the files that wait. */
  readonly id: string
  readonly isFolder: (absolute: string) => boolean
  readonly modeOf: (absolute: string) => number
}

export const stepsOf = (input: StepsInput): Steps => {
  const { plan, workspace, id, isFolder, modeOf } = input
  const acting = plan.entries.filter(isActing)
  const inTheWay = foldersInTheWay(acting, input.disk)
  const goes = new Set(inTheWay.map((path) => absoluteOf(workspace, path)))
  /** The nearest folder that is there now and stays: what waits in it is on the same disk as what it waits for. */
  const home = (path: string): string => {
    const folder = dirname(path)
    return isFolder(folder) && !goes.has(folder) && ![...goes].some((gone) => isBelow(folder, gone))
      ? folder
      : home(folder)
  }
  const steps = acting.map(({ path, was, will }, i): Step => {
    const absolute = absoluteOf(workspace, path)
    const waiting = (what: string) => join(home(absolute), `.coppice-${id}-${i}-${what}`)
    return {
      path: absolute,
      was,
      will,
      aside: was.kind === 'absent' ? null : waiting('old'),
      fresh: will.kind === 'file' ? waiting('new') : null,
      out: waiting('out'),
    }
  })
  return {
    steps,
    removeFolders: inTheWay
      .map((path) => absoluteOf(workspace, path))
      .map((path) => ({ path, mode: modeOf(path) })),
    makeFolders: foldersToMake(acting, workspace, (path) => isFolder(path) && !goes.has(path)),
    emptied: foldersEmptied(acting)
      .map((path) => absoluteOf(workspace, path))
      .filter((path) => !goes.has(path)),
  }
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(join(folder, '/'))
const deepestFirst = (a: string, b: string): number => b.split(/[/\\]/).length - a.split(/[/\\]/).length

const foldersInTheWay = (
  acting: readonly PlanEntry[],
  disk: ReadonlyMap<TreePath, Seen>,
): readonly TreePath[] =>
  acting
    .filter(({ path, will }) => will.kind !== 'absent' && disk.get(path)?.there === 'folder')
    .flatMap(({ path }) => {
      const inner = (disk.get(path)?.holds ?? []).filter(({ isFolder }) => isFolder)
      return [path, ...inner.map((held) => held.path)]
    })
    .sort(deepestFirst)

const foldersToMake = (
  acting: readonly PlanEntry[],
  workspace: string,
  isThere: (absolute: string) => boolean,
): readonly string[] => {
  const made = new Set<string>()
  for (const { path, will } of acting) {
    if (will.kind === 'absent') continue
    for (const folder of foldersAbove(path)
      .map((above) => absoluteOf(workspace, above))
      .toReversed())
      if (!isThere(folder)) made.add(folder)
  }
  return [...made].sort((a, b) => deepestFirst(b, a))
}

/** Only below the workspace: folders elsewhere are nobody's to remove. */
const foldersEmptied = (acting: readonly PlanEntry[]): readonly TreePath[] => {
  const emptied = new Set<TreePath>()
  for (const { path, will, outside } of acting)
    if (will.kind === 'absent' && !outside) for (const folder of foldersAbove(path)) emptied.add(folder)
  return [...emptied].sort(deepestFirst)
}
