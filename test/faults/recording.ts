import { dirname } from 'node:path/posix'
import type { FileHandle, FileStat, LockName, OpenMode } from '../../src/events/ports.js'
import type { SimDisk } from '../sim/disk/disk.js'
import { SimFile } from '../sim/disk/file.js'
import { Changes, type Machine, SimFs } from '../sim/disk/sim-fs.js'
import { SimWorkFs } from '../sim/disk/sim-work-fs.js'
import { Seeded } from '../sim/random.js'

/** What a program did to its disk, call by call, and between them what was acknowledged to it. */
export type Call =
  | { readonly is: 'open'; readonly handle: number; readonly path: string; readonly isNew: boolean }
  | { readonly is: 'write'; readonly handle: number; readonly bytes: Buffer }
  | { readonly is: 'chmod'; readonly handle: number; readonly mode: number }
  | { readonly is: 'sync begins'; readonly sync: number; readonly handle: number }
  | { readonly is: 'folder sync begins'; readonly sync: number; readonly path: string }
  | { readonly is: 'sync ends'; readonly sync: number }
  | { readonly is: 'make folder' | 'remove'; readonly path: string }
  | { readonly is: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly is: 'acknowledged'; readonly what: Acknowledged }

export interface Acknowledged {
  readonly session: string
  readonly ids?: readonly string[]
  readonly place?: 'archived' | 'purged'
  readonly isDone?: boolean
}

/** The port `Fs` on a simulated disk, with everything written down that changes the disk. */
export class RecordingFs extends SimFs {
  readonly calls: Call[] = []
  readonly wrote: Buffer[]
  #last = 0

  constructor(disk: SimDisk) {
    const wrote: Buffer[] = []
    const machine: Machine = {
      disk,
      changes: new Changes(),
      harm: null,
      ask: (_, bytes = 0) => bytes,
      done: () => {},
      waitForDisk: (_, then) => then(false),
      watch: () => () => {},
      lose: () => {},
      attempts: (path, bytes) => {
        if (path.includes('/data.jsonl') || path.includes('/.new-')) wrote.push(Buffer.from(bytes))
      },
    }
    super(machine)
    this.wrote = wrote
  }

  note(call: Call): void {
    this.calls.push(call)
  }

  number(): number {
    return ++this.#last
  }

  override open(path: string, mode: OpenMode): FileHandle {
    const isNew = this.machine.disk.lookUp(path) === null
    const inner = super.open(path, mode)
    const handle = this.number()
    this.note({ is: 'open', handle, path, isNew })
    return new RecordingHandle(this, inner, handle)
  }

  override makeDir(path: string): void {
    if (this.machine.disk.lookUp(path) !== null) return
    const parent = dirname(path)
    if (parent !== path) this.makeDir(parent)
    super.makeDir(path)
    this.note({ is: 'make folder', path })
    const sync = this.number()
    this.note({ is: 'folder sync begins', sync, path: parent })
    this.note({ is: 'sync ends', sync })
  }

  override rename(from: string, to: string): void {
    super.rename(from, to)
    this.note({ is: 'rename', from, to })
  }

  override link(from: string, to: string): void {
    super.link(from, to)
    this.note({ is: 'link', from, to })
  }

  override remove(path: string): void {
    super.remove(path)
    this.note({ is: 'remove', path })
  }

  override async syncDir(path: string): Promise<void> {
    const sync = this.number()
    this.note({ is: 'folder sync begins', sync, path })
    await super.syncDir(path)
    this.note({ is: 'sync ends', sync })
  }
}

class RecordingHandle implements FileHandle {
  constructor(
    readonly fs: RecordingFs,
    readonly inner: FileHandle,
    readonly handle: number,
  ) {}

