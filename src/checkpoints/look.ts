import { dirname } from 'node:path'
import { Tagged } from '../events/errors/tagged.js'
import { absent, type FileRecord } from '../events/file-record.js'
import { Unreadable } from './errors/unreadable.js'
import { oidOf } from './objects/git-format.js'
import { readFile } from './read-file.js'
import type { StatCache } from './stat-cache.js'
import { absoluteOf, folderAbove, type TreePath } from './tree-path.js'
import type { Entry, WorkFs } from './work-fs.js'

/** What stands at a tracked path on disk now. */
export interface Seen {
  /** As a checkpoint would record it: a folder, a pipe or a device is no file, so absent. */
  readonly record: FileRecord
  readonly there: 'nothing' | Entry['kind']
  /** What stands above it and is no folder: a file, or a symlink, which is not followed. */
  readonly blockedBy: TreePath | null
  /** Of a folder that stands where a file should be: what is in it, at any depth. Only where it was asked for. */
  readonly holds: readonly Held[]
  /** Why its name cannot be given or taken in the folder above it; null where it can. Only where it was asked for. */
  readonly fixed: string | null
  /** Why it could not be read; the record is then worth nothing. */
  readonly unreadable: string | null
}

export interface Held {
  readonly path: TreePath
  readonly isFolder: boolean
}

/** Called with the bytes of each small file (or link) that had to be read, and with the path of each large one. */
export type OnRead = (oid: string, bytes: Buffer | null, absolute: string) => Promise<void>

export interface LookPorts {
  readonly work: WorkFs
  readonly workspace: string
  readonly cache: StatCache
}

export interface LookOptions {
  readonly onRead?: OnRead
  /** Whether to look into folders that stand where a file should be, and at what may be changed. */
  readonly deep?: boolean
}

/** Looks at paths, each folder above them once. Made anew for each look at the disk. */
export class Looker {
  readonly #folders = new Map<TreePath, 'folder' | 'nothing' | TreePath>()
  readonly #fixed = new Map<string, string | null>()

  constructor(
    readonly ports: LookPorts,
    readonly options: LookOptions = {},
  ) {}

  async look(path: TreePath): Promise<Seen> {
    try {
      return await this.#look(path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (error instanceof Tagged || code === undefined) throw error
      return { ...nothing(path, null), unreadable: code }
    }
  }

  async #look(path: TreePath): Promise<Seen> {
    const above = this.#above(path)
    if (above !== 'folder') return nothing(path, above === 'nothing' ? null : above)
    const { work, workspace } = this.ports
    const absolute = absoluteOf(workspace, path)
    const entry = work.lstat(absolute)
    if (entry === null) return nothing(path, null)
    if (entry.kind === 'file') return this.#file(path, absolute, entry)
    if (entry.kind === 'link') return this.#link(path, absolute)
    const holds = entry.kind === 'folder' && this.options.deep === true ? heldBy(work, absolute, path) : []
    return { ...nothing(path, null), there: entry.kind, holds }
  }

  async lookAll(paths: Iterable<TreePath>): Promise<ReadonlyMap<TreePath, Seen>> {
    const seen = new Map<TreePath, Seen>()
    for (const path of paths) {
      const found = this.#unchanged(path) ?? (await this.look(path))
      seen.set(path, this.options.deep === true ? { ...found, fixed: this.#whyFixed(path) } : found)
    }
    return seen
  }

  /** Asks each folder once; where it is still to be made, the one that it will be made in. */
  #whyFixed(path: TreePath): string | null {
    const { work, workspace } = this.ports
    const folder = dirname(absoluteOf(workspace, path))
    const known = this.#fixed.get(folder)
    if (known !== undefined) return known
    const isThere = (above: string): boolean => {
      try {
        return work.lstat(above)?.kind === 'folder'
      } catch {
        return true
      }
    }
    const why = work.whyFixed(isThere(folder) ? folder : nearestFolder(folder, isThere))
    this.#fixed.set(folder, why)
    return why
  }

  /** What most files are: as the cache has them. Without a promise for each; null for all else, errors too. */
  #unchanged(path: TreePath): Seen | null {
    const { work, workspace, cache } = this.ports
    try {
      if (this.#above(path) !== 'folder') return null
      const absolute = absoluteOf(workspace, path)
      const entry = work.lstat(absolute)
      const held = entry?.kind === 'file' ? cache.get(absolute, entry) : null
      return entry === null || held === null ? null : file(path, entry, held)
    } catch {
      return null
    }
  }

  async #file(path: TreePath, absolute: string, entry: Entry): Promise<Seen> {
    const { work, cache } = this.ports
    const held = cache.get(absolute, entry)
    if (held !== null) return file(path, entry, held)
    const readAt = work.now()
    try {
      const read = await readFile(work, absolute)
      if (read === null) return this.#again(path)
      cache.put(absolute, read.entry, read.oid, readAt)
      await this.options.onRead?.(read.oid, read.bytes, absolute)
      return file(path, read.entry, read.oid)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      return { ...nothing(path, null), there: 'file', unreadable: error.why }
    }
  }

  /** It went away, or became something else, between the look and the reading. */
  #again(path: TreePath): Seen {
    const entry = this.ports.work.lstat(absoluteOf(this.ports.workspace, path))
    if (entry === null) return nothing(path, null)
    return { ...nothing(path, null), there: entry.kind, unreadable: 'it changes while it is read' }
  }

  async #link(path: TreePath, absolute: string): Promise<Seen> {
    const target = Buffer.from(this.ports.work.readLink(absolute))
    const oid = oidOf('blob', target)
    await this.options.onRead?.(oid, target, absolute)
    return {
      ...nothing(path, null),
      there: 'link',
      record: { path, kind: 'link', oid, bytes: target.length },
    }
  }

  /** 'folder' where everything above is a folder; else 'nothing', or what is in the way. */
  #above(path: TreePath): 'folder' | 'nothing' | TreePath {
    const folder = folderAbove(path)
    if (folder === undefined) return 'folder'
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    const found = this.#folder(folder)
    this.#folders.set(folder, found)
    return found
  }

  #folder(folder: TreePath): 'folder' | 'nothing' | TreePath {
    const above = this.#above(folder)
    if (above !== 'folder') return above
    const entry = this.ports.work.lstat(absoluteOf(this.ports.workspace, folder))
    if (entry === null) return 'nothing'
    return entry.kind === 'folder' ? 'folder' : folder
  }
}

const nothing = (path: TreePath, blockedBy: TreePath | null): Seen => ({
  record: absent(path),
  there: 'nothing',
  blockedBy,
  holds: [],
  fixed: null,
  unreadable: null,
})

const nearestFolder = (path: string, isThere: (path: string) => boolean): string => {
  const above = dirname(path)
  return above === path || isThere(above) ? above : nearestFolder(above, isThere)
}

const file = (path: TreePath, { mode, size }: Entry, oid: string): Seen => ({
  record: { path, kind: 'file', mode, oid, bytes: size },
  there: 'file',
  blockedBy: null,
  holds: [],
  fixed: null,
  unreadable: null,
})

const heldBy = (work: WorkFs, absolute: string, path: TreePath): readonly Held[] =>
  work.readDir(absolute).flatMap(({ name, kind }) => {
    const inner = `${path}/${name}`
    const isFolder = kind === 'folder'
    return [{ path: inner, isFolder }, ...(isFolder ? heldBy(work, `${absolute}/${name}`, inner) : [])]
  })
