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
  /** Whether a search of the whole workspace found them: nobody named them. */
  readonly isSearch: boolean
}

/**
 * Marks the changes that another session of the workspace made: it holds the same bytes under the same name at the tip of
 * its branch. An undo then does not take them back unasked. What a tool of this session named, and has just written, is its
 * own. Of what a search found after a tool, and of new files, another session's is what it has written since the search before.
 */
export const otherWriters = async (
  store: ObjectStore,
  { session, reason, known, isSearch }: Noticing,
  changes: readonly FileRecord[],
): Promise<readonly FileRecord[]> => {
  const isTheirs = ({ path, kind, new: isNew }: FileRecord) =>
    kind !== 'absent' && (known.files.has(path) || isNew === true)
  if ((reason === 'after-tool' && !isSearch) || !changes.some(isTheirs)) return changes
  const since = isSearch && known.scan !== null ? Date.parse(known.scan.at) - slack : 0
  const tips = [...store.refs('refs/heads/')].filter(([ref]) => ref !== branchRef(session))
  if (tips.length === 0) return changes
  return Promise.all(
    changes.map(async (record) => {
      if (!isTheirs(record)) return record
      for (const [ref, tip] of tips)
        if (await wrote(store, tip, record, since)) return { ...record, by: sessionOf(ref) }
      return record
    }),
  )
}

/** Git keeps whole seconds, and a clock may be set back (ms). */
const slack = 60_000

/** How far back a branch is asked who brought the bytes in: further, and they are taken for the session's own. */
const maxBack = 200

/**
 * Whether a tool of the session whose branch ends in `tip` had written these bytes: they stand there, and the checkpoint
 * that brought them in was taken after a tool (else that session too had only noticed them), and since then.
 */
const wrote = async (
  store: ObjectStore,
  tip: string,
  record: FileRecord,
  since: number,
): Promise<boolean> => {
  const holds = async (commit: string): Promise<boolean> => {
    const entry = await entryAt(store, commit, record.path)
    return entry !== null && entry.oid === record.oid && entry.mode === treeModeOf(record)
  }
  if (!(await holds(tip))) return false
  let oid = tip
  for (let back = 0; back < maxBack; back++) {
    const { parents, message, at } = await store.readCommit(oid)
    if (at < since) return false
    const before = parents[0]
    if (before === undefined || !store.has(before) || !(await holds(before)))
      return message.startsWith('after-tool')
    oid = before
  }
  return true
}
