import { dirname, join } from 'node:path'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BlobRef } from '../content.js'
import { Damaged, NotFound, StoreUnusable, WriteFailed } from '../errors/index.js'
import type { EventId } from '../event.js'
import { sha256 } from '../id.js'
import type { AppendError, BlobStore, Durability } from '../log.js'
import type { Ports } from '../system.js'

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** Blobs as files named by their SHA-256, in `blobs` of the session's folder. */
export const fileBlobs = (folderOf: (session: EventId) => string, { fs, random }: Ports): BlobStore => {
  const folder = (session: EventId): string => join(folderOf(session), 'blobs')

  /** Whether it is there, whole: a file that a power cut left empty is written again. */
  const holds = (path: string, name: string, bytes: number): boolean =>
    fs.stat(path)?.size === bytes && sha256(fs.readFile(path)) === name

  const write = async (path: string, name: string, bytes: Buffer, durability: Durability): Promise<void> => {
    const isThere = holds(path, name, bytes.length)
    const temporary = isThere ? path : `${path}.${random.hex(4)}`
    const file = fs.open(temporary, isThere ? 'append' : 'new')
    try {
      const count = isThere ? bytes.length : file.write(bytes)
      if (count !== bytes.length) throw new Error(`only ${count} of ${bytes.length} bytes; the disk is full`)
      // One that is there may have been written by someone who never synced it.
      if (durability === 'sync') await file.sync()
      if (!isThere) fs.rename(temporary, path)
    } catch (error) {
      if (!isThere) fs.remove(temporary)
      throw new WriteFailed(path, error)
    } finally {
      file.close()
    }
  }

  const put = async (
    session: EventId,
    blobs: ReadonlyMap<string, Buffer>,
    durability: Durability,
  ): Promise<void> => {
    if (blobs.size === 0) return
    const at = folder(session)
    fs.makeDir(at)
    for (const [name, bytes] of blobs) await write(join(at, name), name, bytes, durability)
    if (durability === 'sync') await fs.syncDir(at)
  }

  const get = async (session: EventId, ref: BlobRef): Promise<Buffer> => {
    const path = join(folder(session), isHash(ref.$blob) ? ref.$blob : 'invalid')
    if (fs.stat(path)?.isFile !== true)
      throw new NotFound('blob', ref.$blob, dirname(path), 'restore it from a backup of the folder')
    const bytes = Buffer.from(fs.readFile(path))
    if (sha256(bytes) === ref.$blob) return bytes
    throw new Damaged(path, {
      kind: 'undecodable',
      line: 0,
      offset: 0,
      bytes: bytes.length,
      detail: 'the blob is not what its name says',
    })
  }

  return {
    put: (session, blobs, durability = 'sync') =>
      TE.tryCatch(() => put(session, blobs, durability), asAppendError(folder(session))),
    get,
    list: (session) => fs.readDir(folder(session)).filter(isHash),
  }
}

const asAppendError =
  (path: string) =>
  (error: unknown): AppendError =>
    error instanceof WriteFailed
      ? error
      : new StoreUnusable('the blob cannot be stored', path, 'check its permissions and its disk', error)
