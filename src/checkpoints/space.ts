import type { EventId } from '../events/event.js'
import type { GitObjects } from './objects/git-objects.js'
import { reachableFrom } from './objects/reachable.js'
import { sessionOf } from './refs.js'

/** What the checkpoints of one session take on disk. */
export interface SessionSpace {
  readonly session: EventId
  readonly archived: boolean
  readonly checkpoints: number
  /** All that its branch leads to, and what no other session's does (bytes). */
  readonly bytes: number
  readonly ownBytes: number
}

export interface Space {
  readonly bytes: number
  /** What no session leads to: `gc` frees it. */
  readonly unreachedBytes: number
  readonly sessions: readonly SessionSpace[]
}

/** What takes space, by session. Reads every commit and tree. */
export const spaceOf = async (store: GitObjects): Promise<Space> => {
  const sizes = store.sizes()
  const found = []
  const users = new Map<string, number>()
  for (const [ref, tip] of store.refs()) {
    const { reached } = await reachableFrom(store, [tip])
    for (const oid of reached.keys()) users.set(oid, (users.get(oid) ?? 0) + 1)
    found.push({ ref, reached })
  }
  const sum = (oids: Iterable<string>): number => {
    let bytes = 0
    for (const oid of oids) bytes += sizes.get(oid) ?? 0
    return bytes
  }
  return {
    bytes: sum(sizes.keys()),
    unreachedBytes: sum([...sizes.keys()].filter((oid) => !users.has(oid))),
    sessions: found.map(({ ref, reached }) => ({
      session: sessionOf(ref),
      archived: ref.startsWith('refs/archive/'),
      checkpoints: [...reached.values()].filter(({ kind }) => kind === 'commit').length,
      bytes: sum(reached.keys()),
      ownBytes: sum([...reached.keys()].filter((oid) => users.get(oid) === 1)),
    })),
  }
}
