import type { EventId } from '../events/event.js'
import type { GitObjects } from './objects/git-objects.js'
import type { ObjectBatch } from './objects/object-store.js'
import { reachableFrom } from './objects/reachable.js'
import { archiveRef, branchRef } from './refs.js'

/** Copies the branches of sessions, and all that they lead to, from one object store to another. What is there stays. */
export const takeIn = async (
  store: GitObjects,
  from: GitObjects,
  sessions: readonly EventId[],
): Promise<void> => {
  const names = new Set(sessions.flatMap((session) => [branchRef(session), archiveRef(session)]))
  const refs = [...from.refs()].filter(([name]) => names.has(name))
  if (refs.length === 0) return
  const { reached } = await reachableFrom(
    from,
    refs.map(([, tip]) => tip),
  )
  await store.writing(async (batch) => {
    for (const oid of reached.keys()) if (!batch.has(oid)) await copy(batch, from, oid)
    await store.moveRefs(
      async () => new Map(refs.filter(([name]) => store.ref(name) === null)),
      () => batch.flush(),
    )
  })
}

const copy = async (batch: ObjectBatch, from: GitObjects, oid: string): Promise<void> => {
  const large = await from.loose.open(oid)
  if (large === null) {
    const { kind, bytes } = await from.read(oid)
    await batch.add(kind, bytes)
    return
  }
  for await (const _ of large.pieces) break
  if (large.kind === 'blob') await batch.addStream(large.size, () => from.stream(oid))
  else await batch.add(large.kind, (await from.read(oid)).bytes)
}
