import { dirname } from 'node:path/posix'
import type { Seeded } from '../random.js'
import { SimFile } from './file.js'

export class SimFolder {
  readonly kind = 'folder'
  readonly names = new Map<string, SimNode>()
  /** As the disk holds it. */
  onDisk = new Map<string, SimNode>()
  links = 0
  constructor(public ino: number) {}
}

export type SimNode = SimFile | SimFolder

/** One change of names: all of it reaches the disk, or nothing (a rename changes two names). */
interface Change {
  readonly names: readonly {
    readonly folder: SimFolder
    readonly name: string
    readonly node: SimNode | null
  }[]
}

export const failure = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: simulated`), { code })

/**
 * How names reach the disk before someone syncs them. `journal`: in their order, and any sync takes all before it with
 * it (ext4). `loose`: each by itself, in any order, and only a sync of its folder holds it to that (what POSIX promises).
 */
export type Naming = 'journal' | 'loose'

export interface DiskOptions {
  readonly naming: Naming
  readonly redirties: 'page' | 'sector'
  /** Milliseconds since 1970, as the machine's clock has it. */
  readonly clock: () => number
}

/** A disk with its page cache. Only names and files as POSIX has them: the port's rules for opening are in `SimFs`. */
export class SimDisk {
  root: SimFolder
  #changes: Change[] = []
  #lastIno = 1
  #free: number[] = []

  constructor(readonly options: DiskOptions) {
    this.root = new SimFolder(1)
    this.root.links = 1
  }

  /** File times are as coarse as a kernel's tick. */
  get now(): number {
    return Math.floor(this.options.clock() / 4) * 4
  }

  lookUp(path: string): SimNode | null {
    let node: SimNode = this.root
    for (const name of partsOf(path)) {
      if (node.kind !== 'folder') return null
      const next = node.names.get(name)
      if (next === undefined) return null
      node = next
    }
    return node
  }

  folderOf(path: string): { readonly folder: SimFolder; readonly name: string } {
    const name = partsOf(path).at(-1)
    const folder = this.lookUp(dirname(path))
    if (folder === null || name === undefined) throw failure('ENOENT')
    if (folder.kind !== 'folder') throw failure('ENOTDIR')
    return { folder, name }
  }

  makeFile(path: string): SimFile {
    const { folder, name } = this.folderOf(path)
    const file = new SimFile(this.#newIno(), this.now)
    this.#change([{ folder, name, node: file }])
    return file
  }

  makeFolder(path: string): void {
    const { folder, name } = this.folderOf(path)
    if (folder.names.has(name)) throw failure('EEXIST')
    this.#change([{ folder, name, node: new SimFolder(this.#newIno()) }])
  }

  rename(from: string, to: string): void {
    const source = this.folderOf(from)
    const target = this.folderOf(to)
    const node = source.folder.names.get(source.name)
    if (node === undefined) throw failure('ENOENT')
    const there = target.folder.names.get(target.name)
    if (there === node) return
    if (there?.kind === 'folder') {
      if (node.kind !== 'folder') throw failure('EISDIR')
      if (there.names.size > 0) throw failure('ENOTEMPTY')
    } else if (there !== undefined && node.kind === 'folder') throw failure('ENOTDIR')
    this.#change([
      { ...target, node },
      { ...source, node: null },
    ])
  }

  link(from: string, to: string): void {
    const node = this.lookUp(from)
    if (node === null) throw failure('ENOENT')
    const { folder, name } = this.folderOf(to)
    if (folder.names.has(name)) throw failure('EEXIST')
    this.#change([{ folder, name, node }])
  }

  /** With all it holds; nothing where there is none. Each name goes by itself. */
  remove(path: string): void {
    const node = this.lookUp(path)
    if (node === null) return
    const { folder, name } = this.folderOf(path)
    if (node.kind === 'folder') for (const inner of [...node.names.keys()]) this.remove(`${path}/${inner}`)
    this.#change([{ folder, name, node: null }])
  }

  /** What a sync that begins now will take with it. */
  changesSoFar(): readonly Change[] {
    return [...this.#changes]
  }

  /** A folder was synced (null: some file was), with the changes that were there when that began. */
  keepNames(folder: SimFolder | null, changes: readonly Change[]): void {
    const { naming } = this.options
    if (naming === 'loose' && folder === null) return
    const isOf = (change: Change): boolean =>
      naming === 'journal' || change.names.some((one) => one.folder === folder)
    const kept = new Set(changes.filter(isOf))
    if (naming === 'loose') this.#addEarlier(kept)
    for (const change of this.#changes) if (kept.has(change)) put(change)
    this.#changes = this.#changes.filter((change) => !kept.has(change))
  }

  /** What changed the same names before comes before. */
  #addEarlier(kept: Set<Change>): void {
    const names = new Map<SimFolder, Set<string>>()
    for (const change of [...this.#changes].reverse()) {
      if (!kept.has(change) && !change.names.some(({ folder, name }) => names.get(folder)?.has(name)))
        continue
      kept.add(change)
      for (const { folder, name } of change.names)
        names.set(folder, (names.get(folder) ?? new Set()).add(name))
    }
  }

  /** The power is cut, and comes back: nobody has anything open, and some of what was not synced is gone. */
  cut(seeded: Seeded): void {
    const kept = this.options.naming === 'journal' ? seeded.below(this.#changes.length + 1) : null
    for (const [i, change] of this.#changes.entries())
      if (kept === null ? seeded.chance(0.5) : i < kept) put(change)
    this.#changes = []
    const there = new Set<SimNode>()
    const used = new Set([1])
    const visit = (folder: SimFolder): void => {
      folder.names.clear()
      for (const [name, node] of folder.onDisk) {
        folder.names.set(name, node)
        if (there.has(node)) {
          node.links++
          continue
        }
        there.add(node)
        // The number was given to another file while this one's removal had not reached the disk.
        if (used.has(node.ino)) node.ino = ++this.#lastIno
        used.add(node.ino)
        node.links = 1
        if (node.kind === 'folder') visit(node)
        else node.cut(seeded)
      }
    }
    visit(this.root)
    this.#free = []
    for (let ino = 2; ino <= this.#lastIno; ino++) if (!used.has(ino)) this.#free.push(ino)
  }

  /** Numbers of files that are no more are given to the next ones, as file systems do. */
  release(node: SimNode): void {
    if (node.links > 0 || (node.kind === 'file' && node.handles > 0)) return
    if (!this.#free.includes(node.ino)) this.#free.push(node.ino)
  }

  /** Every file, by its path. */
  *files(folder: SimFolder = this.root, path = ''): Generator<readonly [string, SimFile]> {
    for (const [name, node] of folder.names) {
      if (node.kind === 'file') yield [`${path}/${name}`, node]
      else yield* this.files(node, `${path}/${name}`)
    }
  }

  /** Another disk on which the same stands, all of it synced. */
  copy(): SimDisk {
    const disk = new SimDisk(this.options)
    const copies = new Map<SimFile, SimFile>()
    const copyOf = (node: SimNode): SimNode => {
      if (node.kind === 'folder') return copyFolder(node)
      const copy = copies.get(node) ?? node.copy()
      copies.set(node, copy)
      copy.links = node.links
      return copy
    }
    const copyFolder = (folder: SimFolder): SimFolder => {
      const copy = new SimFolder(folder.ino)
      copy.links = 1
      for (const [name, node] of folder.names) copy.names.set(name, copyOf(node))
      copy.onDisk = new Map(copy.names)
      return copy
    }
    disk.root = copyFolder(this.root)
    disk.#lastIno = this.#lastIno
    return disk
  }

  #newIno(): number {
    const free = this.#free.sort((a, b) => b - a).pop()
    return free ?? ++this.#lastIno
  }

  #change(names: Change['names']): void {
    const gone: SimNode[] = []
    for (const { folder, name, node } of names) {
      const before = folder.names.get(name)
      if (before !== undefined) {
        before.links--
        gone.push(before)
      }
      if (node === null) folder.names.delete(name)
      else {
        node.links++
        folder.names.set(name, node)
      }
    }
    this.#changes.push({ names })
    for (const node of gone) this.release(node)
  }
}

const put = ({ names }: Change): void => {
  for (const { folder, name, node } of names)
    if (node === null) folder.onDisk.delete(name)
    else folder.onDisk.set(name, node)
}

/** The names on a path. Most paths are asked for again and again. */
export const partsOf = (path: string): readonly string[] => {
  const known = parts.get(path)
  if (known !== undefined) return known
  if (parts.size > 5000) parts.clear()
  const made = path.split('/').filter((part) => part !== '')
  parts.set(path, made)
  return made
}
const parts = new Map<string, readonly string[]>()
