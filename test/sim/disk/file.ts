import type { LockName } from '../../../src/events/ports.js'
import type { Seeded } from '../random.js'

/** What a disk writes whole or not at all (bytes), and what a page cache does. */
export const sector = 512
export const page = 4096

/** What a sync has promised to write: the file as it was when it was asked for. */
export interface Promised {
  readonly size: number
  readonly sectors: readonly number[]
}

export interface Locks {
  readonly held: Record<LockName, Map<object, 'shared' | 'exclusive'>>
}

/**
 * A file twice: as the page cache shows it, and as the disk holds it. Files only grow, so what the disk lacks is: its
 * newest size, and sectors that were written and not yet synced (`dirty`). After a failed sync the cache calls those
 * sectors clean all the same (`dropped`): no later sync writes them, unless they are written to again.
 */
export class SimFile implements Locks {
  readonly kind = 'file'
  readonly held = { log: new Map(), queue: new Map() } as Locks['held']
  bytes: Buffer = Buffer.alloc(0)
  size = 0
  mode = 0o600
  mtimeMs: number
  /** Names in folders, and open handles: without either it is no more. */
  links = 0
  handles = 0
  #disk: Buffer = Buffer.alloc(0)
  #diskSize = 0
  #diskMode = 0o600
  readonly #dirty = new Set<number>()
  readonly #dropped = new Set<number>()
  /** The sizes that the file had after each write that the disk may lack. */
  #ends: number[] = []

  constructor(
    public ino: number,
    now: number,
  ) {
    this.mtimeMs = now
  }

  get isWhole(): boolean {
    return this.#dropped.size === 0
  }

  append(bytes: Uint8Array, now: number, redirties: 'page' | 'sector'): void {
    const from = this.size
    this.#grow(from + bytes.length)
    this.bytes.set(bytes, from)
    this.size = from + bytes.length
    this.mtimeMs = now
    this.#ends.push(this.size)
    const unit = redirties === 'page' ? page : sector
    for (const one of sectorsOf(from, this.size)) this.#dirty.add(one)
    for (const one of sectorsOf(from - (from % unit), this.size))
      if (this.#dropped.delete(one)) this.#dirty.add(one)
  }

  promise(): Promised {
    return { size: this.size, sectors: [...this.#dirty] }
  }

  /** The sync is done: what it promised is on the disk. */
  keep({ size, sectors }: Promised): void {
    for (const one of sectors) {
      this.#put(one, size)
      // Written to since, it is dirty still.
      if (size === this.size || (one + 1) * sector <= size) this.#dirty.delete(one)
    }
    this.#diskSize = Math.max(this.#diskSize, size)
    this.#diskMode = this.mode
    this.#ends = this.#ends.filter((end) => end > size)
  }

  /** The sync failed: some of it may be on the disk, and the cache has forgotten that the rest is not. */
  lose({ size, sectors }: Promised, seeded: Seeded): void {
    for (const one of sectors) {
      if (seeded.chance(0.5)) this.#put(one, this.#version(one, seeded))
      this.#dirty.delete(one)
      this.#dropped.add(one)
    }
    if (seeded.chance(0.3)) this.#diskSize = Math.max(this.#diskSize, size)
  }

  /** The cache lets go of what it calls clean, and reads it from the disk again. */
  evict(): void {
    for (const one of this.#dropped) {
      const [from, to] = [one * sector, Math.min(this.size, (one + 1) * sector)]
      this.bytes.fill(0, from, to)
      this.#disk.copy(this.bytes, from, from, Math.min(to, this.#disk.length))
    }
    this.#dropped.clear()
  }

  /** The power is cut: any of the dirty sectors may be on the disk, in any of its versions, under any of the sizes. */
  cut(seeded: Seeded): void {
    for (const one of this.#dirty) if (seeded.chance(0.5)) this.#put(one, this.#version(one, seeded))
    const size = this.#cutSize(seeded)
    this.#grow(size)
    this.bytes = Buffer.alloc(size)
    this.#disk.copy(this.bytes, 0, 0, size)
    if (seeded.chance(0.5)) this.#diskMode = this.mode
    this.size = size
    this.mode = this.#diskMode
    this.#diskSize = size
    this.#disk = Buffer.from(this.bytes)
    this.#dirty.clear()
    this.#dropped.clear()
    this.#ends = []
    this.held.log.clear()
    this.held.queue.clear()
    this.handles = 0
  }

  #cutSize(seeded: Seeded): number {
    const most = this.size - this.#diskSize
    if (most <= 0) return this.#diskSize
    switch (seeded.below(6)) {
      case 0:
        return this.#diskSize
      case 1:
        return this.size
      case 2:
        return Math.min(this.size, Math.ceil((this.#diskSize + seeded.below(most)) / sector) * sector)
      case 3:
        return this.#diskSize + seeded.below(most)
      case 4:
        return this.size - 1
      default:
        return this.#ends.length === 0 ? this.#diskSize : Math.max(this.#diskSize, seeded.pick(this.#ends))
    }
  }

  /** How much of the file a sector held when it was last written out: up to the end of one of the writes. */
  #version(one: number, seeded: Seeded): number {
    const ends = this.#ends.filter((end) => end > one * sector)
    return ends.length === 0 || seeded.chance(0.6) ? this.size : seeded.pick(ends)
  }

  /** Writes a sector to the disk as it was when the file ended at `end`. */
  #put(one: number, end: number): void {
    const [from, to] = [one * sector, Math.min(end, (one + 1) * sector)]
    if (to <= from) return
    if (this.#disk.length < to) this.#disk = enlarged(this.#disk, Math.max(to, this.bytes.length))
    this.bytes.copy(this.#disk, from, from, to)
  }

  #grow(size: number): void {
    if (size > this.bytes.length) this.bytes = enlarged(this.bytes, Math.max(size, this.bytes.length * 2))
    if (size > this.#disk.length) this.#disk = enlarged(this.#disk, this.bytes.length)
  }

  /** The same file on another disk. */
  copy(): SimFile {
    const copy = new SimFile(this.ino, this.mtimeMs)
    copy.bytes = Buffer.from(this.bytes.subarray(0, this.size))
    copy.size = this.size
    copy.mode = this.mode
    copy.#disk = Buffer.from(copy.bytes)
    copy.#diskSize = this.size
    return copy
  }
}

const enlarged = (bytes: Buffer, size: number): Buffer => {
  const larger = Buffer.alloc(size)
  bytes.copy(larger)
  return larger
}

const sectorsOf = (from: number, to: number): number[] => {
  const sectors: number[] = []
  for (let one = Math.floor(from / sector); one * sector < to; one++) sectors.push(one)
  return sectors
}
