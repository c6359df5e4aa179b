import { toArray } from '../events/chain.js'
import { isBlobRef } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import {
  absent,
  type CodeFile,
  type CodeState,
  type FileRecord,
  type HiddenRules,
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
  return { complete: scan.complete === true, left, ...hiddenOf(scan.hidden) }
}

/** Not there where a search did not say: that is not the same as none. */
const hiddenOf = (value: unknown): Pick<Scan, 'hidden'> => {
  if (!Array.isArray(value)) return {}
  const hidden = value.flatMap((item): HiddenRules[] => {
    const [path, oid] = [stringOf(recordOf(item)?.path), stringOf(recordOf(item)?.oid)]
    return path === null || oid === null ? [] : [{ path, oid }]
  })
  return { hidden }
}

/** Whether an event says anything of files: all else on a path is nothing to the code state. */
export const tellsOfFiles = (event: Event): boolean =>
  event.type === 'checkpoint' || event.type === 'restore' || (event.type === 'head' && 'restore' in event)

export const noCode: CodeState = {
  checkpoint: null,
  commit: null,
  since: [],
  files: new Map(),
  rules: new Map(),
  scan: null,
  unresolved: [],
}

/**
 * The code state at the last of a path's events: for each path the last record, and what it was before the first. Lists
 * of files that stand in blobs are named in `unresolved`: whoever folds resolves them in their events first.
 */
export const codeStateOf = (path: Iterable<Event>): CodeState => {
  const files = new Map<string, CodeFile>()
  let state: CodeState = { ...noCode, files }
  for (const event of path) state = after(state, event, files)
  return state
}

/** The code state after one more event of the path; the state that is given stays as it is. */
export const codeStateAfter = (state: CodeState, event: Event): CodeState =>
  tellsOfFiles(event) ? after(state, event, new Map(state.files)) : state

/** `files`: the state's own, or a copy of them: it is written to. */
const after = (state: CodeState, event: Event, files: Map<string, CodeFile>): CodeState => {
  const told = toldBy(event)
  if (told === null) return state
  const records = listOf(told.files).filter(isFileRecord)
  for (const record of records) note(files, record, event.id, told.reason)
  const rules = withRules(state.rules, records)
  const rest = {
    files,
    rules,
    scan: told.scan === null ? state.scan : { ...told.scan, at: event.at, rules },
    unresolved: isBlobRef(told.files)
      ? [...state.unresolved, { event: event.id, blob: told.files }]
      : state.unresolved,
  }
  return told.commit === null
    ? { ...rest, checkpoint: state.checkpoint, commit: state.commit, since: [...state.since, ...records] }
    : { ...rest, checkpoint: event.id, commit: told.commit, since: [] }
}

const withRules = (rules: CodeState['rules'], records: readonly FileRecord[]): CodeState['rules'] => {
  const told = records.filter(({ path }) => path.endsWith('/.gitignore'))
  return told.length === 0
    ? rules
    : new Map([...rules, ...told.map((record) => [record.path, recordOnly(record)] as const)])
}

const note = (files: Map<string, CodeFile>, told: FileRecord, event: EventId, reason: string): void => {
  const known = files.get(told.path)
  const record = recordOnly(told)
  const others = known?.others ?? []
  files.set(told.path, {
    last: record,
    first: known?.first ?? (told.new === true ? absent(told.path) : record),
    doubt: known === undefined ? stringOf(told.doubt) : known.doubt,
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
