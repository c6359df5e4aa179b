import { basename, dirname } from 'node:path/posix'
import type { Entry, Named, WorkFile, WorkFs } from '../../../src/checkpoints/work-fs.js'
import type { FileHandle } from '../../../src/events/ports.js'
import { failure, type SimNode } from './disk.js'
import type { SimFs } from './sim-fs.js'

/** The user's files on the same disk, by the same process: what `SimFs` meets is met here too. There are no symlinks. */
export class SimWorkFs implements WorkFs {
  constructor(readonly fs: SimFs) {}

  lstat(path: string): Entry | null {
    this.fs.machine.ask('stat')
    const node = this.fs.machine.disk.lookUp(path)
    return node === null ? null : entryOf(node)
  }

  realPath(path: string): string | null {
    return this.fs.machine.disk.lookUp(path) === null ? null : path
  }

  readLink(): Uint8Array {
    throw failure('EINVAL')
  }

  whyFixed(): null {
    return null
  }

  makeLink(): void {
    throw failure('EPERM')
  }

  open(path: string, mode: 'read' | 'new'): WorkFile {
    const handle = this.fs.open(path, mode)
    const node = this.fs.machine.disk.lookUp(path)
    return new SimWorkFile(handle, node as SimNode)
  }

  readDir(path: string): readonly Named[] {
    const { disk } = this.fs.machine
    return this.fs.readDir(path).map((name) => {
      const kind = disk.lookUp(`${path}/${name}`)?.kind ?? 'other'
      return { name, kind, isExact: true }
    })
  }

  rename(from: string, to: string): void {
    this.fs.rename(from, to)
  }

  link(from: string, to: string): void {
    this.fs.link(from, to)
  }

  unlink(path: string): void {
    const node = this.fs.machine.disk.lookUp(path)
    if (node === null) throw failure('ENOENT')
    if (node.kind === 'folder') throw failure('EISDIR')
    this.fs.remove(path)
  }

  makeDir(path: string): void {
    this.fs.machine.ask('makeDir')
    this.fs.machine.disk.makeFolder(path)
  }

  removeDir(path: string): void {
    const { folder } = this.fs.machine.disk.folderOf(path)
    const node = folder.names.get(basename(path))
    if (node === undefined) throw failure('ENOENT')
    if (node.kind !== 'folder') throw failure('ENOTDIR')
    if (node.names.size > 0) throw failure('ENOTEMPTY')
    this.fs.remove(path)
  }

  syncDir(path: string): Promise<void> {
    return this.fs.syncDir(path)
  }

  now(): number {
    return this.fs.machine.disk.now
  }
}

class SimWorkFile implements WorkFile {
  constructor(
    readonly handle: FileHandle,
    readonly node: SimNode,
  ) {}

  read(buffer: Uint8Array, position: number): number {
    return this.handle.read(buffer, 0, buffer.length, position)
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += this.handle.write(bytes.subarray(done))
  }

  stat(): Entry {
    this.handle.stat()
    return entryOf(this.node)
  }

  chmod(mode: number): void {
    this.handle.chmod(mode)
  }

  sync(): Promise<void> {
    return this.handle.sync()
  }

  close(): void {
    this.handle.close()
  }
}

const entryOf = (node: SimNode): Entry => {
  const isFile = node.kind === 'file'
  const { size, mode, mtimeMs } = isFile ? node : { size: 0, mode: 0o700, mtimeMs: 0 }
  const ino = String(node.ino)
  return {
    kind: node.kind,
    dev: '1',
    ino,
    size,
    mode,
    mtimeMs,
    ctimeMs: mtimeMs,
    birthMs: 0,
    stamp: `1.${ino}.${size}.${mode}.${mtimeMs}`,
  }
}

/** Makes the folders of a path, and a file in them, as someone at the machine does: on disk at once. */
export const putByHand = ({ machine: { disk } }: SimFs, path: string, bytes: Uint8Array): void => {
  const above = dirname(path)
  const parts = above.split('/').filter((part) => part !== '')
  for (let i = 1; i <= parts.length; i++) {
    const folder = `/${parts.slice(0, i).join('/')}`
    if (disk.lookUp(folder) === null) disk.makeFolder(folder)
  }
  disk.remove(path)
  const file = disk.makeFile(path)
  file.append(bytes, disk.now, disk.options.redirties)
  file.keep(file.promise())
  const changes = disk.changesSoFar()
  for (let folder = above; ; folder = dirname(folder)) {
    const node = disk.lookUp(folder)
    if (node?.kind === 'folder') disk.keepNames(node, changes)
    if (folder === '/') return
  }
}
