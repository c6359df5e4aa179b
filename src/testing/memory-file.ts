import type { FileHandle, FileStat, LockName } from '../events/ports.js'

/** What the engine asks of the system, as a fault sees it. */
export type Operation =
  | 'open'
  | 'read'
  | 'write'
  | 'sync'
  | 'chmod'
  | 'tryLock'
  | 'rename'
  | 'link'
  | 'remove'
  | 'makeDir'
  | 'syncDir'
  | 'stat'

/**
 * Looks at each operation before it happens, and may throw in its place. For a write it may give a count instead: so
 * many bytes are taken, as by a full disk.
 */
export type Fault = (operation: Operation, path: string, bytes: number) => number | undefined

/** The error that Node would throw. */
export const systemError = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: injected`), { code })

/** Fails the nth operation of a kind, counted from 1, and every `times` - 1 after it. */
export const failing = (what: Operation, code: string, nth = 1, times = 1): Fault => {
  let seen = 0
  return (operation) => {
    if (operation !== what) return undefined
    seen++
    if (seen >= nth && seen < nth + times) throw systemError(code)
    return undefined
  }
}

/** What stands behind a path, and behind every handle that was opened on it. */
export interface Inode {
  readonly ino: number
  bytes: Buffer
  size: number
  /** The bytes that a power cut leaves. */
  durable: Buffer
  /** Stretches whose sync failed: the cache shows them, and no later sync writes them, though it says all is well. */
  readonly dropped: { readonly from: number; readonly to: number }[]
  mode: number
  mtimeMs: number
  readonly locks: Readonly<Record<LockName, Map<MemoryFile, 'shared' | 'exclusive'>>>
}

/** What a file asks of the file system that it is in. */
interface Owner {
  ask(operation: Operation, path: string, bytes?: number): number | undefined
  tick(): number
  changed(path: string): void
}

export const statOf = ({ ino, size, mtimeMs, mode }: Inode): FileStat => ({
  dev: 1,
  ino,
  size,
  mtimeMs,
  mode,
  isDirectory: false,
  isFile: true,
})

/** An open file of a `MemoryFs`. */
export class MemoryFile implements FileHandle {
  #isOpen = true

  constructor(
    readonly fs: Owner,
    readonly path: string,
    readonly inode: Inode,
    readonly mayWrite: boolean,
  ) {}

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    this.#mustBeOpen()
    this.fs.ask('read', this.path, length)
    const { bytes, size } = this.inode
    return bytes.copy(buffer, offset, position, Math.max(position, Math.min(size, position + length)))
  }

  write(bytes: Uint8Array): number {
    this.#mustBeOpen()
    if (!this.mayWrite) throw systemError('EBADF')
    const count = this.fs.ask('write', this.path, bytes.length) ?? bytes.length
    const { inode } = this
    const end = inode.size + count
    if (end > inode.bytes.length) {
      const grown = Buffer.alloc(Math.max(end, inode.bytes.length * 2))
      inode.bytes.copy(grown)
      inode.bytes = grown
    }
    inode.bytes.set(bytes.subarray(0, count), inode.size)
    inode.size = end
    inode.mtimeMs = this.fs.tick()
    this.fs.changed(this.path)
    return count
  }

  stat(): FileStat {
    this.#mustBeOpen()
    return statOf(this.inode)
  }

  chmod(mode: number): void {
    this.#mustBeOpen()
    this.fs.ask('chmod', this.path)
    this.inode.mode = mode
  }

  async sync(): Promise<void> {
    this.#mustBeOpen()
    await new Promise((resolve) => setImmediate(resolve))
    this.#mustBeOpen()
    const { inode } = this
    try {
      this.fs.ask('sync', this.path)
    } catch (error) {
      inode.dropped.push({ from: inode.durable.length, to: inode.size })
      throw error
    }
    inode.durable = Buffer.from(inode.bytes.subarray(0, inode.size))
    for (const { from, to } of inode.dropped) inode.durable.fill(0, from, to)
  }

  tryLock(kind: 'shared' | 'exclusive', which: LockName = 'log'): boolean {
    this.#mustBeOpen()
    this.fs.ask('tryLock', this.path)
    const locks = this.inode.locks[which]
    for (const [file, held] of locks)
      if (file !== this && (held === 'exclusive' || kind === 'exclusive')) return false
    locks.set(this, kind)
    return true
  }

  unlock(which: LockName = 'log'): void {
    this.#mustBeOpen()
    this.inode.locks[which].delete(this)
  }

  close(): void {
    this.unlock('log')
    this.unlock('queue')
    this.#isOpen = false
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) throw systemError('EBADF')
  }
}
