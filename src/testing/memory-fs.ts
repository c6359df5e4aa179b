import { dirname } from 'node:path/posix'
import type { FileHandle, FileStat, Fs, OpenMode } from '../events/ports.js'
import { type Fault, type Inode, MemoryFile, type Operation, statOf, systemError } from './memory-file.js'

/**
 * A file system in memory, with the rules of a POSIX one that the log relies on: appends at the end whoever writes, locks
 * that belong to an open file, files that live on while they are open, renames over a file. Faults are injected by
 * `fault`, and `calls` counts what was asked. Two logs on one of these are two processes.
 */
export class MemoryFs implements Fs {
  fault: Fault = () => undefined
  readonly calls: Partial<Record<Operation, number>> = {}
  readonly #files = new Map<string, Inode>()
  readonly #folders = new Set<string>(['/'])
  readonly #watchers = new Set<{ readonly path: string; readonly onChange: () => void }>()
  #lastIno = 0
  #now = 0

  /** How often an operation was asked for. */
  count(operation: Operation): number {
    return this.calls[operation] ?? 0
  }

  /** Puts a file there as it is, in place of one of that name, without asking for faults. */
  put(path: string, bytes: Uint8Array): void {
    this.#addFolder(dirname(path))
    const file = this.#files.get(path) ?? this.#newInode()
    file.bytes = Buffer.from(bytes)
    file.size = bytes.length
    file.durable = Buffer.from(bytes)
    file.mtimeMs = ++this.#now
    this.#files.set(path, file)
    this.changed(path)
  }

  /** Puts another file at a path; handles of the old one keep it. */
  replace(path: string, bytes: Uint8Array): void {
    this.#files.delete(path)
    this.put(path, bytes)
  }

  bytesOf(path: string): Buffer {
    const { bytes, size } = this.#inode(path)
    return Buffer.from(bytes.subarray(0, size))
  }

  paths(): readonly string[] {
    return [...this.#files.keys()].sort()
  }

  /** What a power cut leaves of the files: the bytes that were synced. No handle of before works on it. */
  afterPowerCut(): MemoryFs {
    const left = new MemoryFs()
    for (const folder of this.#folders) left.#addFolder(folder)
    for (const [path, { durable, mode }] of this.#files) {
      left.put(path, durable)
      left.#inode(path).mode = mode
    }
    return left
  }

  open(path: string, mode: OpenMode): FileHandle {
    this.ask('open', path)
    const there = this.#files.get(path)
    if (there !== undefined) {
      if (mode === 'new') throw systemError('EEXIST')
      return new MemoryFile(this, path, there, mode !== 'read')
    }
    if (mode === 'read' || mode === 'append' || !this.#folders.has(dirname(path))) throw systemError('ENOENT')
    const made = this.#newInode()
    this.#files.set(path, made)
    this.changed(path)
    return new MemoryFile(this, path, made, true)
  }

  stat(path: string): FileStat | null {
    this.ask('stat', path)
    const file = this.#files.get(path)
    if (file !== undefined) return statOf(file)
    if (!this.#folders.has(path)) return null
    return { dev: 1, ino: 0, size: 0, mtimeMs: 0, mode: 0o700, isDirectory: true, isFile: false }
  }

  readFile(path: string): Uint8Array {
    return this.bytesOf(path)
  }

  readDir(path: string): readonly string[] {
    const start = path === '/' ? '/' : `${path}/`
    const names = [...this.#files.keys(), ...this.#folders]
      .filter((name) => name.startsWith(start) && name !== path)
      .map((name) => name.slice(start.length).split('/')[0] as string)
    return [...new Set(names)].sort()
  }

  makeDir(path: string): void {
    this.ask('makeDir', path)
    this.#addFolder(path)
  }

  rename(from: string, to: string): void {
    this.ask('rename', to)
    if (!this.#folders.has(dirname(to))) throw systemError('ENOENT')
    const file = this.#files.get(from)
    if (file !== undefined) {
      this.#files.delete(from)
      this.#files.set(to, file)
    } else {
      this.#renameFolder(from, to)
    }
    this.changed(from)
    this.changed(to)
  }

  link(from: string, to: string): void {
    this.ask('link', to)
    this.#files.set(to, this.#inode(from))
  }

  remove(path: string): void {
    this.ask('remove', path)
    this.#files.delete(path)
    for (const name of this.#files.keys()) if (name.startsWith(`${path}/`)) this.#files.delete(name)
    for (const name of this.#folders)
      if (name === path || name.startsWith(`${path}/`)) this.#folders.delete(name)
    this.changed(path)
  }

  async syncDir(path: string): Promise<void> {
    await Promise.resolve()
    this.ask('syncDir', path)
  }

  watch(path: string, onChange: () => void): () => void {
    const watcher = { path, onChange }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Counts an operation and lets the fault look at it. */
  ask(operation: Operation, path: string, bytes = 0): number | undefined {
    this.calls[operation] = this.count(operation) + 1
    return this.fault(operation, path, bytes)
  }

  changed(path: string): void {
    for (const watcher of this.#watchers)
      if (path === watcher.path || dirname(path) === watcher.path) queueMicrotask(watcher.onChange)
  }

  tick(): number {
    return ++this.#now
  }

  #renameFolder(from: string, to: string): void {
    if (!this.#folders.has(from)) throw systemError('ENOENT')
    if (this.readDir(to).length > 0) throw systemError('ENOTEMPTY')
    const moved = (name: string): string => to + name.slice(from.length)
    const isIn = (name: string): boolean => name === from || name.startsWith(`${from}/`)
    for (const [name, file] of [...this.#files]) {
      if (!isIn(name)) continue
      this.#files.delete(name)
      this.#files.set(moved(name), file)
    }
    for (const name of [...this.#folders]) {
      if (!isIn(name)) continue
      this.#folders.delete(name)
      this.#folders.add(moved(name))
    }
  }

  #addFolder(path: string): void {
    this.#folders.add(path)
    if (path !== dirname(path)) this.#addFolder(dirname(path))
  }

  #inode(path: string): Inode {
    const file = this.#files.get(path)
    if (file === undefined) throw systemError('ENOENT')
    return file
  }

  #newInode(): Inode {
    return {
      ino: ++this.#lastIno,
      bytes: Buffer.alloc(0),
      size: 0,
      durable: Buffer.alloc(0),
      dropped: [],
      mode: 0o600,
      mtimeMs: ++this.#now,
      locks: { log: new Map(), queue: new Map() },
    }
  }
}
