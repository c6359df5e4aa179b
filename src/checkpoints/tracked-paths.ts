import { basename, dirname, join, resolve } from 'node:path'
import type { CodeState, LeftOut } from '../events/file-record.js'
import { leadsTo, nearestAbove } from './real-paths.js'
import { noFile, type ScanRequest, scanFrom } from './scan.js'
import { nameProblem, refusal, type TreePath, treePathOf } from './tree-path.js'
import type { WorkFs } from './work-fs.js'

export interface Resolved {
  readonly paths: ReadonlySet<TreePath>
  readonly refused: readonly LeftOut[]
}

/** What is tracked already, and whether the tool is done with what it names. */
export interface Known {
  readonly files: CodeState['files']
  readonly isDone: boolean
}

/**
 * The tree paths of what a tool is about to change, from paths as it names them (relative ones to the workspace). Symlinks
 * above a file are followed, so that each file has one path; one that is a symlink itself is tracked as such, and what it
 * leads to as well, there or not, since a tool that writes to it changes that. A folder stands for the files in it.
 */
export const resolvePaths = (request: ScanRequest, given: readonly string[], known: Known): Resolved => {
  const naming = new Naming(request, known)
  for (const name of given) naming.add(name)
  return naming
}

class Naming implements Resolved {
  readonly paths = new Set<TreePath>()
  readonly refused: LeftOut[] = []

  constructor(
    readonly request: ScanRequest,
    readonly known: Known,
  ) {}

  add(name: string): void {
    const problem = nameProblem(name)
    if (problem !== null) this.refused.push({ path: name, why: problem })
    else for (const absolute of this.#meant(name)) this.#addReal(name, absolute)
  }

  /** The real paths that a name stands for: of a symlink itself, and what it leads to. */
  #meant(name: string): readonly string[] {
    const { work, workspace } = this.request
    const absolute = resolve(workspace, name)
    const entry = work.lstat(absolute)
    if (entry !== null && entry.kind !== 'link') return [work.realPath(absolute) ?? absolute]
    const itself = join(leadsTo(work, dirname(absolute)) ?? dirname(absolute), basename(absolute))
    if (entry === null) return this.#withBlocker(itself)
    const target = leadsTo(work, absolute)
    return target === null || !this.#isWritten(target) ? [itself] : [itself, ...this.#withBlocker(target)]
  }

  /** Whether who writes through a symlink writes this. A tool that has made a link did not touch what it leads to. */
  #isWritten(target: string): boolean {
    const { work, workspace } = this.request
    if (work.lstat(target)?.kind === 'folder') return false
    return !this.known.isDone || this.known.files.has(treePathOf(workspace, target))
  }

  /** A file that stands where a folder has to be made has to go for that. */
  #withBlocker(path: string): readonly string[] {
    const { work } = this.request
    const above = nearestAbove(work, path)
    return work.lstat(path) !== null || work.lstat(above)?.kind === 'folder' ? [path] : [above, path]
  }

  #addReal(name: string, absolute: string): void {
    const { request, paths } = this
    const path = treePathOf(request.workspace, absolute)
    const why = this.#whyNot(absolute, path)
    const isFolder = kindOf(request.work, absolute) === 'folder'
    if (why !== null) this.refused.push({ path: name, why })
    else {
      // A folder of that name too: it may be a file afterwards, and was none before.
      if (absolute !== request.workspace) paths.add(path)
      if (isFolder) this.#addFolder(absolute === request.workspace ? 'workspace' : path)
    }
    if (why === null || why === noFile)
      for (const below of this.known.files.keys()) if (below.startsWith(`${path}/`)) paths.add(below)
  }

  #whyNot(absolute: string, path: TreePath): string | null {
    const { work, workspace, exclude } = this.request
    if (absolute === workspace) return null
    const why = refusal(path)
    if (why !== null) return why
    if (exclude.some((folder) => absolute === folder || absolute.startsWith(join(folder, '/'))))
      return 'it belongs to the store'
    return kindOf(work, absolute) === 'other' ? noFile : null
  }

  #addFolder(folder: TreePath): void {
    if (!folder.startsWith('workspace')) {
      this.refused.push({ path: folder, why: 'a folder outside the workspace: name the files in it' })
      return
    }
    const found = scanFrom(this.request, folder)
    for (const path of found.paths) this.paths.add(path)
    this.refused.push(...found.left)
  }
}

const kindOf = (work: WorkFs, path: string) => work.lstat(path)?.kind ?? 'nothing'
