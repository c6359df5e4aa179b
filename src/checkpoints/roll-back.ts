import { dirname } from 'node:path'
import type { Journal, Journals } from './journal.js'
import type { Step } from './steps.js'
import { allowing, foldersOf, giveName, matchOf, noLinks, syncFolders } from './swap.js'
import type { WorkFs } from './work-fs.js'

/** What could not get its name back, since someone else's file has it: where it is now. Its bytes are in a checkpoint. */
export interface LeftAside {
  readonly path: string
  readonly at: string
}

export interface RollBackPorts {
  readonly work: WorkFs
  readonly journals: Journals
}

/**
 * Puts everything back as it was before a restore began, however far it had come: it looks at the disk alone, so it can be
 * cut off and run again. Files that someone else wrote meanwhile stay.
 */
export const rollBack = async (
  { work, journals }: RollBackPorts,
  journal: Journal,
): Promise<readonly LeftAside[]> => {
  const left: LeftAside[] = []
  if (journal.phase !== 'staging') {
    if (journal.phase !== 'rolling-back') await journals.write({ ...journal, phase: 'rolling-back' })
    for (const step of journal.steps) await takeOut(work, step)
    for (const folder of journal.makeFolders.toReversed())
      allowing(['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'], () => work.removeDir(folder))
    for (const { path, mode } of journal.removeFolders.toReversed())
      allowing(['EEXIST'], () => work.makeDir(path, mode))
    for (const step of journal.steps) left.push(...putBack(work, step))
    await syncFolders(work, foldersOf(journal))
    if (dropAsides(work, journal.steps)) await syncFolders(work, foldersOf(journal))
    // From here on nothing has a name that it should not have: a second run must not look for such.
    await journals.write({ ...journal, phase: 'staging' })
  }
  for (const step of journal.steps) left.push(...(await clearAway(work, step)))
  // Before the journal goes: nobody else knows what was left to clear away.
  await syncFolders(work, foldersOf(journal))
  await journals.remove(journal.id)
  return left
}

/** Takes a new file out of its place again, if it is the one that the restore put there. */
const takeOut = async (work: WorkFs, step: Step): Promise<void> => {
  const { path, will, out } = step
  if (!isPlaced(work, step) || (await matchOf(work, path, will)) === null) return
  work.rename(path, out)
  if ((await matchOf(work, out, will)) !== null) work.unlink(out)
  // Someone wrote to it between the look and the move: it is theirs.
  else giveName(work, out, path)
}

/** What waited and never got a name, or lost it again. What is not as the restore wrote it is someone's: it stays. */
const clearAway = async (work: WorkFs, { path, will, fresh, out }: Step): Promise<readonly LeftAside[]> => {
  if (fresh !== null) allowing(['ENOENT', 'ENOTDIR'], () => work.unlink(fresh))
  if (work.lstat(out) === null) return []
  if ((await matchOf(work, out, will)) === null) return [{ path, at: out }]
  work.unlink(out)
  return []
}

const isPlaced = (work: WorkFs, { path, will, aside, fresh }: Step): boolean => {
  const there = work.lstat(path)
  if (there === null || will.kind === 'absent') return false
  // What was there has not moved yet, or is back.
  if (aside !== null && work.lstat(aside) === null) return false
  const waiting = fresh === null ? null : work.lstat(fresh)
  return waiting === null || (waiting.ino === there.ino && waiting.dev === there.dev)
}

/** Gives a file its name back. It keeps the one aside until the other is on disk: a power cut must leave it one of them. */
const putBack = (work: WorkFs, { path, aside }: Step): readonly LeftAside[] => {
  const waiting = aside === null ? null : work.lstat(aside)
  if (aside === null || waiting === null || hasBothNames(work, path, aside)) return []
  makeFolder(work, dirname(path))
  const isBack = allowing(['EEXIST', 'ENOTDIR'], () => {
    if (waiting.kind === 'link' || !allowing(noLinks, () => work.link(aside, path)))
      giveName(work, aside, path)
  })
  return isBack ? [] : [{ path, at: aside }]
}

const hasBothNames = (work: WorkFs, path: string, aside: string): boolean => {
  const [there, waiting] = [work.lstat(path), work.lstat(aside)]
  return there !== null && waiting !== null && there.ino === waiting.ino && there.dev === waiting.dev
}

/** Takes the names aside away of files that have theirs again; says whether there were any. */
const dropAsides = (work: WorkFs, steps: readonly Step[]): boolean => {
  const both = steps.flatMap(({ path, aside }) =>
    aside !== null && hasBothNames(work, path, aside) ? [aside] : [],
  )
  for (const aside of both) work.unlink(aside)
  return both.length > 0
}

const makeFolder = (work: WorkFs, folder: string): void => {
  if (work.lstat(folder) !== null || dirname(folder) === folder) return
  makeFolder(work, dirname(folder))
  allowing(['EEXIST', 'ENOTDIR'], () => work.makeDir(folder, 0o777))
}
