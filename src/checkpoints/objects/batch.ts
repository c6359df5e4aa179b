import { join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { type ObjectKind, oidOf } from './git-format.js'
import { type Loose, writeAll } from './loose.js'
import type { ObjectBatch } from './object-store.js'
import { type Pack, type PackedObject, packed, packOf } from './pack.js'
import type { Packs } from './packs.js'

/** Deflated bytes held at most before they become a pack: memory stays bounded whatever a checkpoint holds. */
const maxHeld = 32 * 1024 * 1024

/** Collects small objects into packs, each written once and synced. */
export class Batch implements ObjectBatch {
  readonly #objects = new Map<string, PackedObject>()
  readonly #written = new Set<string>()
  #held = 0

  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly packs: Packs,
    readonly loose: Loose,
  ) {}

  has(oid: string): boolean {
    return this.#objects.has(oid) || this.#written.has(oid) || this.packs.has(oid) || this.loose.has(oid)
  }

  async add(kind: ObjectKind, bytes: Uint8Array): Promise<string> {
    const oid = oidOf(kind, bytes)
    // Small objects are in packs: no look at the disk for a file of each.
    if (this.#objects.has(oid) || this.#written.has(oid) || this.packs.has(oid)) return oid
    const object = packed(oid, kind, bytes)
    this.#objects.set(oid, object)
    this.#held += object.raw.length
    if (this.#held > maxHeld) await this.flush()
    return oid
  }

  async addStream(size: number, source: () => AsyncIterable<Uint8Array>): Promise<string | null> {
    const oid = await this.loose.write(size, source())
    if (oid !== null) this.#written.add(oid)
    return oid
  }

  async flush(): Promise<void> {
    if (this.#objects.size === 0) return
    const made = packOf([...this.#objects.values()])
    const name = await putPack(this.fs, this.random, this.packs.folder, made)
    for (const oid of this.#objects.keys()) this.#written.add(oid)
    this.#objects.clear()
    this.#held = 0
    this.packs.learn(name, made.index)
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
  const temporary = (ending: string) => join(folder, `tmp_${ending}_${random.hex(8)}`)
  const files = [
    { from: temporary('pack'), to: join(folder, `pack-${name}.pack`), bytes: pack },
    { from: temporary('idx'), to: join(folder, `pack-${name}.idx`), bytes: index },
  ]
  try {
    await Promise.all(files.map(({ from, bytes }) => writeSynced(fs, from, bytes)))
    for (const { from, to } of files) fs.rename(from, to)
  } catch (error) {
    for (const { from } of files) fs.remove(from)
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
