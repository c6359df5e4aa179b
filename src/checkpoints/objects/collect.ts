import { join } from 'node:path'
import { writePack } from './batch.js'
import { deltaPacks } from './delta-packs.js'
import type { GitObjects } from './git-objects.js'
import { gitPacks } from './git-packs.js'
import { withLock } from './locks.js'
import { unfinished } from './loose.js'
import { removePack } from './merge-packs.js'
import { type Reached, reachableFrom } from './reachable.js'

export interface Collected {
  /** Bytes that the objects take, before and after. */
  readonly before: number
  readonly after: number
  readonly freedObjects: number
  /** Objects that a ref leads to and that are not there: a session that was pulled without its code. */
  readonly missing: readonly string[]
}

export interface CollectOptions {
  /** Says what would be freed, and changes nothing. */
  readonly dryRun?: boolean
  /** Whether the installed git may do the packing. */
  readonly git?: boolean
}

/** Objects of more bytes are no part of a pack that is made anew: they stand in a file each. */
const large = 8 * 1024 * 1024

/**
 * Frees what no ref reaches, and packs the rest. Packing needs no lock: other processes go on writing. Only then, for a
 * moment alone, is looked again what is reached by now, and what is old removed.
 */
export const collect = (store: GitObjects, options: CollectOptions = {}): Promise<Collected> =>
  withLock(store.fs, join(store.locks, 'gc.lock'), 'exclusive', async () => {
    store.packs.reload()
    const old = store.packs.names()
    const before = bytesOf(store)
    const { reached, missing } = await reachableFrom(store, store.refs().values())
    if (options.dryRun === true) return dryRun(store, reached, missing, before)
    const made = await packAnew(store, reached, options.git !== false)
    const freedObjects = await store.alone(() => sweep(store, reached, old, made))
    await store.tidyRefs()
    return { before, after: bytesOf(store), freedObjects, missing }
  })

const dryRun = (
  store: GitObjects,
  reached: ReadonlyMap<string, Reached>,
  missing: readonly string[],
  before: number,
): Collected => {
  const unreached = [...store.sizes()].filter(([oid]) => !reached.has(oid))
  const freed = unreached.reduce((sum, [, bytes]) => sum + bytes, 0)
  return { before, after: before - freed, freedObjects: unreached.length, missing }
}

const bytesOf = (store: GitObjects): number => {
  let sum = 0
  for (const bytes of store.sizes().values()) sum += bytes
  return sum
}

const packAnew = async (
  store: GitObjects,
  reached: ReadonlyMap<string, Reached>,
  withGit: boolean,
): Promise<readonly string[]> => {
  const small: (readonly [string, Reached])[] = []
  for (const entry of reached) {
    if (store.loose.has(entry[0])) continue
    const size = store.packs.sizeOf(entry[0]) ?? 0
    if (size > large) await store.loose.write(size, store.stream(entry[0]))
    else small.push(entry)
  }
  if (small.length === 0) return []
  const byGit = withGit ? await gitPacks(store.folder, small) : null
  if (byGit !== null) return byGit
  const made: string[] = []
  for await (const objects of deltaPacks((oid) => store.read(oid), small))
    made.push(await writePack(store.fs, store.random, store.packs.folder, objects))
  return made
}

/** Removes the old packs, and what no ref reaches: what came to be reached meanwhile is packed first. */
const sweep = async (
  store: GitObjects,
  reached: ReadonlyMap<string, Reached>,
  old: readonly string[],
  made: readonly string[],
): Promise<number> => {
  const since = (await reachableFrom(store, store.refs().values(), reached)).reached
  const kept = new Set(store.packs.names().filter((name) => made.includes(name) || !old.includes(name)))
  const safe = new Set([...kept].flatMap((name) => store.packs.oids(name)))
  const isSafe = (oid: string) => safe.has(oid) || store.loose.has(oid)
  const rest = [...reached, ...since].filter(([oid]) => !isSafe(oid))
  const more: string[] = []
  for await (const objects of deltaPacks((oid) => store.read(oid), rest))
    more.push(await writePack(store.fs, store.random, store.packs.folder, objects))
  let freed = 0
  const isReached = (oid: string) => reached.has(oid) || since.has(oid)
  const files = new Set(store.fs.readDir(store.packs.folder))
  for (const name of old) {
    if (kept.has(name) || more.includes(name)) continue
    freed += store.packs.oids(name).filter((oid) => !isReached(oid)).length
    removePack(store.fs, store.packs, name, files)
  }
  for (const oid of store.loose.oids()) {
    if (isReached(oid)) continue
    store.fs.remove(store.loose.pathOf(oid))
    freed++
  }
  removeTemporary(store)
  return freed
}

/** What a crash left half-written: nothing refers to it, and nobody writes now. */
const removeTemporary = ({ fs, folder }: GitObjects): void => {
  const packs = join(folder, 'objects', 'pack')
  const names = new Set(fs.readDir(packs))
  for (const name of names)
    if (/^pack-.*\.pack$/.test(name) && !names.has(name.replace(/pack$/, 'idx'))) fs.remove(join(packs, name))
  for (const where of [join(folder, 'objects'), packs])
    for (const name of fs.readDir(where))
      if (name.startsWith('tmp_') || name.startsWith(unfinished)) fs.remove(join(where, name))
}
