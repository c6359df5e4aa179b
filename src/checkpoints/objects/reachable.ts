import { ObjectDamaged } from '../errors/object-damaged.js'
import type { ObjectStore } from './object-store.js'

/** An object that a commit leads to; of a blob or a tree, the path where it was met first: what packs well beside what. */
export interface Reached {
  readonly kind: 'commit' | 'tree' | 'blob'
  readonly path: string
}

/**
 * Every object that some commits lead to, newest history first. Passes over what is missing (a session pulled without its
 * code): `missing` names it.
 */
export const reachableFrom = async (
  store: ObjectStore,
  tips: Iterable<string>,
  known: ReadonlyMap<string, Reached> = new Map(),
): Promise<{ readonly reached: ReadonlyMap<string, Reached>; readonly missing: readonly string[] }> => {
  const reached = new Map<string, Reached>()
  const missing: string[] = []
  const isNew = (oid: string) => !reached.has(oid) && !known.has(oid)
  const orMissing = async <T>(oid: string, read: Promise<T>): Promise<T | null> => {
    try {
      return await read
    } catch (error) {
      if (!(error instanceof ObjectDamaged) || store.has(oid)) throw error
      missing.push(oid)
      return null
    }
  }
  const tree = async (oid: string, path: string): Promise<void> => {
    const entries = await orMissing(oid, store.readTree(oid))
    if (entries === null) return
    reached.set(oid, { kind: 'tree', path })
    for (const { mode, name, oid: inner } of entries) {
      if (!isNew(inner)) continue
      if (mode === '40000') await tree(inner, `${path}${name}/`)
      else if (store.has(inner)) reached.set(inner, { kind: 'blob', path: path + name })
      else missing.push(inner)
    }
  }
  const commits = [...tips]
  for (let oid = commits.pop(); oid !== undefined; oid = commits.pop()) {
    if (!isNew(oid)) continue
    const commit = await orMissing(oid, store.readCommit(oid))
    if (commit === null) continue
    reached.set(oid, { kind: 'commit', path: '' })
    if (isNew(commit.tree)) await tree(commit.tree, '')
    commits.push(...commit.parents)
  }
  return { reached, missing }
}
