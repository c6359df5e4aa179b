import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { FileHandle, FileStat, Fs, LockName, OpenMode } from './ports.js'

const fdatasync = promisify(fs.fdatasync)
const fsync = promisify(fs.fsync)

/** Locks a byte far past any file's end, so that where locks bar readers (Windows) they bar none from the log. */
const lockAt: Readonly<Record<LockName, number>> = { log: 2 ** 50, queue: 2 ** 50 + 1 }

type Locks = typeof import('fs-native-extensions')
let locks: Locks | undefined
/** Loaded with the first lock: a program that only reads does without the native module. */
const loadLocks = (): Locks => {
  locks ??= createRequire(import.meta.url)('fs-native-extensions') as Locks
  return locks
}

/** A link in a file's place may lead out of the store (INV-12): ELOOP. Windows has no such flag. */
const noFollow = fs.constants.O_NOFOLLOW ?? 0
const forAppend = fs.constants.O_RDWR | fs.constants.O_APPEND | noFollow

const flags: Readonly<Record<OpenMode, number>> = {
  read: fs.constants.O_RDONLY | noFollow,
  append: forAppend,
  create: forAppend | fs.constants.O_CREAT,
  new: forAppend | fs.constants.O_CREAT | fs.constants.O_EXCL,
}

const statOf = (stats: fs.Stats): FileStat => ({
  dev: stats.dev,
  ino: stats.ino,
  size: stats.size,
  mtimeMs: stats.mtimeMs,
  mode: stats.mode & 0o7777,
  uid: stats.uid,
  isDirectory: stats.isDirectory(),
  isFile: stats.isFile(),
})

/** macOS locks whole files only: the lock beside the log's would be the log's own. There no one is seen to wait. */
const hasByteLocks = process.platform !== 'darwin'
const shared = { shared: true }
const exclusive = { shared: false }

class NodeFile implements FileHandle {
  constructor(
    readonly path: string,
    readonly fd: number,
  ) {}

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.readSync(this.fd, buffer, offset, length, position)
  }
  write(bytes: Uint8Array): number {
    return fs.writeSync(this.fd, bytes)
  }
  stat(): FileStat {
    return statOf(fs.fstatSync(this.fd))
  }
  chmod(mode: number): void {
    fs.fchmodSync(this.fd, mode)
  }
  sync(): Promise<void> {
    return fdatasync(this.fd)
  }
  tryLock(kind: 'shared' | 'exclusive', which: LockName = 'log'): boolean {
    if (which === 'queue' && !hasByteLocks) return kind === 'exclusive'
    return loadLocks().tryLock(this.fd, lockAt[which], 1, kind === 'shared' ? shared : exclusive)
  }
  unlock(which: LockName = 'log'): void {
    if (which === 'queue' && !hasByteLocks) return
    loadLocks().unlock(this.fd, lockAt[which], 1)
  }
  close(): void {
    fs.closeSync(this.fd)
  }
}

const open = (path: string, mode: OpenMode): FileHandle => {
  const isMade = mode === 'new' || (mode === 'create' && !fs.existsSync(path))
  const fd = fs.openSync(path, flags[mode], 0o600)
  // The umask may have taken bits away (INV-12).
  if (isMade) fs.fchmodSync(fd, 0o600)
  return new NodeFile(path, fd)
}

const makeDir = (path: string): void => {
  if (fs.existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDir(parent)
  try {
    fs.mkdirSync(path, 0o700)
    fs.chmodSync(path, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return
  }
  const fd = fs.openSync(parent, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

const syncDir = async (path: string): Promise<void> => {
  const fd = fs.openSync(path, 'r')
  try {
    await fsync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

const readDir = (path: string): readonly string[] => namesIn(() => fs.readdirSync(path))

const readDirNoLinks = (path: string): readonly string[] =>
  namesIn(() =>
    fs.readdirSync(path, { withFileTypes: true }).flatMap((one) => (one.isSymbolicLink() ? [] : one.name)),
  )

const namesIn = (read: () => string[]): readonly string[] => {
  try {
    return read().sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const watch = (path: string, onChange: () => void): (() => void) => {
  try {
    const watcher = fs.watch(path, { persistent: false }, onChange)
    watcher.on('error', onChange)
    return () => watcher.close()
  } catch {
    // No watches left, or none on this file system: whoever watches looks now and then all the same.
    return () => {}
  }
}

/** The file system of this machine. */
export const nodeFs: Fs = {
  open,
  stat: (path) => {
    const stats = fs.statSync(path, { throwIfNoEntry: false })
    return stats === undefined ? null : statOf(stats)
  },
  isLink: (path) => fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  readFile: (path) => {
    const fd = fs.openSync(path, flags.read)
    try {
      return fs.readFileSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  },
  readDir,
  readDirNoLinks,
  makeDir,
  rename: fs.renameSync,
  link: fs.linkSync,
  remove: (path) => fs.rmSync(path, { recursive: true, force: true }),
  syncDir,
  watch,
}
