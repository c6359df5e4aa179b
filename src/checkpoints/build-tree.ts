import type { FileRecord } from '../events/file-record.js'
import { encodeTree, type TreeEntry, type TreeMode } from './objects/git-format.js'
import type { ObjectBatch, ObjectStore } from './objects/object-store.js'

interface Change {
  readonly names: readonly string[]
  readonly record: FileRecord
}

/**
 * The tree that a list of records makes out of another tree (null: an empty one): only the folders on the way to a change
 * are read and written. Git keeps of a mode whether the file can be run; the whole of it is in the event.
 */
export const treeWith = async (
  store: ObjectStore,
  batch: ObjectBatch,
  base: string | null,
  records: Iterable<FileRecord>,
): Promise<string> => {
  const changes = [...records].map((record) => ({ names: record.path.split('/'), record }))
  return (await rewrite(store, batch, base, changes, 0)) ?? batch.add('tree', Buffer.alloc(0))
}

/** null where nothing is left in it: git has no empty folders. */
const rewrite = async (
  store: ObjectStore,
  batch: ObjectBatch,
  base: string | null,
  changes: readonly Change[],
  depth: number,
): Promise<string | null> => {
  const before = base === null ? [] : await store.readTree(base)
  const entries = new Map(before.map((entry) => [entry.name, entry]))
  const below = new Map<string, Change[]>()
  for (const change of changes) {
    const name = change.names[depth] as string
    if (change.names.length === depth + 1) place(entries, name, change.record)
    else pushTo(below, name, change)
  }
  for (const [name, inner] of below) {
    const held = folderOf(entries.get(name))
    const oid = await rewrite(store, batch, held?.oid ?? null, inner, depth + 1)
    if (oid !== null) entries.set(name, { mode: '40000', name, oid })
    else if (held !== undefined) entries.delete(name)
  }
  return entries.size === 0 ? null : batch.add('tree', encodeTree([...entries.values()]))
}

const pushTo = (groups: Map<string, Change[]>, name: string, change: Change): void => {
  const group = groups.get(name)
  if (group === undefined) groups.set(name, [change])
  else group.push(change)
}

const folderOf = (entry: TreeEntry | undefined): TreeEntry | undefined =>
  entry?.mode === '40000' ? entry : undefined

const place = (entries: Map<string, TreeEntry>, name: string, record: FileRecord): void => {
  if (record.kind !== 'absent')
    entries.set(name, { mode: treeModeOf(record), name, oid: record.oid as string })
  // An absent file whose name a folder has now takes nothing of the folder away.
  else if (folderOf(entries.get(name)) === undefined) entries.delete(name)
}

/** What git keeps of a record's kind and mode. */
export const treeModeOf = ({ kind, mode = 0 }: FileRecord): TreeMode => {
  if (kind === 'link') return '120000'
  return mode & 0o111 ? '100755' : '100644'
}
