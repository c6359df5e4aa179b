import { join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { writePack } from './batch.js'
import type { Packs } from './packs.js'

/** So many packs of one size class, and they become one: what is looked through stays a few dozen, however many were written. */
const tooMany = 32
/** Packs of more bytes are left as they are: those that are merged are in memory together. */
const maxBytes = 2 * 1024 * 1024

/** Whether there are too many packs of some size. */
export const isMergeDue = (packs: Packs): boolean =>
  packs.count >= tooMany && sizeClasses(packs).some((names) => names.length >= tooMany)

/**
 * Makes one pack out of the many small ones of a size class. Their objects are copied as they stand; the old packs are
 * removed once the new one is durable. Nothing else may write meanwhile (the exclusive lock of the objects).
 */
export const mergeSmallPacks = async (fs: Fs, random: Random, packs: Packs): Promise<void> => {
  for (const names of sizeClasses(packs)) {
    if (names.length < tooMany) continue
    const known = new Set<string>()
    const objects = names.flatMap((name) => {
      const raw = packs.raw(name)
      if (raw === null) return []
      return raw.filter(({ oid }) => !known.has(oid) && known.add(oid))
    })
    const merged = names.filter((name) => packs.oids(name).every((oid) => known.has(oid)))
    const made = await writePack(fs, random, packs.folder, objects)
    const files = new Set(fs.readDir(packs.folder))
    for (const name of merged) if (name !== made) removePack(fs, packs, name, files)
    packs.reload()
  }
}

/** What git may have put beside a pack; the index goes first: a pack without one is nothing to git. */
const endings = ['.idx', '.rev', '.bitmap', '.mtimes', '.keep', '.pack']

/** `files`: the names in the folder of the packs. */
export const removePack = (fs: Fs, packs: Packs, name: string, files: ReadonlySet<string>): void => {
  for (const ending of endings) if (files.has(name + ending)) fs.remove(join(packs.folder, name + ending))
}

/** Packs by the power of 8 of their size, the large ones apart. */
const sizeClasses = (packs: Packs): readonly (readonly string[])[] => {
  const classes = new Map<number, string[]>()
  for (const name of packs.names()) {
    const size = packs.bytesOf(name)
    if (size > maxBytes) continue
    const power = Math.floor(Math.log2(size) / 3)
    const group = classes.get(power)
    if (group === undefined) classes.set(power, [name])
    else group.push(name)
  }
  return [...classes.values()]
}
