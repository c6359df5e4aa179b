import { dirname } from 'node:path'
import { Damaged, Moved, StaleTail, StoreUnusable, SyncFailed, WriteFailed } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { Appended, Durability } from '../log.js'
import type { FileHandle, FileStat } from '../ports.js'
import type { Ports } from '../system.js'
import {
  type Accepted,
  type End,
  follow,
  type Known,
  linesOf,
  newlineBytes,
  noBytes,
  type Request,
  settle,
  writesOf,
} from './batch.js'
import { newline, privateFile, recoveryWindow, turn, unsyncedMark } from './constants.js'
import { refuseLink } from './links.js'
import { giveWay, lock, tryLock } from './lock.js'
import { recovery } from './recover.js'
import { rescue } from './rescue.js'
import { readFully, segmentsOf } from './scan.js'
import { noRoot, survey } from './survey.js'

/** The file under its lock, and its size then. */
interface LockedFile {
  readonly file: FileHandle
  readonly size: number
}

/**
 * One log open for appending: one handle, one queue. Appends run one after the other, each under the kernel lock, with
 * one write and one sync; those that wait while a sync is under way share the next (group commit).
 */
export class OpenLog {
  #file: FileHandle | null = null
  #end: End | null = null
  #queue: Request[] = []
  #isBusy = false
  #mustClose = false

  constructor(
    readonly path: string,
    readonly session: EventId,
    readonly ports: Ports,
    readonly holder: () => number | null,
  ) {}

