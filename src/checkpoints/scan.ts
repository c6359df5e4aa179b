import type { LeftOut, Scan } from '../events/file-record.js'
import { builtInRules, isAlwaysIgnored, type Rules, rulesWith } from './ignore-rules.js'
import { absoluteOf, refusal, type TreePath } from './tree-path.js'
import type { Named, WorkFs } from './work-fs.js'

/** Where a search stops, and says so. `fileBytes`: no larger file is taken. */
export interface ScanLimits {
  readonly files: number
  readonly fileBytes: number
  readonly totalBytes: number
}

export const defaultLimits: ScanLimits = {
  files: 50_000,
  fileBytes: 32 * 1024 * 1024,
  totalBytes: 2 * 1024 * 1024 * 1024,
}

/** How many paths that were left out are named: a list in every checkpoint should stay short. */
const maxNamed = 100

export interface ScanRequest {
  readonly work: WorkFs
  readonly workspace: string
  readonly limits: ScanLimits
  /** Real absolute paths that are no part of the workspace though they lie in it (the store itself). */
  readonly exclude: readonly string[]
}

export interface Scanned extends Scan {
  readonly paths: readonly TreePath[]
}

/**
 * Finds every file of the workspace, or of one folder of it, that its `.gitignore` files and the built-in list do not leave
 * out. Symlinks are files and are not followed; repositories within are left alone, and said so.
 */
export const scanFrom = (request: ScanRequest, start: TreePath = 'workspace'): Scanned => {
  const scan = new WorkspaceScan(request)
  scan.walk(start, rulesAbove(request, start))
  return { paths: scan.paths, complete: scan.isComplete, left: scan.left }
}

const rulesAbove = (request: ScanRequest, start: TreePath): Rules => {
  const names = start.split('/')
  let rules = builtInRules()
  for (let depth = 1; depth < names.length; depth++)
    rules = withOwn(request, names.slice(0, depth).join('/'), rules)
  return rules
}

/** The rules below a folder, its own `.gitignore` counted in. */
const withOwn = ({ work, workspace }: ScanRequest, folder: TreePath, above: Rules): Rules => {
  const path = `${absoluteOf(workspace, folder)}/.gitignore`
  if (work.lstat(path)?.kind !== 'file') return above
  const file = work.open(path, 'read')
  try {
    const bytes = Buffer.alloc(Math.min(file.stat().size, maxRules))
    const read = file.read(bytes, 0)
    return rulesWith(above, inWorkspace(folder), bytes.toString('utf8', 0, read))
  } finally {
    file.close()
  }
}
/** Of a `.gitignore` no more is read (bytes). */
const maxRules = 1024 * 1024

const inWorkspace = (path: TreePath): string => path.slice('workspace/'.length)

class WorkspaceScan {
  readonly paths: TreePath[] = []
  readonly left: LeftOut[] = []
  isComplete = true
  #bytes = 0
  #isFull = false

  constructor(readonly request: ScanRequest) {}

  walk(folder: TreePath, above: Rules): void {
    const { work, workspace } = this.request
    let entries: readonly Named[]
    let rules: Rules
    try {
      entries = work.readDir(absoluteOf(workspace, folder))
      rules = withOwn(this.request, folder, above)
    } catch (error) {
      this.#leave(folder, `cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return
    }
    if (folder !== 'workspace' && entries.some(({ name }) => name === '.git')) {
      this.#leave(folder, 'a repository of its own')
      return
    }
    for (const entry of entries) {
      if (this.#isFull) return
      this.#visit(`${folder}/${entry.name}`, entry, rules)
    }
  }

  #visit(path: TreePath, { name, kind, isExact }: Named, rules: Rules): void {
    if (kind === 'other' || isAlwaysIgnored(name)) return
    if (rules.ignores(inWorkspace(path) + (kind === 'folder' ? '/' : ''))) return
    if (this.request.exclude.includes(absoluteOf(this.request.workspace, path))) return
    const why = isExact ? refusal(path) : 'its name is not UTF-8'
    if (why !== null) this.#leave(path, why)
    else if (kind === 'folder') this.walk(path, rules)
    else this.#take(path)
  }

  #take(path: TreePath): void {
    const { limits, work, workspace } = this.request
    const size = work.lstat(absoluteOf(workspace, path))?.size ?? 0
    if (size > limits.fileBytes) {
      this.#leave(path, `larger than ${limits.fileBytes} bytes`)
      return
    }
    if (this.paths.length >= limits.files) this.#stop(path, `more than ${limits.files} files`)
    else if (this.#bytes + size > limits.totalBytes)
      this.#stop(path, `more than ${limits.totalBytes} bytes in all`)
    else {
      this.#bytes += size
      this.paths.push(path)
    }
  }

  #stop(path: TreePath, why: string): void {
    this.#isFull = true
    this.isComplete = false
    this.left.push({ path, why: `${why}: this and what comes after it` })
  }

  #leave(path: TreePath, why: string): void {
    if (this.left.length < maxNamed) this.left.push({ path, why })
    else this.isComplete = false
  }
}
