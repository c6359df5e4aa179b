import { dirname } from 'node:path'
import type { FileRecord } from '../events/file-record.js'
import { RestoreConflict } from './errors/restore-conflict.js'
import { oidOf } from './objects/git-format.js'
import { readFile } from './read-file.js'
import type { Step, Steps } from './steps.js'
import type { WorkFs } from './work-fs.js'

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/** Runs a call; errors of these codes are as good as done. */
export const allowing = (codes: readonly string[], run: () => void): boolean => {
  try {
    run()
    return true
  } catch (error) {
    if (codes.includes(codeOf(error))) return false
    throw error
  }
}

/** The stamp of what stands at a path where it is just what a record says; null where it is anything else. */
export const matchOf = async (work: WorkFs, path: string, record: FileRecord): Promise<string | null> => {
  const entry = work.lstat(path)
  if (entry === null || entry.kind !== record.kind) return null
  if (entry.kind === 'link') return oidOf('blob', work.readLink(path)) === record.oid ? entry.stamp : null
  if (entry.size !== record.bytes || entry.mode !== record.mode) return null
  const read = await readFile(work, path)
  return read?.oid === record.oid && read?.entry.mode === record.mode ? read.entry.stamp : null
}

/** Systems and disks without hard links say so in one of these ways. */
export const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES']

/**
 * Gives a file the name it waits for. Nothing that came to stand there meanwhile is overwritten: then it throws EEXIST. A
 * symlink, and a disk without hard links, get their name by a look and a rename.
 */
export const giveName = (work: WorkFs, from: string, to: string): void => {
  const isLink = work.lstat(from)?.kind === 'link'
  if (!isLink && allowing(noLinks, () => work.link(from, to))) work.unlink(from)
  else if (work.lstat(to) === null) work.rename(from, to)
  else throw Object.assign(new Error(`EEXIST: ${to}`), { code: 'EEXIST' })
}

const conflict = (path: string, why: string): RestoreConflict =>
  new RestoreConflict([{ path, why, forcible: true }])

/** A symlink may have come to stand in for a folder since the plan was made: it is not followed. */
const checkFolder = (work: WorkFs, path: string): void => {
  const folder = dirname(path)
  if (work.realPath(folder) !== folder) throw conflict(path, 'a folder above it is a symlink now, or gone')
}

/** Moves what is there aside, and looks whether it is what the plan saw: an editor may have saved just now. */
const setAside = async (work: WorkFs, { path, was, aside }: Step): Promise<string | null> => {
  if (aside === null) return null
  checkFolder(work, path)
  if (!allowing(['ENOENT'], () => work.rename(path, aside))) throw conflict(path, 'removed just now')
  const stamp = await matchOf(work, aside, was)
  if (stamp === null) throw conflict(path, 'changed just now')
  return stamp
}

const putInPlace = (
  work: WorkFs,
  { path, will, fresh }: Step,
  targetOf: (step: FileRecord) => Uint8Array,
): void => {
  if (will.kind === 'absent') return
  checkFolder(work, path)
  const isPlaced = allowing(['EEXIST'], () =>
    fresh === null ? work.makeLink(targetOf(will), path) : giveName(work, fresh, path),
  )
  if (!isPlaced) throw conflict(path, 'appeared just now')
}

/** The folders whose entries a restore changes. */
export const foldersOf = ({ steps, makeFolders, removeFolders }: Steps): readonly string[] => {
  const paths = [
    ...steps.flatMap(({ path, aside, fresh }) => [path, aside ?? path, fresh ?? path]),
    ...makeFolders,
    ...removeFolders.map(({ path }) => path),
  ]
  return [...new Set(paths.map((path) => dirname(path)))]
}

const foldersOfAsides = ({ steps }: Steps): readonly string[] => [
  ...new Set(steps.flatMap(({ aside }) => (aside === null ? [] : [dirname(aside)]))),
]

export const syncFolders = async (work: WorkFs, folders: readonly string[]): Promise<void> => {
  for (const folder of folders) if (work.lstat(folder)?.kind === 'folder') await work.syncDir(folder)
}

/**
 * Puts every new file in the place of the old one, which waits aside; durable once it resolved. Throws RestoreConflict where
 * something is not as the plan saw it. Whatever it throws, `rollBack` puts back what was.
 */
export const swap = async (
  work: WorkFs,
  steps: Steps,
  targetOf: (record: FileRecord) => Uint8Array,
): Promise<void> => {
  const stamps = new Map<Step, string | null>()
  for (const step of steps.steps) stamps.set(step, await setAside(work, step))
  // Before anything takes its place: else a power cut may leave the new file and, of the old one, no name to go back to.
  await syncFolders(work, foldersOfAsides(steps))
  for (const { path } of steps.removeFolders)
    if (!allowing(['ENOTEMPTY', 'EEXIST'], () => work.removeDir(path)))
      throw conflict(path, 'a folder with other files in it')
  for (const path of steps.makeFolders) allowing(['EEXIST'], () => work.makeDir(path, 0o777))
  for (const step of steps.steps) putInPlace(work, step, targetOf)
  await syncFolders(work, foldersOf(steps))
  // Whoever had the old file open may have written to it after it was compared.
  for (const [{ path, aside }, stamp] of stamps)
    if (aside !== null && work.lstat(aside)?.stamp !== stamp) throw conflict(path, 'changed just now')
}
