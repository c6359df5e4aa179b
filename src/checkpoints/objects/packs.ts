import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { FileHandle, Fs } from '../../events/ports.js'
import { applyDelta } from './delta.js'
import type { GitObject, ObjectKind } from './git-format.js'
import { inflateFrom } from './inflate.js'
import { kindNumbers, ofsDelta, type PackedObject, refDelta } from './pack.js'
import { PackIndex } from './pack-index.js'

/** Where an object stands: in which pack, and at which byte of it. */
interface Place {
  readonly name: string
  readonly offset: number
}

export interface OpenedObject {
  readonly kind: ObjectKind
  readonly size: number
  /** Its bytes, not yet proved. To be read to the end, or returned: the file is open until then. */
  readonly pieces: AsyncIterable<Buffer>
}

interface EntryHead {
  readonly type: number
  readonly size: number
  /** Where the deflated bytes begin. */
  readonly data: number
  /** Of a delta: where its base begins, or its oid. */
  readonly base: number | string | null
}

/** The objects of so many packs of at most so many bytes are held: 2 MiB together. */
const mostHeld = 64
const smallPack = 32 * 1024

/** The packs of a repository, ours and those that git made of them. Indexes are held; packs are opened to be read. */
export class Packs {
  #indexes: Map<string, PackIndex> | null = null
  #known: ReadonlyMap<string, PackIndex> = new Map()
  readonly #bytes = new Map<string, number>()
  /** Objects of small packs that this process wrote, for when they are merged. */
  readonly #raw = new Map<string, readonly PackedObject[]>()
  #stamp = ''

  constructor(
    readonly fs: Fs,
    readonly folder: string,
  ) {}

  /** Forgets what it knows of the folder: another process may have packed anew. */
  reload(): void {
    this.#indexes = null
  }

  /** Looks at the folder again where its entries changed. */
  refresh(): void {
    const stamp = this.#stampNow()
    if (stamp !== this.#stamp) this.reload()
  }

  /** Adds a pack of `bytes` bytes that this process wrote just now. */
  learn(name: string, index: Uint8Array, bytes: number, objects: readonly PackedObject[]): void {
    this.#load().set(name, new PackIndex(index))
    this.#stamp = this.#stampNow()
    this.#bytes.set(name, bytes)
    if (bytes > smallPack) return
    if (this.#raw.size >= mostHeld) this.#raw.clear()
    this.#raw.set(name, objects)
  }

  #stampNow(): string {
    const stat = this.fs.stat(this.folder)
    return stat === null ? '' : `${stat.ino} ${stat.mtimeMs}`
  }

  get count(): number {
    return this.#load().size
  }

  /** The names of the packs, without ending. */
  names(): readonly string[] {
    return [...this.#load().keys()]
  }

  /** The size of a pack (bytes): a pack of one name never changes, so it is asked for once. */
  bytesOf(name: string): number {
    const held = this.#bytes.get(name) ?? this.fs.stat(this.pathOf(name))?.size ?? 0
    this.#bytes.set(name, held)
    return held
  }

  has(oid: string): boolean {
    return this.#find(oid) !== null
  }

  oids(name: string): readonly string[] {
    const index = this.#load().get(name)
    return index === undefined ? [] : Array.from({ length: index.count }, (_, i) => index.oid(i))
  }

  pathOf(name: string): string {
    return join(this.folder, `${name}.pack`)
  }

  /** A whole object; null where no pack holds it. */
  read(oid: string): GitObject | null {
    return this.#within(oid, (file, { offset, name }) => this.#readAt(file, name, offset))
  }

  /** An object's kind and size, and its bytes piece by piece; null where no pack holds it. */
  open(oid: string): OpenedObject | null {
    const place = this.#find(oid)
    if (place === null) return null
    const file = this.fs.open(this.pathOf(place.name), 'read')
    try {
      const head = this.#headAt(file, place.offset)
      const kind = kindNumbers.get(head.type)
      if (kind !== undefined)
        return { kind, size: head.size, pieces: closing(file, inflateFrom(file, head.data)) }
      const { kind: wholeKind, bytes } = this.#readAt(file, place.name, place.offset)
      return { kind: wholeKind, size: bytes.length, pieces: closing(file, once(bytes)) }
    } catch (error) {
      file.close()
      throw error
    }
  }

  /** The size of an object, inflated; null where no pack holds it, or holds it as a delta. */
  sizeOf(oid: string): number | null {
    return this.#within(oid, (file, { offset }) => {
      const { base, size } = this.#headAt(file, offset)
      return base === null ? size : null
    })
  }

