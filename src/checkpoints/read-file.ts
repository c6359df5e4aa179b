import { createHash } from 'node:crypto'
import { Unreadable } from './errors/unreadable.js'
import { headerOf, oidOf } from './objects/git-format.js'
import type { Entry, WorkFile, WorkFs } from './work-fs.js'

/** Files of more bytes are never in memory whole: they are read piece by piece. */
export const largeFile = 1024 * 1024
const piece = 1024 * 1024
/** How often a file that changes while it is read is read again. */
const tries = 3

/** What was read of a file: `bytes` of a small one; `entry` is what its stamp was before and after. */
export interface ReadFile {
  readonly oid: string
  readonly entry: Entry
  readonly bytes: Buffer | null
}

/**
 * Reads a file and names its bytes. What it gives is one state of the file: where it changed while it was read, it is read
 * again. Throws Unreadable; null where the file is gone, or is no file any more.
 */
export const readFile = async (work: WorkFs, path: string): Promise<ReadFile | null> => {
  for (let i = 0; i < tries; i++) {
    const read = await tryRead(work, path)
    if (read !== 'changed') return read
  }
  throw new Unreadable(path, 'it changes while it is read')
}

const tryRead = async (work: WorkFs, path: string): Promise<ReadFile | null | 'changed'> => {
  const file = openFile(work, path)
  if (file === null) return null
  try {
    const before = file.stat()
    if (before.kind !== 'file') return null
    const read = before.size > largeFile ? await hashLarge(file, before.size) : readSmall(file, before.size)
    return read === null || file.stat().stamp !== before.stamp ? 'changed' : { ...read, entry: before }
  } catch (error) {
    throw new Unreadable(path, codeOf(error), error)
  } finally {
    file.close()
  }
}

const gone = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'])
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)

const openFile = (work: WorkFs, path: string): WorkFile | null => {
  try {
    return work.open(path, 'read')
  } catch (error) {
    if (gone.has(codeOf(error))) return null
    throw new Unreadable(path, codeOf(error), error)
  }
}

const readSmall = (file: WorkFile, size: number): { oid: string; bytes: Buffer } | null => {
  // One byte more, to see whether it grew.
  const buffer = Buffer.allocUnsafe(size + 1)
  let done = 0
  for (let read = -1; read !== 0 && done <= size; done += read) read = file.read(buffer.subarray(done), done)
  const bytes = buffer.subarray(0, size)
  return done === size ? { oid: oidOf('blob', bytes), bytes } : null
}

const hashLarge = async (file: WorkFile, size: number): Promise<{ oid: string; bytes: null } | null> => {
  const hash = createHash('sha1').update(headerOf('blob', size))
  let done = 0
  for await (const bytes of pieces(file)) {
    hash.update(bytes)
    done += bytes.length
    if (done > size) return null
  }
  return done === size ? { oid: hash.digest('hex'), bytes: null } : null
}

/** A file's bytes from its beginning, letting others run between two pieces. */
async function* pieces(file: WorkFile): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(piece)
    const read = file.read(buffer, position)
    if (read === 0) return
    position += read
    yield buffer.subarray(0, read)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The same of a path, opened and closed. */
export async function* piecesOf(work: WorkFs, path: string): AsyncGenerator<Buffer> {
  const file = work.open(path, 'read')
  try {
    yield* pieces(file)
  } finally {
    file.close()
  }
}
