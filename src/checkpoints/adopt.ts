import type { EventId } from '../events/event.js'
import type { CodeState, FileRecord } from '../events/file-record.js'
import type { Clock } from '../events/ports.js'
import { treeWith } from './build-tree.js'
import { commitMessage } from './commit-message.js'
import { encodeCommit } from './objects/git-format.js'
import type { ObjectBatch, ObjectStore } from './objects/object-store.js'
import { branchRef } from './refs.js'

export interface AdoptPorts {
  readonly store: ObjectStore
  readonly clock: Clock
}

/**
 * Begins a session's branch with a code state that other sessions made: with its commit, or, where restores changed it
 * since, with one that holds what they put back, which that commit may not lead to. Nothing where the bytes are not here.
 */
export const adopt = async (
  { store, clock }: AdoptPorts,
  session: EventId,
  { commit, since }: CodeState,
): Promise<void> => {
  const ref = branchRef(session)
  const base = commit !== null && store.has(commit) ? commit : null
  const put = since.filter(({ oid }) => oid !== undefined && store.has(oid))
  if (base === null && put.length === 0) return
  await store.writing(async (batch) => {
    const at = clock.now()
    const tip = put.length === 0 ? base : await commitWith(store, batch, base, put, { session, at })
    await store.moveRefs(
      async () => new Map(store.ref(ref) === null ? [[ref, tip]] : []),
      () => batch.flush(),
    )
  })
}

const commitWith = async (
  store: ObjectStore,
  batch: ObjectBatch,
  parent: string | null,
  records: readonly FileRecord[],
  { session, at }: { readonly session: EventId; readonly at: number },
): Promise<string> => {
  const before = parent === null ? null : (await store.readCommit(parent)).tree
  const tree = await treeWith(store, batch, before, records)
  const message = commitMessage({ reason: 'fork', session }, records)
  return batch.add('commit', encodeCommit({ tree, parents: parent === null ? [] : [parent], at, message }))
}
