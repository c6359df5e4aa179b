import { makeDelta } from './delta.js'
import type { GitObject } from './git-format.js'
import { type PackedObject, packed, packedDelta } from './pack.js'
import type { Reached } from './reachable.js'

/** Deltas on deltas, at most: what reading an object may cost. */
const maxDepth = 40
/** Objects of one path that a new one is compared with. */
const window = 4
/** A pack holds no more (bytes): that much is in memory while it is made. */
const maxPack = 64 * 1024 * 1024
/** Larger objects are no deltas. */
const maxDelta = 1024 * 1024
const bestLevel = 9

interface Held {
  readonly oid: string
  readonly bytes: Buffer
  readonly depth: number
}

/**
 * Objects for one pack after another, versions of one path as deltas on each other: in this process, without git. What a
 * delta builds on is always in the same pack.
 */
export async function* deltaPacks(
  read: (oid: string) => Promise<GitObject>,
  reached: Iterable<readonly [string, Reached]>,
): AsyncGenerator<readonly PackedObject[]> {
  let objects: PackedObject[] = []
  let bytes = 0
  for (const oids of byPath(reached)) {
    let recent: readonly Held[] = []
    for (const oid of oids) {
      const { kind, bytes: content } = await read(oid)
      const { object, held } = smallest(oid, content, recent) ?? {
        object: packed(oid, kind, content, bestLevel),
        held: { oid, bytes: content, depth: 0 },
      }
      objects.push(object)
      bytes += object.raw.length
      if (content.length <= maxDelta) recent = [...recent.slice(1 - window), held]
      if (bytes < maxPack) continue
      yield objects
      objects = []
      bytes = 0
      recent = []
    }
  }
  if (objects.length > 0) yield objects
}

const byPath = (reached: Iterable<readonly [string, Reached]>): Iterable<readonly string[]> => {
  const groups = new Map<string, string[]>()
  for (const [oid, { kind, path }] of reached) {
    const key = `${kind} ${path}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [oid])
    else group.push(oid)
  }
  return groups.values()
}

/** The object as the smallest of the deltas on what came just before it; null where none is worth it. */
const smallest = (
  oid: string,
  bytes: Buffer,
  recent: readonly Held[],
): { readonly object: PackedObject; readonly held: Held } | null => {
  if (bytes.length > maxDelta || bytes.length < 50) return null
  let best: { readonly delta: Buffer; readonly base: Held } | null = null
  for (const base of recent) {
    if (base.depth >= maxDepth) continue
    const delta = makeDelta(base.bytes, bytes)
    if (delta !== null && (best === null || delta.length < best.delta.length)) best = { delta, base }
  }
  if (best === null) return null
  const { delta, base } = best
  return { object: packedDelta(oid, base.oid, delta), held: { oid, bytes, depth: base.depth + 1 } }
}
