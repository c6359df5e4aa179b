import type { HiddenRules, LeftOut, Scan } from '../events/file-record.js'
import { builtInRules, isAlwaysIgnored, type Rules, rulesWith } from './ignore-rules.js'
import { type RuleFile, readRules, rulesOf } from './rule-files.js'
import { absoluteOf, refusal, type TreePath } from './tree-path.js'
import type { Named, WorkFs } from './work-fs.js'

/** Why such a thing is in no checkpoint: it is never opened, since a pipe would hold us up. */
export const noFile = 'no file, but a pipe, a socket or a device'

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

const cutOffAt = (path: TreePath, limit: string): LeftOut => ({
  path,
  why: `more than ${limit}: this and what comes after it`,
})

/** What is said where there are too many files. */
export const cutOff = (path: TreePath, { files }: ScanLimits): LeftOut => cutOffAt(path, `${files} files`)

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
  /** The `.gitignore` files that held, by path. */
  readonly rules: ReadonlyMap<TreePath, RuleFile>
  readonly hidden: readonly HiddenRules[]
}

/** The rules that a folder has of its own, as text; null where it has none. `above`: those that hold in it without them. */
export type OwnRules = (folder: TreePath, above: Rules) => string | null

/**
 * Finds every file of the workspace, or of one folder of it, that its `.gitignore` files and the built-in list do not leave
 * out. Symlinks are files and are not followed; repositories within are left alone, and said so. `own`: other rules than those
 * on disk.
 */
export const scanFrom = (
  request: ScanRequest,
  start: TreePath = 'workspace',
  own: OwnRules | null = null,
): Scanned => {
  const scan = new WorkspaceScan(request, own)
  scan.walk(start, scan.rulesAbove(start))
  const { paths, isComplete, left, rules, hidden } = scan
  return { paths, complete: isComplete, left, rules, hidden }
}

/** A path as patterns see it. */
export const inWorkspace = (path: TreePath): string => path.slice('workspace/'.length)

class WorkspaceScan {
  readonly paths: TreePath[] = []
  readonly left: LeftOut[] = []
  readonly rules = new Map<TreePath, RuleFile>()
  readonly hidden: HiddenRules[] = []
  isComplete = true
  #bytes = 0
  #isFull = false

  constructor(
    readonly request: ScanRequest,
    readonly own: OwnRules | null,
  ) {}

  rulesAbove(start: TreePath): Rules {
    const names = start.split('/')
    let rules = builtInRules()
    for (let depth = 1; depth < names.length; depth++)
      rules = this.#withOwn(names.slice(0, depth).join('/'), rules)
    return rules
  }

  /** The rules below a folder, its own counted in. */
  #withOwn(folder: TreePath, above: Rules): Rules {
    if (this.own !== null) {
      const text = this.own(folder, above)
      return text === null ? above : rulesWith(above, inWorkspace(folder), text)
    }
    const file = readRules(this.request.work, this.request.workspace, folder)
    if (file === null) return above
    const path = rulesOf(folder)
    const rules = rulesWith(above, inWorkspace(folder), file.text)
    this.rules.set(path, file)
    if (rules.ignores(inWorkspace(path))) this.hidden.push({ path, oid: file.oid })
    return rules
  }

  walk(folder: TreePath, above: Rules): void {
    const { work, workspace } = this.request
    let entries: readonly Named[]
    let rules: Rules
    try {
      entries = work.readDir(absoluteOf(workspace, folder))
      rules = this.#withOwn(folder, above)
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
    if (isAlwaysIgnored(name)) return
    if (rules.ignores(inWorkspace(path) + (kind === 'folder' ? '/' : ''))) return
    if (this.request.exclude.includes(absoluteOf(this.request.workspace, path))) return
    const why = isExact ? refusal(path) : 'its name is not UTF-8'
    if (why !== null) this.#leave(path, why)
    else if (kind === 'other') this.#leave(path, noFile)
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
    if (this.paths.length >= limits.files) this.#stop(cutOff(path, limits))
    else if (this.#bytes + size > limits.totalBytes)
      this.#stop(cutOffAt(path, `${limits.totalBytes} bytes in all`))
    else {
      this.#bytes += size
      this.paths.push(path)
    }
  }

  #stop(left: LeftOut): void {
    this.#isFull = true
    this.isComplete = false
    this.left.push(left)
  }

  #leave(path: TreePath, why: string): void {
    if (this.left.length < maxNamed) this.left.push({ path, why })
    else this.isComplete = false
  }
}
