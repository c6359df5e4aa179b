import * as fs from 'node:fs'
import { promisify } from 'node:util'
import type { Entry, Named, WorkFile, WorkFs } from './work-fs.js'

const fsync = promisify(fs.fsync)
const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_APPEND } = fs.constants
/** Not there on Windows: nothing to add. */
const noFollow = fs.constants.O_NOFOLLOW ?? 0
/** So that a pipe which took a file's place cannot hold us up. */
const noWait = fs.constants.O_NONBLOCK ?? 0
const isWindows = process.platform === 'win32'

const kindOf = (stats: fs.BigIntStats | fs.Dirent): Entry['kind'] => {
  if (stats.isSymbolicLink()) return 'link'
  if (stats.isDirectory()) return 'folder'
  return stats.isFile() ? 'file' : 'other'
}

const entryOf = (stats: fs.BigIntStats): Entry => {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats
  // Windows has no permission bits that say anything.
  const mode = isWindows ? 0o644 : Number(stats.mode & 0o7777n)
  return {
    kind: kindOf(stats),
    dev: String(dev),
    ino: String(ino),
    size: Number(size),
    mode,
    mtimeMs: Number(mtimeNs) / 1e6,
    ctimeMs: Number(ctimeNs) / 1e6,
    birthMs: Number(stats.birthtimeNs) / 1e6,
    stamp: `${dev}.${ino}.${size}.${mode}.${mtimeNs}.${ctimeNs}`,
  }
}

const nothingThere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

class NodeWorkFile implements WorkFile {
  constructor(readonly fd: number) {}
  read(buffer: Uint8Array, position: number): number {
    return fs.readSync(this.fd, buffer, 0, buffer.length, position)
  }
  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(this.fd, bytes, done)
  }
  stat(): Entry {
    return entryOf(fs.fstatSync(this.fd, { bigint: true }))
  }
  chmod(mode: number): void {
    fs.fchmodSync(this.fd, mode)
  }
  sync(): Promise<void> {
    return fsync(this.fd)
  }
  close(): void {
    fs.closeSync(this.fd)
  }
}

const lstat = (path: string): Entry | null => {
  try {
    const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? null : entryOf(stats)
  } catch (error) {
    if (nothingThere.has(codeOf(error))) return null
    throw error
  }
}

const realPath = (path: string): string | null => {
  try {
    return fs.realpathSync.native(path)
  } catch (error) {
    if (nothingThere.has(codeOf(error))) return null
    throw error
  }
}

const whyFixed = (folder: string): string | null => {
  // Windows tells only by trying.
  if (isWindows) return null
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK)
    return null
  } catch (error) {
    return codeOf(error)
  }
}

const readDir = (path: string): readonly Named[] =>
  fs
    .readdirSync(path, { withFileTypes: true, encoding: 'buffer' as BufferEncoding })
    .map((found) => {
      const bytes = found.name as unknown as Buffer
      const name = bytes.toString()
      return { name, kind: kindOf(found), isExact: Buffer.from(name).equals(bytes) }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const syncDir = async (path: string): Promise<void> => {
  // A folder cannot be opened there.
  if (isWindows) return
  const fd = fs.openSync(path, O_RDONLY)
  try {
    await fsync(fd)
  } catch (error) {
    // A file system (of a network, or FUSE) that has nothing to sync for a folder.
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** The user's files on this machine. */
export const nodeWorkFs: WorkFs = {
  lstat,
  realPath,
  whyFixed,
  readLink: (path) => fs.readlinkSync(path, { encoding: 'buffer' }),
  makeLink: (target, path) => fs.symlinkSync(Buffer.from(target), path),
  open: (path, mode) =>
    new NodeWorkFile(
      mode === 'read'
        ? fs.openSync(path, O_RDONLY | noFollow | noWait)
        : fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0o600),
    ),
  readDir,
  rename: fs.renameSync,
  link: fs.linkSync,
  unlink: fs.unlinkSync,
  makeDir: (path, mode) => {
    fs.mkdirSync(path, mode)
  },
  removeDir: (path) => fs.rmdirSync(path),
  syncDir,
  now: Date.now,
}
