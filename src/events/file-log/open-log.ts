import { Damaged, Moved, StaleTail, StoreUnusable, SyncFailed, WriteFailed } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { Appended, Durability } from '../log.js'
import type { FileHandle, FileStat } from '../ports.js'
import type { Ports } from '../system.js'
import { newline, privateFile, recoveryWindow, unsyncedMark } from './constants.js'
import { lock } from './lock.js'
import { type Recovery, recovery } from './recover.js'
import { rescue } from './rescue.js'
import { readFully, segmentsOf } from './scan.js'
import { survey } from './survey.js'

/** What is known of the file's end, as long as its size says that no one else wrote. */
interface End {
  readonly size: number
  readonly id: EventId
  readonly at: string
  readonly endsInNewline: boolean
}

interface Request {
  readonly expected: EventId
  readonly lines: readonly Line[]
  readonly durability: Durability
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
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

  close(): void {
    this.#file?.close()
    this.#file = null
    this.#end = null
  }

  async #drain(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch()
      try {
        await this.#commit(batch)
      } catch (error) {
        // Nothing is known of the file any more; whoever waits behind a rejected append decides again (INV-2).
        this.#end = null
        for (const request of [...batch, ...this.#queue.splice(0)]) request.reject(error)
      }
    }
    this.#isBusy = false
  }

  /** The waiting appends that continue one another, up to what one write may hold. */
  #takeBatch(): Request[] {
    const batch: Request[] = []
    let bytes = 0
    for (const request of this.#queue) {
      bytes += request.lines.reduce((sum, line) => sum + line.bytes.length + 1, 0)
      if (batch.length > 0 && bytes > recoveryWindow) break
      batch.push(request)
    }
    this.#queue.splice(0, batch.length)
    return batch
  }

  async #commit(batch: readonly Request[]): Promise<void> {
    const { file, size } = await this.#lockedFile()
    try {
      const end = this.#knownEnd(file, size)
      const { accepted, stale } = follow(end.id, batch)
      const written = this.#write(file, end, accepted)
      if (accepted.some(({ request: { durability } }) => durability === 'sync')) await this.#sync(file)
      for (const { request, tail } of accepted) {
        const own =
          request === accepted[0]?.request && written !== null ? [written, ...request.lines] : request.lines
        request.resolve({ lines: own, tail })
      }
      for (const { expected, reject } of stale)
        reject(new StaleTail(this.session, expected, this.#end?.id ?? end.id))
    } finally {
      if (this.#file === file) file.unlock()
    }
  }

  /** The handle under its lock, and the file at its path: not one that was renamed over or taken away meanwhile. */
  async #lockedFile(): Promise<{ readonly file: FileHandle; readonly size: number }> {
    for (;;) {
      const file = this.#file ?? this.#open()
      await lock(file, 'exclusive', this.holder)
      try {
        const there = this.ports.fs.stat(this.path)
        if (there === null) throw new Moved(this.path)
        if (!isSame(there, this.#identity)) this.close()
        else if ((there.mode & unsyncedMark) !== 0 && !this.#isModeless) await this.#rescue(file)
        else return { file, size: there.size }
      } catch (error) {
        this.close()
        throw error
      }
    }
  }

  #identity: Pick<FileStat, 'dev' | 'ino'> = { dev: 0, ino: 0 }
  /** The file system keeps no modes, so the mark says nothing. */
  #isModeless = false

  #open(): FileHandle {
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
    this.close()
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
    if (tail === null)
      throw new Damaged(this.path, {
        kind: 'no-root',
        line: 1,
        offset: 0,
        bytes: size,
        detail: 'no event at all',
      })
    const at = new Date(Math.max(this.ports.clock.now(), Date.parse(tail.at) + 1)).toISOString()
    return {
      size,
      id: tail.id,
      at: tail.at,
      endsInNewline: found.endsInNewline,
      recovery: recovery(file, found, at),
    }
  }

  /** One write for all (INV-2: at most one fragment is left of it). Gives the `recovered` note, where one was due. */
  #write(file: FileHandle, end: Known, accepted: readonly Accepted[]): Line | null {
    const lines = accepted.flatMap(({ request }) => request.lines)
    const last = lines[lines.length - 1]
    if (last === undefined) {
      this.#end = end.recovery === null ? end : null
      return null
    }
    const { prefix, note } = end.recovery ?? {
      prefix: end.endsInNewline ? noBytes : newlineBytes,
      note: null,
    }
    const bytes = joined(prefix, note === null ? lines : [note, ...lines])
    this.#end = null
    const count = this.#writeBytes(file, bytes)
    if (count !== bytes.length)
      throw new WriteFailed(this.path, new Error(`only ${count} of ${bytes.length} bytes; the disk is full`))
    this.#end = { size: end.size + bytes.length, id: last.id, at: last.at, endsInNewline: true }
    return note
  }

  #writeBytes(file: FileHandle, bytes: Buffer): number {
    try {
      return file.write(bytes)
    } catch (error) {
      throw new WriteFailed(this.path, error)
    }
  }

  async #sync(file: FileHandle): Promise<void> {
    try {
      await file.sync()
    } catch (error) {
      this.#mark(file)
      throw new SyncFailed(this.path, error)
    }
  }

  /** Tells every writer that the cache may lie; a disk that refuses this too is beyond telling. */
  #mark(file: FileHandle): void {
    try {
      file.chmod(privateFile | unsyncedMark)
    } catch {
      this.close()
    }
  }
}

/** The end, and what must be written before anything else where it does not decode. */
type Known = End & { readonly recovery: Recovery | null }

interface Accepted {
  readonly request: Request
  readonly tail: EventId
}

/** Which requests continue the log's end, each the one before it. */
const follow = (
  tail: EventId,
  batch: readonly Request[],
): { readonly accepted: readonly Accepted[]; readonly stale: readonly Request[] } => {
  const accepted: Accepted[] = []
  const stale: Request[] = []
  let end = tail
  for (const request of batch) {
    if (request.expected === end) {
      end = request.lines[request.lines.length - 1]?.id ?? end
      accepted.push({ request, tail: end })
    } else {
      stale.push(request)
    }
  }
  return { accepted, stale }
}

const noBytes = Buffer.alloc(0)
const newlineBytes = Buffer.of(newline)

const joined = (prefix: Buffer, lines: readonly Line[]): Buffer => {
  if (prefix.length === 0 && lines.length === 1)
    return Buffer.concat([(lines[0] as Line).bytes, newlineBytes])
  return Buffer.concat([prefix, ...lines.flatMap(({ bytes }) => [bytes, newlineBytes])])
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
