import type { EventId } from '../events/event.js'
import type { CodeState, FileRecord } from '../events/file-record.js'
import { treeModeOf } from './build-tree.js'
import type { ObjectStore } from './objects/object-store.js'
import { branchRef, sessionOf } from './refs.js'
import { entryAt } from './tree-entry.js'

interface Noticing {
  readonly session: EventId
  readonly reason: string
  readonly known: CodeState
}

/**
 * Marks the changes that another session of the workspace made: it holds the same bytes under the same name at the tip of
 * its branch. An undo then does not take them back unasked. What a tool of this session has just written is its own.
 */
export const otherWriters = async (
  store: ObjectStore,
  { session, reason, known }: Noticing,
  changes: readonly FileRecord[],
): Promise<readonly FileRecord[]> => {
  const isTheirs = ({ path, kind }: FileRecord) => kind !== 'absent' && known.files.has(path)
  if (reason === 'after-tool' || !changes.some(isTheirs)) return changes
  const tips = [...store.refs('refs/heads/')].filter(([ref]) => ref !== branchRef(session))
  if (tips.length === 0) return changes
  return Promise.all(
    changes.map(async (record) => {
      if (!isTheirs(record)) return record
      for (const [ref, tip] of tips)
        if (await wrote(store, tip, record)) return { ...record, by: sessionOf(ref) }
      return record
    }),
  )
}

/** How far back a branch is asked who brought the bytes in: further, and they are taken for the session's own. */
const maxBack = 200

/**
 * Whether a tool of the session whose branch ends in `tip` had written these bytes: they stand there, and the checkpoint
 * that brought them in was taken after a tool (else that session too had only noticed them).
 */
const wrote = async (store: ObjectStore, tip: string, record: FileRecord): Promise<boolean> => {
  const holds = async (commit: string): Promise<boolean> => {
    const entry = await entryAt(store, commit, record.path)
    return entry !== null && entry.oid === record.oid && entry.mode === treeModeOf(record)
  }
  if (!(await holds(tip))) return false
  let at = tip
  for (let back = 0; back < maxBack; back++) {
    const { parents, message } = await store.readCommit(at)
    const before = parents[0]
    if (before === undefined || !store.has(before)) return message.startsWith('after-tool')
    if (!(await holds(before))) return message.startsWith('after-tool')
    at = before
  }
  return true
}
