import { dirname } from 'node:path/posix'
import type { FileHandle, FileStat, Fs, LockName, OpenMode } from '../../../src/events/ports.js'
import { failure, type SimDisk, type SimFolder, type SimNode } from './disk.js'
import type { Promised, SimFile } from './file.js'

export type Operation =
  | 'open'
  | 'read'
  | 'write'
  | 'sync'
  | 'chmod'
  | 'tryLock'
  | 'stat'
  | 'readDir'
  | 'makeDir'
  | 'rename'
  | 'link'
  | 'remove'
  | 'syncDir'

/** What a process that was killed meets: nothing that it does reaches the machine any more. */
export class Killed extends Error {
  constructor() {
    super('the process was killed')
  }
}

/** Who runs on the machine: says of each call what becomes of it, and lets syncs take their time. */
export interface Machine {
  readonly disk: SimDisk
  /**
   * Looks at a call before it happens. Throws in its place (Killed, or the system's error); of a write, gives the count of
   * bytes that are taken.
   */
  ask(operation: Operation, bytes?: number): number
  /** Looks once more when it has happened: a process may die just then. */
  done(): void
  /** Lets a sync take its time, and calls back. `isLost`: it fails, in the end, with EIO. Never, where the process dies meanwhile. */
  waitForDisk(operation: 'sync' | 'syncDir', then: (isLost: boolean) => void): void
  /** Loses what a failed sync was to write. */
  lose(file: SimFile, promised: Promised): void
  /** Told of every byte that a write was asked to write. */
  attempts(path: string, bytes: Uint8Array): void
  readonly changes: Changes
  /** Calls back when something in the folder changed, in the process's own time. */
  watch(path: string, onChange: () => void): () => void
  /** What this machine does that none may do (harms in machine.ts); null on a sound one. */
  readonly harm: string | null
}

/** Who watches folders, over all processes. */
export class Changes {
  readonly #watchers = new Set<{ readonly path: string; readonly onChange: () => void }>()

