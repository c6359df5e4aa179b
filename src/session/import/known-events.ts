import { hash } from 'node:crypto'
import type { EventId } from '../../events/event.js'

/** What is known of an event that an import made: where it is, and what it said. */
export interface KnownEvent {
  readonly id: EventId
  /** Of all that it says. */
  readonly digest: string
  /** Of its content alone. */
  readonly content: string
  /** It was redacted since: nothing that its source says may bring it back. */
  readonly isRedacted: boolean
}

/** Bytes of an entry: the key's hash, the id, both digests, a mark. */
const keyBytes = 16
const idAt = keyBytes
const digestAt = idAt + 16
const contentAt = digestAt + 8
const markAt = contentAt + 8
const entryBytes = markAt + 1
/** Hex digits of a digest: equal ones by chance are less likely than a disk that lies. */
const digestDigits = 16

const entriesInChunk = 1024
const fullest = 0.75

/**
 * The events of one session by their keys in its source, some 55 bytes an event outside of the heap: a source may hold
 * a million. Keys are told apart by 128 bits of their SHA-256.
 */
export class KnownEvents {
  readonly #chunks: Buffer[] = []
  /** Numbers of entries from 1, where the hashes of their keys point. */
  #table = new Uint32Array(64)
  #count = 0
  /** The key that was asked for last, which mostly is asked for again: hashing costs more than all else here. */
  #asked = ''
  #askedName = nameOf('')

  set(key: string, known: KnownEvent): void {
    if (this.#count + 1 > this.#table.length * fullest) this.#grow()
    const named = this.#nameOf(key)
    const place = this.#placeOf(named)
    const number = this.#table[place] || this.#add(named, place)
    const [chunk, at] = this.#entry(number)
    chunk.write(known.id, at + idAt, 16, 'hex')
    chunk.write(known.digest.slice(0, digestDigits), at + digestAt, 8, 'hex')
    chunk.write(known.content.slice(0, digestDigits), at + contentAt, 8, 'hex')
    chunk[at + markAt] = known.isRedacted ? 1 : 0
  }

  idOf(key: string): EventId | null {
    const entry = this.#find(key)
    if (entry === null) return null
    const [chunk, at] = entry
    return chunk.toString('hex', at + idAt, at + idAt + 16)
  }

  /** How an event compares with what a digest is of; null where there is none of that key. */
  compare(key: string, digest: string): 'same' | 'redacted' | 'changed' | null {
    const entry = this.#find(key)
    if (entry === null) return null
    const [chunk, at] = entry
    if (chunk[at + markAt] === 1) return 'redacted'
    return chunk.toString('hex', at + digestAt, at + digestAt + 8) === digest.slice(0, digestDigits)
      ? 'same'
      : 'changed'
  }

  has(key: string): boolean {
    return this.#find(key) !== null
  }

  /** Whether an event's content is what a digest is of. */
  hasContent(key: string, digest: string): boolean {
    const entry = this.#find(key)
    if (entry === null) return false
    const [chunk, at] = entry
    return chunk.toString('hex', at + contentAt, at + contentAt + 8) === digest.slice(0, digestDigits)
  }

  #nameOf(key: string): Buffer {
    if (key !== this.#asked) {
      this.#askedName = nameOf(key)
      this.#asked = key
    }
    return this.#askedName
  }

  #find(key: string): readonly [Buffer, number] | null {
    const number = this.#table[this.#placeOf(this.#nameOf(key))] ?? 0
    return number === 0 ? null : this.#entry(number)
  }

  #entry(number: number): readonly [Buffer, number] {
    const i = number - 1
    return [this.#chunks[Math.floor(i / entriesInChunk)] as Buffer, (i % entriesInChunk) * entryBytes]
  }

  #add(named: Buffer, place: number): number {
    if (this.#count % entriesInChunk === 0) this.#chunks.push(Buffer.alloc(entriesInChunk * entryBytes))
    const number = ++this.#count
    this.#table[place] = number
    const [chunk, at] = this.#entry(number)
    named.copy(chunk, at, 0, keyBytes)
    return number
  }

  /** Where the number of an entry stands, or would stand. */
  #placeOf(named: Buffer): number {
    const last = this.#table.length - 1
    for (let at = named.readUInt32LE(0) & last; ; at = (at + 1) & last) {
      const number = this.#table[at] ?? 0
      if (number === 0 || this.#isNamed(number, named)) return at
    }
  }

  #isNamed(number: number, named: Buffer): boolean {
    const [chunk, at] = this.#entry(number)
    return named.compare(chunk, at, at + keyBytes, 0, keyBytes) === 0
  }

  #grow(): void {
    this.#table = new Uint32Array(this.#table.length * 2)
    for (let number = 1; number <= this.#count; number++) {
      const [chunk, at] = this.#entry(number)
      this.#table[this.#placeOf(chunk.subarray(at, at + keyBytes))] = number
    }
  }
}

const nameOf = (key: string): Buffer => hash('sha256', key, 'buffer')
