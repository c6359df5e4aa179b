import { dirname, join } from 'node:path'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BlobRef } from '../content.js'
import { Damaged, Moved, NotFound, StoreUnusable, Tagged, WriteFailed } from '../errors/index.js'
import type { EventId } from '../event.js'
import { sha256 } from '../id.js'
import type { AppendError, BlobStore, Durability } from '../log.js'
import type { Ports } from '../system.js'
import { refuseLink } from './links.js'
import { makeInside } from './make-inside.js'

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** Blobs as files named by their SHA-256, in `blobs` of the session's folder. */
export const fileBlobs = (folderOf: (session: EventId) => string, { fs, random }: Ports): BlobStore => {
  const folder = (session: EventId): string => join(folderOf(session), 'blobs')

  /** The folders of which this process knows that their own entries are on disk. */
  const durable = new Set<string>()

  /** Whether it is there, whole: a file that a power cut left empty is written again. */
  const holds = (path: string, name: string, bytes: number): boolean =>
    fs.stat(path)?.size === bytes && sha256(fs.readFile(path)) === name

  /** One that is there may have been written by someone who never synced it. False: the disk may not hold it. */
  const syncs = async (path: string): Promise<boolean> => {
    const file = fs.open(path, 'append')
    try {
      await file.sync()
      return true
    } catch {
      return false
    } finally {
      file.close()
    }
  }

  const write = async (path: string, bytes: Buffer, durability: Durability): Promise<void> => {
    const temporary = `${path}.${random.hex(4)}`
    const file = fs.open(temporary, 'new')
    try {
      const count = file.write(bytes)
      if (count !== bytes.length) throw new Error(`only ${count} of ${bytes.length} bytes; the disk is full`)
      if (durability === 'sync') await file.sync()
      fs.rename(temporary, path)
    } catch (error) {
      fs.remove(temporary)
      throw error
    } finally {
      file.close()
    }
  }

  const store = async (at: string, blobs: ReadonlyMap<string, Buffer>, durability: Durability) => {
    makeInside(at, { fs, random })
    for (const [name, bytes] of blobs) {
      const path = join(at, name)
      if (holds(path, name, bytes.length) && (durability === 'none' || (await syncs(path)))) continue
      await write(path, bytes, durability)
    }
    if (durability === 'none') return
    await fs.syncDir(at)
    // The folder may be one that a killed process made, and never synced into the session's.
    if (durable.has(at)) return
    await fs.syncDir(dirname(at))
    durable.add(at)
  }

  const mustBeThere = (session: EventId): void => {
    if (fs.stat(folderOf(session))?.isDirectory !== true) throw new Moved(folderOf(session))
  }

  const put = async (
    session: EventId,
    blobs: ReadonlyMap<string, Buffer>,
    durability: Durability,
  ): Promise<void> => {
    if (blobs.size === 0) return
    // Blobs in a folder of their own would look like a session that lost its log.
    mustBeThere(session)
    refuseLink(fs, folder(session))
    try {
      await store(folder(session), blobs, durability)
    } catch (error) {
      // It may have gone to the archive meanwhile.
      mustBeThere(session)
      throw new WriteFailed(folder(session), error)
    }
  }

  const get = async (session: EventId, ref: BlobRef): Promise<Buffer> => {
    const path = join(folder(session), isHash(ref.$blob) ? ref.$blob : 'invalid')
    refuseLink(fs, dirname(path))
    const stat = fs.stat(path)
    if (stat?.isFile !== true)
      throw new NotFound(
        'blob',
        ref.$blob,
        dirname(path),
        'copy it from a backup, or read past it with --salvage',
      )
    // Whatever the line says of its size, no more is read than it says, and no more than one value can hold.
    if (stat.size > maxBlob || stat.size !== ref.bytes)
      throw damaged(path, stat.size, `the blob has ${stat.size} bytes, and the line says ${ref.bytes}`)
    const bytes = Buffer.from(fs.readFile(path))
    if (sha256(bytes) === ref.$blob) return bytes
    throw damaged(path, bytes.length, 'the blob is not what its name says')
  }

  return {
    put: (session, blobs, durability = 'sync') =>
      TE.tryCatch(() => put(session, blobs, durability), asAppendError(folder(session))),
    get,
    list: (session) => fs.readDir(folder(session)).filter(isHash),
  }
}

/** No string of JavaScript is longer, so no value is. */
const maxBlob = 512 * 1024 * 1024

const damaged = (path: string, bytes: number, detail: string): Damaged =>
  new Damaged(path, { kind: 'blob', line: 0, offset: 0, bytes, detail })

const asAppendError =
  (path: string) =>
  (error: unknown): AppendError =>
    error instanceof Tagged
      ? (error as AppendError)
      : new StoreUnusable('the blob cannot be stored', path, 'check its permissions and its disk', error)
