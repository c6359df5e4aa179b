import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createDeflate } from 'node:zlib'
import type { FileHandle, Fs, Random } from '../../events/ports.js'
import { headerOf, type ObjectKind } from './git-format.js'
import { inflateFrom } from './inflate.js'
import type { OpenedObject } from './packs.js'

/** How what is not whole yet is called: git's own `tmp_` it removes itself when it prunes, whoever is at it. */
export const unfinished = 'unfinished_'

/** Objects that stand in a file of their own: what is too large for the memory of a pack. */
export class Loose {
  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly folder: string,
  ) {}

  pathOf(oid: string): string {
    return join(this.folder, oid.slice(0, 2), oid.slice(2))
  }

  has(oid: string): boolean {
    return this.fs.stat(this.pathOf(oid)) !== null
  }

  oids(): readonly string[] {
    return this.fs
      .readDir(this.folder)
      .filter((name) => /^[0-9a-f]{2}$/.test(name))
      .flatMap((first) => this.fs.readDir(join(this.folder, first)).map((rest) => first + rest))
      .filter((oid) => /^[0-9a-f]{40}$/.test(oid))
  }

  /** null where there is none. */
  async open(oid: string): Promise<OpenedObject | null> {
    let file: FileHandle
    try {
      file = this.fs.open(this.pathOf(oid), 'read')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
    const pieces = inflateFrom(file, 0)
    try {
      const first = await pieces.next()
      const bytes = first.done === true ? Buffer.alloc(0) : first.value
      const end = bytes.indexOf(0)
      const header = /^(blob|tree|commit) (\d+)$/.exec(bytes.toString('latin1', 0, Math.max(end, 0)))
      if (header === null) throw new Error('a loose object without a header')
      const [, kind, size] = header
      return {
        kind: kind as ObjectKind,
        size: Number(size),
        pieces: following(file, bytes.subarray(end + 1), pieces),
      }
    } catch (error) {
      await pieces.return(undefined)
      file.close()
      throw error
    }
  }

  /**
   * Writes a blob of `size` bytes piece by piece, synced, and gives its oid; null, and nothing is left, where the source
   * gave another number of bytes (the file changed meanwhile).
   */
  async write(size: number, source: AsyncIterable<Uint8Array>): Promise<string | null> {
    const temporary = join(this.folder, `${unfinished}obj_${this.random.hex(8)}`)
    const file = this.fs.open(temporary, 'new')
    let oid: string | null
    try {
      oid = await deflateInto(file, size, source)
      if (oid !== null) await file.sync()
    } catch (error) {
      file.close()
      this.fs.remove(temporary)
      throw error
    }
    file.close()
    if (oid === null) {
      this.fs.remove(temporary)
      return null
    }
    const folder = join(this.folder, oid.slice(0, 2))
    this.fs.makeDir(folder)
    this.fs.rename(temporary, this.pathOf(oid))
    await this.settle([oid])
    return oid
  }

  /** Makes the names of objects that are there durable: someone else may have put them there, and not synced them yet. */
  async settle(oids: Iterable<string>): Promise<void> {
    const folders = new Set([...oids].map((oid) => dirname(this.pathOf(oid))))
    for (const folder of folders) await this.fs.syncDir(folder)
    if (folders.size > 0) await this.fs.syncDir(this.folder)
  }
}

/** Hashes and deflates a blob into a file; null where the source did not give `size` bytes. */
const deflateInto = async (
  file: FileHandle,
  size: number,
  source: AsyncIterable<Uint8Array>,
): Promise<string | null> => {
  const hash = createHash('sha1')
  let given = 0
  const content = async function* (): AsyncGenerator<Uint8Array> {
    yield headerOf('blob', size)
    for await (const piece of source) {
      given += piece.length
      if (given > size) return
      yield piece
    }
  }
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of content()) {
      hash.update(piece)
      yield piece
    }
  }
  await pipeline(hashed, createDeflate({ level: 1 }), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) writeAll(file, piece)
  })
  return given === size ? hash.digest('hex') : null
}

export const writeAll = (file: FileHandle, bytes: Uint8Array): void => {
  for (let done = 0; done < bytes.length; ) done += file.write(bytes.subarray(done))
}

async function* following(
  file: FileHandle,
  first: Buffer,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    if (first.length > 0) yield first
    yield* rest
  } finally {
    await rest.return(undefined)
    file.close()
  }
}