  get path(): string {
    return this.inner.path
  }
  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.inner.read(buffer, offset, length, position)
  }
  write(bytes: Uint8Array): number {
    this.fs.note({ is: 'write', handle: this.handle, bytes: Buffer.from(bytes) })
    return this.inner.write(bytes)
  }
  stat(): FileStat {
    return this.inner.stat()
  }
  chmod(mode: number): void {
    this.inner.chmod(mode)
    this.fs.note({ is: 'chmod', handle: this.handle, mode })
  }
  async sync(): Promise<void> {
    const sync = this.fs.number()
    this.fs.note({ is: 'sync begins', sync, handle: this.handle })
    await this.inner.sync()
    this.fs.note({ is: 'sync ends', sync })
  }
  tryLock(kind: 'shared' | 'exclusive', which?: LockName): boolean {
    return this.inner.tryLock(kind, which)
  }
  unlock(which?: LockName): void {
    this.inner.unlock(which)
  }
  close(): void {
    this.inner.close()
  }
}

/** The user's files: what `SimWorkFs` does to the disk past its `fs` is written down too. */
export class RecordingWorkFs extends SimWorkFs {
  constructor(readonly recording: RecordingFs) {
    super(recording)
  }

  override makeDir(path: string): void {
    super.makeDir(path)
    this.recording.note({ is: 'make folder', path })
  }
}

/** Keeps whatever it is asked about: of a file that nobody touched a cut leaves all. */
class KeepAll extends Seeded {
  override chance(): boolean {
    return true
  }
  override below(count: number): number {
    return count - 1
  }
}
export const keepAll = new KeepAll(0)

/** A disk as some of the calls left it, and the files of which something waits for the disk. */
export interface Replayed {
  readonly disk: SimDisk
  readonly open: ReadonlySet<SimFile>
}

/** The disk after the first `count` calls, on a copy of the one that they began on: a sync that has not ended did nothing yet. */
export const replayed = (base: SimDisk, calls: readonly Call[], count: number): Replayed => {
  const disk = base.copy()
  const files = new Map<number, SimFile>()
  const syncs = new Map<number, () => void>()
  const changedModes = new Set<SimFile>()
  const fileOf = (handle: number): SimFile => files.get(handle) as SimFile
  for (const call of calls.slice(0, count)) {
    if (call.is === 'open') {
      const file = call.isNew ? disk.makeFile(call.path) : disk.lookUp(call.path)
      if (file?.kind === 'file') files.set(call.handle, file)
    } else if (call.is === 'write') {
      fileOf(call.handle).append(call.bytes, disk.now, disk.options.redirties)
    } else if (call.is === 'chmod') {
      const file = fileOf(call.handle)
      if (file.mode !== call.mode) changedModes.add(file)
      file.mode = call.mode
    } else if (call.is === 'sync begins') {
      const [file, changes] = [fileOf(call.handle), disk.changesSoFar()]
      const promised = file.promise()
      syncs.set(call.sync, () => {
        file.keep(promised)
        disk.keepNames(null, changes)
      })
    } else if (call.is === 'folder sync begins') {
      const [folder, changes] = [disk.lookUp(call.path), disk.changesSoFar()]
      if (folder?.kind === 'folder') syncs.set(call.sync, () => disk.keepNames(folder, changes))
    } else if (call.is === 'sync ends') syncs.get(call.sync)?.()
    else if (call.is === 'make folder') disk.makeFolder(call.path)
    else if (call.is === 'remove') disk.remove(call.path)
    else if (call.is === 'rename') disk.rename(call.from, call.to)
    else if (call.is === 'link') disk.link(call.from, call.to)
  }
  const all = new Set([...disk.files()].map(([, file]) => file))
  const open = new Set([...all].filter((file) => file.promise().sectors.length > 0 || changedModes.has(file)))
  // Where nothing of a file waits for the disk, there is nothing to choose.
  for (const file of all) if (!open.has(file)) file.cut = () => SimFile.prototype.cut.call(file, keepAll)
  return { disk, open }
}

/** Whether a restart may find anything else after a call than before it. */
export const changesDisk = (call: Call): boolean =>
  call.is === 'open' ? call.isNew : call.is !== 'sync begins' && call.is !== 'folder sync begins'
