import type { Fs, Random } from '../../events/ports.js'
import { writePack } from './batch.js'
import type { Packs } from './packs.js'

/** So many packs of one size class, and they become one: what is looked through stays a few dozen, however many were written. */
const tooMany = 32
/** Packs of this size (bytes) and more are left as they are. */
const large = 64 * 1024 * 1024

/**
 * Makes one pack out of the many small ones of a size class. Their objects are copied as they stand; the old packs are
 * removed once the new one is durable. Nothing else may write meanwhile (the exclusive lock of the objects).
 */
export const mergeSmallPacks = async (fs: Fs, random: Random, packs: Packs): Promise<void> => {
  for (const names of sizeClasses(fs, packs)) {
    if (names.length < tooMany) continue
    const known = new Set<string>()
    const objects = names.flatMap((name) => {
      const raw = packs.raw(name)
      if (raw === null) return []
      return raw.filter(({ oid }) => !known.has(oid) && known.add(oid))
    })
    const merged = names.filter((name) => packs.oids(name).every((oid) => known.has(oid)))
    const made = await writePack(fs, random, packs.folder, objects)
    for (const name of merged) if (name !== made) removePack(fs, packs, name)
    packs.reload()
  }
}

export const removePack = (fs: Fs, packs: Packs, name: string): void => {
  const path = packs.pathOf(name)
  // The index first: a pack without one is nothing to git.
  for (const ending of ['.idx', '.rev', '.bitmap', '.mtimes', '.pack'])
    fs.remove(path.replace(/\.pack$/, ending))
}

/** Packs by the power of 16 of their size, the large ones apart. */
const sizeClasses = (fs: Fs, packs: Packs): Iterable<readonly string[]> => {
  const classes = new Map<number, string[]>()
  for (const name of packs.names()) {
    const size = fs.stat(packs.pathOf(name))?.size ?? large
    if (size >= large) continue
    const power = Math.floor(Math.log2(size) / 4)
    classes.set(power, [...(classes.get(power) ?? []), name])
  }
  return classes.values()
}