  /** `onChange` is called while the change is made, by whoever makes it. */
  watch(path: string, onChange: () => void): () => void {
    const watcher = { path, onChange }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  tell(path: string): void {
    if (this.#watchers.size === 0) return
    const folder = dirname(path)
    for (const watcher of this.#watchers)
      if (watcher.path === folder || watcher.path === path) watcher.onChange()
  }

  clear(): void {
    this.#watchers.clear()
  }
}

/** One process's way to the disk: the port `Fs`, with a table of open files of its own. */
export class SimFs implements Fs {
  readonly #open = new Set<SimHandle>()

  constructor(readonly machine: Machine) {}

  /** The process is gone: the kernel closes what it had open, and its locks with it. */
  closeAll(): void {
    for (const handle of this.#open) handle.release()
    this.#open.clear()
  }

  open(path: string, mode: OpenMode): FileHandle {
    const { machine } = this
    machine.ask('open')
    const there = machine.disk.lookUp(path)
    if (there !== null && mode === 'new') throw failure('EEXIST')
    if (there?.kind === 'folder') throw failure('EISDIR')
    if (there === null && (mode === 'read' || mode === 'append')) throw failure('ENOENT')
    const file = there ?? machine.disk.makeFile(path)
    const handle = new SimHandle(this, path, file, mode !== 'read')
    this.#open.add(handle)
    if (there === null) machine.changes.tell(path)
    machine.done()
    return handle
  }

  stat(path: string): FileStat | null {
    this.machine.ask('stat')
    const node = this.machine.disk.lookUp(path)
    return node === null ? null : statOf(node)
  }

  readFile(path: string): Uint8Array {
    this.machine.ask('read')
    const node = this.machine.disk.lookUp(path)
    if (node === null) throw failure('ENOENT')
    if (node.kind === 'folder') throw failure('EISDIR')
    return Buffer.from(node.bytes.subarray(0, node.size))
  }

  readDir(path: string): readonly string[] {
    this.machine.ask('readDir')
    const node = this.machine.disk.lookUp(path)
    if (node === null) return []
    if (node.kind === 'file') throw failure('ENOTDIR')
    return [...node.names.keys()].sort()
  }

  /** Step by step as the real one does, so that a process may die between two of them. */
  makeDir(path: string): void {
    const { disk } = this.machine
    if (disk.lookUp(path) !== null) return
    const parent = dirname(path)
    if (parent !== path) this.makeDir(parent)
    this.machine.ask('makeDir')
    disk.makeFolder(path)
    this.machine.changes.tell(path)
    this.machine.ask('syncDir')
    disk.keepNames(this.#folder(parent), disk.changesSoFar())
  }

  rename(from: string, to: string): void {
    this.machine.ask('rename')
    this.machine.disk.rename(from, to)
    this.machine.changes.tell(from)
    this.machine.changes.tell(to)
    this.machine.done()
  }

  link(from: string, to: string): void {
    this.machine.ask('link')
    this.machine.disk.link(from, to)
    this.machine.done()
  }

  remove(path: string): void {
    this.machine.ask('remove')
    this.machine.disk.remove(path)
    this.machine.changes.tell(path)
    this.machine.done()
  }

  async syncDir(path: string): Promise<void> {
    const { machine } = this
    machine.ask('syncDir')
    const folder = this.#folder(path)
    const changes = machine.disk.changesSoFar()
    const isLost = await waited(machine, 'syncDir')
    if (isLost) throw failure('EIO')
    if (machine.harm !== 'no-folder-sync') machine.disk.keepNames(folder, changes)
  }

  watch(path: string, onChange: () => void): () => void {
    return this.machine.watch(path, onChange)
  }

  closed(handle: SimHandle): void {
    this.#open.delete(handle)
  }

  #folder(path: string): SimFolder {
    const node = this.machine.disk.lookUp(path)
    if (node === null) throw failure('ENOENT')
    if (node.kind !== 'folder') throw failure('ENOTDIR')
    return node
  }
}

const waited = (machine: Machine, operation: 'sync' | 'syncDir'): Promise<boolean> =>
  new Promise((resolve) => machine.waitForDisk(operation, resolve))

const statOf = (node: SimNode): FileStat =>
  node.kind === 'folder'
    ? { dev: 1, ino: node.ino, size: 0, mtimeMs: 0, mode: 0o700, isDirectory: true, isFile: false }
    : {
        dev: 1,
        ino: node.ino,
        size: node.size,
        mtimeMs: node.mtimeMs,
        mode: node.mode,
        isDirectory: false,
        isFile: true,
      }

class SimHandle implements FileHandle {
  #isOpen = true

  constructor(
    readonly fs: SimFs,
    readonly path: string,
    readonly file: SimFile,
    readonly mayWrite: boolean,
  ) {
    file.handles++
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    this.#ask('read')
    const { bytes, size } = this.file
    const end = Math.min(size, position + length)
    return end <= position ? 0 : bytes.copy(buffer, offset, position, end)
  }

  write(bytes: Uint8Array): number {
    if (!this.mayWrite) throw failure('EBADF')
    const { machine } = this.fs
    machine.attempts(this.path, bytes)
    const count = this.#ask('write', bytes.length)
    const { disk } = machine
    if (count > 0) this.file.append(bytes.subarray(0, count), disk.now, disk.options.redirties)
    machine.changes.tell(this.path)
    machine.done()
    return machine.harm === 'short-writes-unsaid' ? bytes.length : count
  }

  stat(): FileStat {
    this.#ask('stat')
    return statOf(this.file)
  }

  chmod(mode: number): void {
    this.#ask('chmod')
    this.file.mode = mode
  }

  async sync(): Promise<void> {
    this.#ask('sync')
    const { machine } = this.fs
    const promised = this.file.promise()
    const changes = machine.disk.changesSoFar()
    const isLost = await waited(machine, 'sync')
    if (isLost) {
      machine.lose(this.file, promised)
      if (machine.harm === 'no-failed-syncs-told') return
      throw failure('EIO')
    }
    if (machine.harm === 'no-sync') return
    this.file.keep(promised)
    machine.disk.keepNames(null, changes)
  }

  tryLock(kind: 'shared' | 'exclusive', which: LockName = 'log'): boolean {
    this.#ask('tryLock')
    if (this.fs.machine.harm === 'no-locks') return true
    const locks = this.file.held[which]
    for (const [handle, held] of locks)
      if (handle !== this && (held === 'exclusive' || kind === 'exclusive')) return false
    locks.set(this, kind)
    return true
  }

  unlock(which: LockName = 'log'): void {
    this.#mustBeOpen()
    this.file.held[which].delete(this)
  }

  close(): void {
    this.#mustBeOpen()
    this.release()
    this.fs.closed(this)
  }

  release(): void {
    this.#isOpen = false
    this.file.held.log.delete(this)
    this.file.held.queue.delete(this)
    this.file.handles--
    this.fs.machine.disk.release(this.file)
  }

  #ask(operation: Operation, bytes?: number): number {
    this.#mustBeOpen()
    return this.fs.machine.ask(operation, bytes)
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) throw failure('EBADF')
  }
}