  /** What each object takes in its pack (bytes). */
  sizes(): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>()
    for (const [name, index] of this.#load()) {
      const end = (this.fs.stat(this.pathOf(name))?.size ?? 20) - 20
      const placed = Array.from({ length: index.count }, (_, i) => [index.offset(i), index.oid(i)] as const)
      placed.sort((a, b) => a[0] - b[0])
      placed.forEach(([at, oid], i) => {
        sizes.set(oid, (placed[i + 1]?.[0] ?? end) - at)
      })
    }
    return sizes
  }

  /** Every object of a pack as it stands there, for another pack; null where one of them is a delta on an offset. */
  raw(name: string): readonly PackedObject[] | null {
    const index = this.#load().get(name)
    if (index === undefined) return []
    const held = this.#raw.get(name)
    if (held !== undefined) return held
    const bytes = Buffer.from(this.fs.readFile(this.pathOf(name)))
    const placed = Array.from({ length: index.count }, (_, i) => ({ oid: index.oid(i), at: index.offset(i) }))
    placed.sort((a, b) => a.at - b.at)
    const objects = placed.map(({ oid, at }, i) => ({
      oid,
      raw: bytes.subarray(at, placed[i + 1]?.at ?? bytes.length - 20),
    }))
    return objects.some(({ raw }) => (((raw[0] as number) >> 4) & 7) === ofsDelta) ? null : objects
  }

  /** What is known of a pack stays known: a pack of one name never changes. */
  #load(): Map<string, PackIndex> {
    if (this.#indexes !== null) return this.#indexes
    this.#stamp = this.#stampNow()
    const found = new Map<string, PackIndex>()
    const files = new Set(this.fs.readDir(this.folder))
    for (const file of files) {
      const name = file.slice(0, -4)
      // A power cut may leave an index whose pack it took: nothing that it lists is there.
      if (!file.endsWith('.idx') || !files.has(`${name}.pack`)) continue
      found.set(name, this.#known.get(name) ?? new PackIndex(this.fs.readFile(join(this.folder, file))))
    }
    this.#known = found
    this.#indexes = found
    return found
  }

  #find(oid: string): Place | null {
    const wanted = Buffer.from(oid, 'hex')
    for (const [name, index] of this.#load()) {
      const offset = index.find(wanted)
      if (offset !== null) return { name, offset }
    }
    return null
  }

  #within<T>(oid: string, read: (file: FileHandle, place: Place) => T): T | null {
    const place = this.#find(oid)
    if (place === null) return null
    const file = this.fs.open(this.pathOf(place.name), 'read')
    try {
      return read(file, place)
    } finally {
      file.close()
    }
  }

  #headAt(file: FileHandle, offset: number): EntryHead {
    const head = Buffer.alloc(64)
    file.read(head, 0, 64, offset)
    let at = 0
    let byte = head[at++] as number
    const type = (byte >> 4) & 7
    let size = byte & 15
    for (let factor = 16; byte >= 0x80; factor *= 128) {
      byte = head[at++] as number
      size += (byte & 0x7f) * factor
    }
    if (type === refDelta)
      return { type, size, data: offset + at + 20, base: head.toString('hex', at, at + 20) }
    if (type !== ofsDelta) return { type, size, data: offset + at, base: null }
    byte = head[at++] as number
    let back = byte & 0x7f
    while (byte >= 0x80) {
      byte = head[at++] as number
      back = (back + 1) * 128 + (byte & 0x7f)
    }
    return { type, size, data: offset + at, base: offset - back }
  }

  #readAt(file: FileHandle, name: string, offset: number): GitObject {
    const { type, size, data, base } = this.#headAt(file, offset)
    // As much as deflating can take at the worst; what follows is left alone.
    const room = size + Math.ceil(size / 1000) + 1024
    const deflated = Buffer.allocUnsafe(room)
    const read = file.read(deflated, 0, room, data)
    const bytes = inflateSync(deflated.subarray(0, read))
    const kind = kindNumbers.get(type)
    if (kind !== undefined) return { kind, bytes }
    const found =
      typeof base === 'number'
        ? base
        : this.#load()
            .get(name)
            ?.find(Buffer.from(base ?? '', 'hex'))
    if (typeof found !== 'number') throw new Error('the base of a delta is missing')
    const whole = this.#readAt(file, name, found)
    return { kind: whole.kind, bytes: applyDelta(whole.bytes, bytes) }
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* closing(file: FileHandle, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces
  } finally {
    file.close()
  }
}