  append(expected: EventId, lines: readonly Line[], durability: Durability): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ expected, lines, durability, resolve, reject })
      if (!this.#isBusy) void this.#drain()
    })
  }

  get isIdle(): boolean {
    return !this.#isBusy
  }

  /** Lets go of the file, once what is under way is done; a later append opens it again. */
  close(): void {
    if (this.#isBusy) this.#mustClose = true
    else this.#letGo()
  }

  #letGo(): void {
    this.#file?.close()
    this.#file = null
    this.#end = null
  }

  /** Waits for nothing where nothing has to be waited for: an append without a sync is then one write and no more. */
  async #drain(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch()
      try {
        const file = this.#fileAtOnce() ?? (await this.#lockedFile())
        const committed = this.#commit(batch, file)
        if (committed !== null) await committed
      } catch (error) {
        // Nothing is known of the file any more; whoever waits behind a rejected append decides again (INV-2).
        this.#end = null
        for (const request of [...batch, ...this.#queue.splice(0)]) request.reject(error)
      }
    }
    this.#isBusy = false
    if (this.#mustClose) this.#letGo()
    this.#mustClose = false
  }

  /** The waiting appends, up to what one write may hold. */
  #takeBatch(): Request[] {
    let bytes = 0
    let count = 0
    for (const { lines } of this.#queue) {
      for (const line of lines) bytes += line.bytes.length + 1
      if (count > 0 && bytes > recoveryWindow) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  /** Null: done, since there was nothing to sync. Lets go of the lock in the end. */
  #commit(batch: readonly Request[], { file, size }: LockedFile): Promise<void> | null {
    let isWaiting = false
    try {
      const end = this.#knownEnd(file, size)
      const { accepted, stale } = follow(end.id, batch)
      const finish = (note: Line | null): void => {
        settle(accepted, end, note)
        for (const { expected, reject } of stale)
          reject(new StaleTail(this.session, expected, this.#end?.id ?? end.id))
      }
      const isSynced = accepted.some(({ request: { durability } }) => durability === 'sync')
      const { note, writes } = this.#prepare(end, accepted)
      if (!isSynced) {
        for (const bytes of writes) this.#write(file, bytes)
        finish(note)
        return null
      }
      isWaiting = true
      return this.#writeAndSync(file, writes)
        .finally(() => this.#unlock(file))
        .then(() => finish(note))
    } finally {
      if (!isWaiting) this.#unlock(file)
    }
  }

  #unlock(file: FileHandle): void {
    if (this.#file === file) file.unlock()
  }

  /** What is longer than one write may be is written in several, each on disk before the next. */
  async #writeAndSync(file: FileHandle, writes: readonly Buffer[]): Promise<void> {
    for (const bytes of writes) {
      this.#write(file, bytes)
      await this.#sync(file)
    }
    if (writes.length === 0) await this.#sync(file)
  }

  /** The open file, where its lock is free and it is still the one at its path; null: look with more patience. */
  #fileAtOnce(): LockedFile | null {
    const file = this.#file
    if (file === null || this.#isTurnOver() || !tryLock(file, 'exclusive')) return null
    const there = this.ports.fs.stat(this.path)
    if (there !== null && isSame(there, this.#identity) && !this.#mustRescue(there))
      return { file, size: there.size }
    file.unlock()
    return null
  }

  #isTurnOver(): boolean {
    return this.ports.clock.now() - this.#turnSince >= turn
  }

  #mustRescue({ mode }: FileStat): boolean {
    return this.#isUnsynced || ((mode & unsyncedMark) !== 0 && !this.#isModeless)
  }

  /** The handle under its lock, and the file at its path: not one that was renamed over or taken away meanwhile. */
  async #lockedFile(): Promise<LockedFile> {
    for (;;) {
      const file = this.#file ?? this.#open()
      if (this.#isTurnOver()) {
        this.#turnSince = this.ports.clock.now()
        await giveWay(file)
      }
      await lock(file, 'exclusive', this.holder)
      try {
        const there = this.ports.fs.stat(this.path)
        if (there === null) throw new Moved(this.path)
        if (!isSame(there, this.#identity)) {
          this.#isUnsynced = false
          this.#letGo()
        } else if (this.#mustRescue(there)) await this.#rescue(file)
        else return { file, size: there.size }
      } catch (error) {
        this.#letGo()
        throw error
      }
    }
  }

  #turnSince = 0
  #identity: Pick<FileStat, 'dev' | 'ino'> = { dev: 0, ino: 0 }
  /** The file system keeps no modes, so the mark says nothing. */
  #isModeless = false
  /** A sync failed here, and the file would not be marked either. */
  #isUnsynced = false

  #open(): FileHandle {
    refuseLink(this.ports.fs, dirname(this.path))
    try {
      const file = this.ports.fs.open(this.path, 'append')
      this.#file = file
      this.#identity = file.stat()
      this.#end = null
      return file
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') throw new Moved(this.path)
      throw new StoreUnusable(
        `the log cannot be written (${code})`,
        this.path,
        'check its permissions and its disk',
        error,
      )
    }
  }

  /** A sync failed here before: what the page cache shows is proved, copied to a new file, and put in its place. */
  async #rescue(file: FileHandle): Promise<void> {
    await rescue(file, this.path, this.ports)
    const there = this.ports.fs.stat(this.path)
    this.#isModeless = there !== null && (there.mode & unsyncedMark) !== 0
    this.#isUnsynced = false
    this.#letGo()
  }

  #knownEnd(file: FileHandle, size: number): Known {
    if (this.#end?.size === size) return { ...this.#end, recovery: null }
    const seen = this.#end === null ? null : this.#endAfter(file, this.#end, size)
    return seen === null ? this.#surveyEnd(file, size) : { ...seen, recovery: null }
  }

  /** Others wrote since: their lines alone are looked at. Null: something there does not decode. */
  #endAfter(file: FileHandle, known: End, size: number): End | null {
    if (!known.endsInNewline || size < known.size || size - known.size > recoveryWindow) return null
    return endOf(readFully(file, known.size, size - known.size), known.size)
  }

  /** The last 4 MiB are held against the rules of recovery; a survey of the whole is made only where they do not decode. */
  #surveyEnd(file: FileHandle, size: number): Known {
    const start = Math.max(0, size - recoveryWindow)
    const bytes = readFully(file, start, size - start)
    const cut = start === 0 ? 0 : bytes.indexOf(newline) + 1
    const plain = start === 0 || cut > 0 ? endOf(bytes.subarray(cut), start + cut) : null
    if (plain !== null) return { ...plain, recovery: null }
    const found = survey(file)
    if (found.damage !== null) throw new Damaged(this.path, found.damage)
    const { tail } = found
    if (tail === null) throw new Damaged(this.path, noRoot)
    const at = new Date(Math.max(this.ports.clock.now(), Date.parse(tail.at) + 1)).toISOString()
    return {
      size,
      id: tail.id,
      at: tail.at,
      endsInNewline: found.endsInNewline,
      recovery: recovery(file, found, at),
    }
  }

  /**
   * The bytes to write: all in one where they fit one, so that at most one fragment is left of them (INV-2) and a hole
   * that a power cut leaves in them lies in the last 4 MiB; the end as it then is; and the `recovered` note where one is
   * due.
   */
  #prepare(
    end: Known,
    accepted: readonly Accepted[],
  ): { readonly note: Line | null; readonly writes: readonly Buffer[] } {
    const lines = accepted.length === 1 ? accepted[0]!.request.lines : accepted.flatMap(linesOf)
    const last = lines[lines.length - 1]
    if (last === undefined) {
      this.#end = end.recovery === null ? end : null
      return { note: null, writes: [] }
    }
    const { prefix, note } = end.recovery ?? {
      prefix: end.endsInNewline ? noBytes : newlineBytes,
      note: null,
    }
    const writes = writesOf(prefix, note === null ? lines : [note, ...lines])
    let { size } = end
    for (const { length } of writes) size += length
    // What fails from here on makes `#drain` forget it.
    this.#end = { size, id: last.id, at: last.at, endsInNewline: true }
    return { note, writes }
  }

  #write(file: FileHandle, bytes: Buffer): void {
    let count: number
    try {
      count = file.write(bytes)
    } catch (error) {
      throw new WriteFailed(this.path, error)
    }
    if (count !== bytes.length)
      throw new WriteFailed(this.path, new Error(`only ${count} of ${bytes.length} bytes; the disk is full`))
  }

  async #sync(file: FileHandle): Promise<void> {
    try {
      await file.sync()
    } catch (error) {
      this.#mark(file)
      throw new SyncFailed(this.path, error)
    }
  }

  /** Tells every writer that the cache may lie; where the disk refuses even this, only this process knows. */
  #mark(file: FileHandle): void {
    try {
      file.chmod(privateFile | unsyncedMark)
    } catch {
      this.#isUnsynced = true
    }
  }
}

const isSame = (a: Pick<FileStat, 'dev' | 'ino'>, b: Pick<FileStat, 'dev' | 'ino'>): boolean =>
  a.dev === b.dev && a.ino === b.ino

/** The end of a log that decodes throughout from `offset` on; null where something does not. */
const endOf = (bytes: Buffer, offset: number): End | null => {
  const segments = segmentsOf(bytes, offset)
  const last = segments[segments.length - 1]
  if (last?.line == null || segments.some(({ line }) => line === null)) return null
  const { id, at } = last.line
  return { size: offset + bytes.length, id, at, endsInNewline: bytes[bytes.length - 1] === newline }
}
