import { join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { type ObjectKind, oidOf } from './git-format.js'
import { type Loose, unfinished, writeAll } from './loose.js'
import type { ObjectBatch } from './object-store.js'
import { type Pack, type PackedObject, packed, packOf } from './pack.js'
import type { Packs } from './packs.js'

/** Deflated bytes held at most before they become a pack: memory stays bounded whatever a checkpoint holds. */
const maxHeld = 32 * 1024 * 1024

/** A tree or a commit that was written: what it says of others. */
export interface Linked {
  readonly oid: string
  readonly kind: 'tree' | 'commit'
  readonly bytes: Uint8Array
}

/** Collects small objects into packs, each written once and synced. */
export class Batch implements ObjectBatch {
  readonly #objects = new Map<string, PackedObject>()
  readonly #written = new Set<string>()
  /** Objects in files of their own that someone else wrote. */
  readonly #found = new Set<string>()
  readonly #links: Linked[] = []
  #held = 0

  /** `learn` is told of trees and commits once they are durable: the next checkpoint begins with them. */
  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly packs: Packs,
    readonly loose: Loose,
    readonly learn: (linked: Linked) => void = () => {},
  ) {}

  has(oid: string): boolean {
    if (this.#objects.has(oid) || this.#written.has(oid) || this.packs.has(oid)) return true
    if (!this.loose.has(oid)) return false
    this.#found.add(oid)
    return true
  }

  async add(kind: ObjectKind, bytes: Uint8Array): Promise<string> {
    const oid = oidOf(kind, bytes)
    // Small objects are in packs: no look at the disk for a file of each.
    if (this.#objects.has(oid) || this.#written.has(oid) || this.packs.has(oid)) return oid
    const object = packed(oid, kind, bytes)
    this.#objects.set(oid, object)
    this.#held += object.raw.length
    if (kind !== 'blob') this.#links.push({ oid, kind, bytes })
    if (this.#held > maxHeld) await this.flush()
    return oid
  }

  async addStream(size: number, source: () => AsyncIterable<Uint8Array>): Promise<string | null> {
    const oid = await this.loose.write(size, source())
    if (oid !== null) this.#written.add(oid)
    return oid
  }

  async flush(): Promise<void> {
    await this.loose.settle(this.#found)
    this.#found.clear()
    if (this.#objects.size === 0) return
    const objects = [...this.#objects.values()]
    const made = packOf(objects)
    const name = await putPack(this.fs, this.random, this.packs.folder, made)
    for (const oid of this.#objects.keys()) this.#written.add(oid)
    this.#objects.clear()
    this.#held = 0
    this.packs.learn(name, made.index, made.pack.length, objects)
    for (const linked of this.#links.splice(0)) this.learn(linked)
  }
}

/** Writes a pack and its index, durably, and gives its name. The index comes last: without it git sees no pack. */
export const writePack = (
  fs: Fs,
  random: Random,
  folder: string,
  objects: readonly PackedObject[],
): Promise<string> => putPack(fs, random, folder, packOf(objects))

const putPack = async (
  fs: Fs,
  random: Random,
  folder: string,
  { name, pack, index }: Pack,
): Promise<string> => {
  const tag = random.hex(8)
  const temporary = {
    pack: join(folder, `${unfinished}pack_${tag}`),
    index: join(folder, `${unfinished}idx_${tag}`),
  }
  try {
    await Promise.all([writeSynced(fs, temporary.pack, pack), writeSynced(fs, temporary.index, index)])
    fs.rename(temporary.pack, join(folder, `pack-${name}.pack`))
    fs.rename(temporary.index, join(folder, `pack-${name}.idx`))
  } catch (error) {
    for (const path of [temporary.pack, temporary.index]) fs.remove(path)
    throw error
  }
  await fs.syncDir(folder)
  return `pack-${name}`
}

const writeSynced = async (fs: Fs, path: string, bytes: Uint8Array): Promise<void> => {
  const file = fs.open(path, 'new')
  try {
    writeAll(file, bytes)
    await file.sync()
  } finally {
    file.close()
  }
}
