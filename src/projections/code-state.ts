import { toArray } from '../events/chain.js'
import { type BlobRef, isBlobRef } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import {
  absent,
  type CodeFile,
  type CodeState,
  type FileRecord,
  isFileRecord,
  type LeftOut,
  type Scan,
} from '../events/file-record.js'
import { listOf, type Members, membersOf, recordOf, stringOf } from './members.js'
import { type PathEvents, pathProjection } from './path-events.js'
import type { Projection } from './projection.js'

/** What an event says of files: a checkpoint what it found, a restore or a `head` with one what it put back. */
interface Told {
  readonly reason: string
  readonly files: unknown
  readonly commit: string | null
  readonly scan: Scan | null
}

const toldBy = (event: Event): Told | null => {
  const members = membersOf(event)
  if (event.type === 'checkpoint') return toldByCheckpoint(members)
  // A large one moved out of its line as a whole.
  if (event.type === 'head' && isBlobRef(members.restore)) return restored(members.restore)
  const restore =
    event.type === 'head' ? recordOf(members.restore) : event.type === 'restore' ? members : null
  return restore === null ? null : restored(restore.files)
}

const restored = (files: unknown): Told => ({ reason: 'restore', files, commit: null, scan: null })

const toldByCheckpoint = (members: Members): Told | null => {
  const commit = stringOf(members.commit)
  return commit === null
    ? null
    : { reason: stringOf(members.reason) ?? '', files: members.files, commit, scan: scanOf(members.scan) }
}

const scanOf = (value: unknown): Scan | null => {
  const scan = recordOf(value)
  if (scan === null) return null
  const left = listOf(scan.left).flatMap((item): LeftOut[] => {
    const path = stringOf(recordOf(item)?.path)
    return path === null ? [] : [{ path, why: stringOf(recordOf(item)?.why) ?? '' }]
  })
  return { complete: scan.complete === true, left }
}

/**
 * The code state at the last of a path's events: for each path the last record, and what it was before the first. Lists
 * of files that stand in blobs are named in `unresolved`: whoever folds resolves them in their events first.
 */
export const codeStateOf = (path: Iterable<Event>): CodeState => {
  let checkpoint: EventId | null = null
  let commit: string | null = null
  let since: FileRecord[] = []
  let scan: CodeState['scan'] = null
  const files = new Map<string, CodeFile>()
  const unresolved: { event: EventId; blob: BlobRef }[] = []
  for (const event of path) {
    const told = toldBy(event)
    if (told === null) continue
    if (isBlobRef(told.files)) unresolved.push({ event: event.id, blob: told.files })
    const records = listOf(told.files).filter(isFileRecord)
    for (const record of records) note(files, record, event.id, told.reason)
    if (told.commit === null) since.push(...records)
    else {
      checkpoint = event.id
      commit = told.commit
      since = []
    }
    if (told.scan !== null) scan = { ...told.scan, at: event.at }
  }
  return { checkpoint, commit, since, files, scan, unresolved }
}

const note = (files: Map<string, CodeFile>, told: FileRecord, event: EventId, reason: string): void => {
  const known = files.get(told.path)
  const record = recordOnly(told)
  const others = known?.others ?? []
  files.set(told.path, {
    last: record,
    first: known?.first ?? (told.new === true ? absent(told.path) : record),
    event,
    reason,
    others: typeof told.by === 'string' ? [...others, { event, by: told.by }] : others,
  })
}

/** Without what a restore adds for people (`action`). */
const recordOnly = ({ path, kind, mode, oid, bytes }: FileRecord): FileRecord => {
  if (kind === 'absent') return { path, kind }
  const held = { path, kind, oid: oid as string, bytes: bytes as number }
  return kind === 'link' ? held : { ...held, mode: mode as number }
}

/** What the projection shows: plain JSON. */
export interface CodeStateView {
  readonly checkpoint: EventId | null
  readonly commit: string | null
  readonly files: readonly FileRecord[]
  readonly unresolved: CodeState['unresolved']
}

/** The code state at the end of a branch. */
export const codeState: Projection<PathEvents, CodeStateView> = pathProjection('codeState', 1, (path) => {
  const { checkpoint, commit, files, unresolved } = codeStateOf(toArray(path))
  const records = [...files.values()].map(({ last }) => last)
  return { checkpoint, commit, files: records.sort(byPath), unresolved }
})

const byPath = (a: FileRecord, b: FileRecord): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
