import { basename, dirname, join, resolve } from 'node:path'
import type { LeftOut } from '../events/file-record.js'
import { type ScanRequest, scanFrom } from './scan.js'
import { nameProblem, refusal, type TreePath, treePathOf } from './tree-path.js'
import type { WorkFs } from './work-fs.js'

export interface Resolved {
  readonly paths: ReadonlySet<TreePath>
  readonly refused: readonly LeftOut[]
}

/**
 * The tree paths of what a tool is about to change, from paths as it names them (relative ones to the workspace). Symlinks
 * above a file are followed, so that each file has one path; one that is a symlink itself is tracked as such, and what it
 * leads to as well, since a tool that writes to it changes that. A folder stands for the files in it.
 */
export const resolvePaths = (
  request: ScanRequest,
  given: readonly string[],
  known: Iterable<TreePath>,
): Resolved => {
  const paths = new Set<TreePath>()
  const refused: LeftOut[] = []
  const isExcluded = (absolute: string): boolean =>
    request.exclude.some((folder) => absolute === folder || absolute.startsWith(join(folder, '/')))
  for (const name of given) {
    const problem = nameProblem(name)
    if (problem !== null) {
      refused.push({ path: name, why: problem })
      continue
    }
    for (const absolute of realPaths(request.work, resolve(request.workspace, name))) {
      const path = treePathOf(request.workspace, absolute)
      const why = absolute === request.workspace ? null : refusal(path)
      if (why !== null) refused.push({ path: name, why })
      else if (isExcluded(absolute)) refused.push({ path: name, why: 'it belongs to the store' })
      else if (absolute === request.workspace) addFolder(request, 'workspace', paths, refused)
      else {
        // A folder of that name too: it may be a file afterwards, and was none before.
        paths.add(path)
        if (request.work.lstat(absolute)?.kind === 'folder') addFolder(request, path, paths, refused)
      }
      if (why === null) for (const below of known) if (below.startsWith(`${path}/`)) paths.add(below)
    }
  }
  return { paths, refused }
}

const addFolder = (
  request: ScanRequest,
  folder: TreePath,
  paths: Set<TreePath>,
  refused: LeftOut[],
): void => {
  if (!folder.startsWith('workspace')) {
    refused.push({ path: folder, why: 'a folder outside the workspace: name the files in it' })
    return
  }
  const found = scanFrom(request, folder)
  for (const path of found.paths) paths.add(path)
  refused.push(...found.left)
}

/** The path with every folder above it real; of a symlink also what it leads to. */
const realPaths = (work: WorkFs, absolute: string): readonly string[] => {
  const entry = work.lstat(absolute)
  // The real path has the spelling of the disk, where that ignores case.
  if (entry !== null && entry.kind !== 'link') return [work.realPath(absolute) ?? absolute]
  const itself = join(realFolder(work, dirname(absolute)), basename(absolute))
  if (entry === null) return [itself]
  const target = work.realPath(absolute)
  const isFile = target !== null && work.lstat(target)?.kind === 'file'
  return isFile ? [itself, target] : [itself]
}

/** The real path of a folder, or of the nearest one above it that is there. */
const realFolder = (work: WorkFs, folder: string): string => {
  const real = work.realPath(folder)
  if (real !== null || dirname(folder) === folder) return real ?? folder
  return join(realFolder(work, dirname(folder)), basename(folder))
}
