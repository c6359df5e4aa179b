import { ObjectDamaged } from './errors/object-damaged.js'
import type { ObjectStore } from './objects/object-store.js'
import { reachableFrom } from './objects/reachable.js'

/** What is wrong with the objects that a session's checkpoints lead to, by their names. */
export interface Proof {
  /** Whether the session has a branch here at all. */
  readonly hasBranch: boolean
  readonly missing: readonly string[]
  /** Blobs whose bytes are not what their names say. */
  readonly damaged: readonly string[]
}

/** Blobs that were read already, and whether they are whole: sessions of one workspace share most of theirs. */
export type Proved = Map<string, boolean>

/** Reads every object that some commits lead to, and holds it against its name. Rejects with ObjectDamaged for a commit or tree. */
export const prove = async (
  store: ObjectStore,
  tips: readonly string[],
  proved: Proved,
): Promise<Omit<Proof, 'hasBranch'>> => {
  const { reached, missing } = await reachableFrom(store, tips)
  const damaged: string[] = []
  for (const [oid, { kind }] of reached) {
    if (kind !== 'blob') continue
    const isWhole = proved.get(oid) ?? (await isProved(store, oid))
    proved.set(oid, isWhole)
    if (!isWhole) damaged.push(oid)
  }
  return { missing, damaged }
}

const isProved = async (store: ObjectStore, oid: string): Promise<boolean> => {
  try {
    for await (const _ of store.stream(oid));
    return true
  } catch (error) {
    if (error instanceof ObjectDamaged) return false
    throw error
  }
}
