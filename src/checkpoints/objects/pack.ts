import { hash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { ObjectKind } from './git-format.js'

/** An object as it stands in a pack: whole, or as a delta on another one of the same pack, deflated. */
export interface PackedObject {
  readonly oid: string
  /** Header and deflated bytes, as they go into the pack. */
  readonly raw: Buffer
}

const typeNumbers: Readonly<Record<ObjectKind, number>> = { commit: 1, tree: 2, blob: 3 }
export const refDelta = 7
export const ofsDelta = 6
export const kindNumbers: ReadonlyMap<number, ObjectKind> = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
])

/** Fast: what stays long is packed again by `gc`. */
const fast = 1

const entryHeader = (type: number, size: number): Buffer => {
  const bytes: number[] = []
  let rest = Math.floor(size / 16)
  bytes.push((type << 4) | (size % 16) | (rest > 0 ? 0x80 : 0))
  for (; rest > 0; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
  return Buffer.from(bytes)
}

export const packed = (oid: string, kind: ObjectKind, bytes: Uint8Array, level = fast): PackedObject => ({
  oid,
  raw: Buffer.concat([entryHeader(typeNumbers[kind], bytes.length), deflated(bytes, level)]),
})

/**
 * Up to so many bytes an object is kept as it is, in one block of a deflated stream that says so: trees are mostly hashes,
 * which do not get smaller, and to set up zlib costs more than all else that is done to such an object.
 */
const storedBytes = 512

/** A zlib stream of one stored block (RFC 1950, RFC 1951). */
const stored = (bytes: Uint8Array): Buffer => {
  const { length } = bytes
  const stream = Buffer.allocUnsafe(length + 11)
  stream.writeUInt16BE(0x7801, 0)
  stream[2] = 1
  stream.writeUInt16LE(length, 3)
  stream.writeUInt16LE(0xffff - length, 5)
  stream.set(bytes, 7)
  stream.writeUInt32BE(adler32(bytes), length + 7)
  return stream
}

/** Of up to some thousand bytes: beyond, the sums would have to be reduced on the way. */
const adler32 = (bytes: Uint8Array): number => {
  let a = 1
  let b = 0
  for (const byte of bytes) {
    a += byte
    b += a
  }
  return (b % 65521) * 65536 + (a % 65521)
}

/** Up to so many bytes a window of 4 KiB sees all of an object, so that zlib need not make its large tables for it. */
const smallBytes = 4096
const small = { windowBits: 12, memLevel: 5, chunkSize: 1024 }

const deflated = (bytes: Uint8Array, level: number): Buffer => {
  if (level === fast && bytes.length <= storedBytes) return stored(bytes)
  return deflateSync(bytes, bytes.length <= smallBytes ? { level, ...small } : { level })
}

/** An object as what changes it out of another one of the same pack. */
export const packedDelta = (oid: string, base: string, delta: Buffer): PackedObject => ({
  oid,
  raw: Buffer.concat([
    entryHeader(refDelta, delta.length),
    Buffer.from(base, 'hex'),
    deflateSync(delta, { level: 6 }),
  ]),
})

export interface Pack {
  /** The SHA-1 that ends the pack: what its files are named by. */
  readonly name: string
  readonly pack: Buffer
  readonly index: Buffer
}

const sha1 = (bytes: Buffer): Buffer => Buffer.from(hash('sha1', bytes, 'hex'), 'hex')

/** A pack of version 2 and its index of version 2. No oid twice. */
export const packOf = (objects: readonly PackedObject[]): Pack => {
  const header = Buffer.alloc(12)
  header.write('PACK')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects.length, 8)
  const body = Buffer.concat([header, ...objects.map(({ raw }) => raw)])
  const trailer = sha1(body)
  return {
    name: trailer.toString('hex'),
    pack: Buffer.concat([body, trailer]),
    index: indexOf(objects, trailer),
  }
}

const indexOf = (objects: readonly PackedObject[], trailer: Buffer): Buffer => {
  let offset = 12
  const placed = objects.map(({ oid, raw }) => {
    const at = offset
    offset += raw.length
    return { oid, at, crc: crc32(raw) }
  })
  placed.sort((a, b) => (a.oid < b.oid ? -1 : 1))
  const count = placed.length
  const index = Buffer.alloc(8 + 1024 + 28 * count + 20)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  const counts = new Uint32Array(256)
  placed.forEach(({ oid, at, crc }, i) => {
    index.write(oid, 8 + 1024 + 20 * i, 'hex')
    index.writeUInt32BE(crc, 8 + 1024 + 20 * count + 4 * i)
    index.writeUInt32BE(at, 8 + 1024 + 24 * count + 4 * i)
    const first = Number.parseInt(oid.slice(0, 2), 16)
    counts[first] = (counts[first] as number) + 1
  })
  let sum = 0
  counts.forEach((n, first) => {
    sum += n
    index.writeUInt32BE(sum, 8 + 4 * first)
  })
  trailer.copy(index, 8 + 1024 + 28 * count)
  return Buffer.concat([index, sha1(index)])
}
