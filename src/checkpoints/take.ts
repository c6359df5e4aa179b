import type { EventId } from '../events/event.js'
import {
  type CodeState,
  type FileRecord,
  type LeftOut,
  type Scan,
  sameContent,
} from '../events/file-record.js'
import type { Clock } from '../events/ports.js'
import { treeWith } from './build-tree.js'
import { changesSince } from './changes.js'
import { commitMessage } from './commit-message.js'
import { Unreadable } from './errors/unreadable.js'
import { markFirst } from './first-records.js'
import { type Doubt, sinceLastSearch } from './first-seen.js'
import { Looker, type LookPorts, type Seen } from './look.js'
import { encodeCommit } from './objects/git-format.js'
import type { ObjectBatch, ObjectStore } from './objects/object-store.js'
import { otherWriters } from './other-writers.js'
import { piecesOf, readFile } from './read-file.js'
import { branchRef } from './refs.js'
import { type ScanLimits, type ScanRequest, scanFrom } from './scan.js'
import { shownPath } from './shown-path.js'
import { resolvePaths } from './tracked-paths.js'
import { absoluteOf, type TreePath } from './tree-path.js'

export type CheckpointReason = 'prompt' | 'before-tool' | 'after-tool' | 'safety' | 'manual'

export interface TakeRequest {
  readonly session: EventId
  readonly reason: CheckpointReason
  /** The code state where the checkpoint's event will hang. */
  readonly known: CodeState
  /** Files (or folders) by path, relative ones to the workspace. Left out: every tracked path. */
  readonly paths?: readonly string[]
  /** Search the whole workspace too. */
  readonly scan?: boolean
  readonly toolCallId?: string
}

/** The payload of a `checkpoint` event: its members are those of FORMAT.md. */
export type CheckpointPayload = Readonly<{ reason: CheckpointReason; toolCallId?: string }> &
  (
    | Readonly<{
        commit: string
        files: readonly FileRecord[]
        scan?: Scan
        /** Tracked paths that could not be read, by tree path: their last records stand. */
        unread?: readonly LeftOut[]
      }>
    | Readonly<{ failed: string }>
  )

export interface Taken {
  /** null: nothing changed, nothing to write. */
  readonly checkpoint: CheckpointPayload | null
  /** Paths that were asked for and are in no checkpoint, and why. */
  readonly refused: readonly LeftOut[]
  /** Tracked paths that could not be read: their last records stand. */
  readonly unread: readonly LeftOut[]
}

export interface TakePorts extends LookPorts {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly limits: ScanLimits
  readonly exclude: readonly string[]
}

/** Records the present state of files, and gives what to write about it. Never rejects for what the disk does: it says so. */
export const take = async (ports: TakePorts, request: TakeRequest): Promise<Taken> => {
  try {
    return await takePaths(ports, request, await pathsOf(ports, request))
  } catch (error) {
    return cannotTake(request, reasonOf(error))
  }
}

/** A checkpoint that could not be made, with the reason: never silence. */
export const cannotTake = (request: TakeRequest, why: string): Taken => ({
  checkpoint: failed(request, why),
  refused: [],
  unread: [],
})

/** Which files to look at, by their tree paths. */
export interface Asked {
  readonly paths: ReadonlySet<TreePath>
  readonly refused: readonly LeftOut[]
  readonly scan: Scan | null
  /** What the search doubts of what it met first. */
  readonly doubt: Doubt | null
  /** All of them must be readable, and their bytes in the store, else the checkpoint fails. */
  readonly all: boolean
}

export const takePaths = async (ports: TakePorts, request: TakeRequest, asked: Asked): Promise<Taken> => {
  try {
    if (request.known.unresolved.length > 0)
      throw new Error('the list of files of an earlier checkpoint stands in a blob that was not resolved')
    return await ports.store.writing((batch) => takeInto(ports, request, asked, batch))
  } catch (error) {
    return { checkpoint: failed(request, reasonOf(error)), refused: asked.refused, unread: [] }
  }
}

const pathsOf = async (ports: TakePorts, { known, paths, scan, reason }: TakeRequest): Promise<Asked> => {
  const request: ScanRequest = ports
  const named =
    paths === undefined
      ? { paths: new Set(known.files.keys()), refused: [] }
      : resolvePaths(request, paths, { files: known.files, isDone: reason === 'after-tool' })
  const all = paths !== undefined
  if (scan !== true) return { ...named, scan: null, doubt: null, all }
  const found = scanFrom(request)
  const { more, left, doubt } = await sinceLastSearch(ports, known, found)
  const every = new Set([...named.paths, ...found.paths, ...more])
  const { complete, hidden } = found
  const said = { complete, left: [...found.left, ...left], hidden }
  return { paths: every, refused: named.refused, scan: said, doubt, all }
}

const takeInto = async (
  ports: TakePorts,
  request: TakeRequest,
  asked: Asked,
  batch: ObjectBatch,
): Promise<Taken> => {
  const { known, reason } = request
  const keep = async (_oid: string, bytes: Buffer | null): Promise<void> => {
    if (bytes !== null) await batch.add('blob', bytes)
  }
  const seen = await new Looker(ports, { onRead: keep }).lookAll(asked.paths)
  const unread = unreadOf(seen)
  const first = unread[0]
  if (first !== undefined && asked.all)
    return {
      checkpoint: failed(request, `${shownPath(first.path)}: ${first.why}`),
      refused: asked.refused,
      unread,
    }
  const changed = asked.all
    ? [...changesSince(known.files, seen), ...notHeld(known, seen, ports.store)]
    : changesSince(known.files, seen)
  const found: FileRecord[] = []
  for (const record of changed) found.push(await ensureStored(ports, batch, record))
  const isSearch = asked.scan !== null
  const marked = markFirst(found, known, { reason, isSearch, doubt: asked.doubt })
  const changes = await otherWriters(ports.store, { ...request, isSearch }, marked)
  const rest = { refused: asked.refused, unread }
  const isTold = isNews(asked.scan, known.scan) || (reason === 'manual' && known.files.size > 0)
  if (changes.length === 0 && !isTold)
    return { checkpoint: unread.length > 0 ? failed(request, allOf(unread)) : null, ...rest }
  const files = changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const commit = await commitOf(ports, request, batch, files)
  const call = request.toolCallId === undefined ? {} : { toolCallId: request.toolCallId }
  const scan = asked.scan === null ? {} : { scan: asked.scan }
  const left = unread.length > 0 ? { unread } : {}
  return { checkpoint: { commit, reason, ...call, files, ...scan, ...left }, ...rest }
}

/** Whether a search says anything that the one before did not. What it left out must be known, or the next one takes it for new. */
const isNews = (scan: Scan | null, before: CodeState['scan']): boolean => {
  const told = (one: Scan) => JSON.stringify([one.complete, one.left, one.hidden])
  return scan !== null && (before === null || told(scan) !== told(before))
}

/** So many paths are named one by one. */
const mostNamed = 10

/** What could not be read, where there is nothing else to record: in words for people. */
const allOf = (unread: readonly LeftOut[]): string => {
  const named = unread.slice(0, mostNamed).map(({ path, why }) => `${shownPath(path)}: ${why}`)
  const more = unread.length - named.length
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

/**
 * Files as last recorded whose bytes are not in this store (the branch was pulled without code). What was read just now
 * is in the batch, which is written only where there is something to record: the store itself is asked.
 */
const notHeld = (
  { files }: CodeState,
  seen: ReadonlyMap<TreePath, Seen>,
  store: ObjectStore,
): readonly FileRecord[] =>
  [...seen.values()].flatMap(({ record }) => {
    const known = files.get(record.path)?.last
    const isSame = known !== undefined && sameContent(known, record)
    return isSame && record.oid !== undefined && !store.has(record.oid) ? [record] : []
  })

const unreadOf = (seen: ReadonlyMap<TreePath, Seen>): readonly LeftOut[] =>
  [...seen].flatMap(([path, { unreadable }]) =>
    unreadable === null ? [] : [{ path, why: `cannot be read (${unreadable})` }],
  )

/** Sees to it that the bytes of a record are in the store; a file that changed since the look is recorded as it is now. */
const ensureStored = async (
  ports: TakePorts,
  batch: ObjectBatch,
  record: FileRecord,
): Promise<FileRecord> => {
  if (record.kind !== 'file' || batch.has(record.oid as string)) return record
  const absolute = absoluteOf(ports.workspace, record.path)
  for (let i = 0; i < 3; i++) {
    const read = await readFile(ports.work, absolute)
    if (read === null) break
    const { mode, size } = read.entry
    const now: FileRecord = { path: record.path, kind: 'file', mode, oid: read.oid, bytes: size }
    if (batch.has(read.oid)) return now
    const stored =
      read.bytes === null
        ? await batch.addStream(size, () => piecesOf(ports.work, absolute))
        : await batch.add('blob', read.bytes)
    if (stored === read.oid) return now
  }
  throw new Unreadable(absolute, 'it changes while it is read')
}

/** The commit of the new state: the one before it where the tree did not change. Durable, and its ref with it. */
const commitOf = async (
  { store, clock }: TakePorts,
  request: TakeRequest,
  batch: ObjectBatch,
  files: readonly FileRecord[],
): Promise<string> => {
  const { known, session } = request
  const before = known.commit !== null && batch.has(known.commit) ? known.commit : null
  const base = before === null ? null : (await store.readCommit(before)).tree
  const tree = await treeWith(store, batch, base, [
    ...(before === null ? held(known, batch) : known.since),
    ...files,
  ])
  if (before !== null && tree === base) {
    // Bytes that were lost to this store since, and are the same on disk.
    await batch.flush()
    return before
  }
  const ref = branchRef(session)
  let commit = ''
  await store.moveRefs(
    async () => {
      const tip = store.ref(ref)
      const parents = [...new Set([before, tip].filter((oid) => oid !== null))]
      const message = commitMessage(request, files)
      commit = await batch.add('commit', encodeCommit({ tree, parents, at: clock.now(), message }))
      return new Map([[ref, commit]])
    },
    () => batch.flush(),
  )
  return commit
}

/** Where the checkpoint before is not in this store (it was pulled without code): what the store holds of its state. */
const held = ({ files }: CodeState, batch: ObjectBatch): readonly FileRecord[] =>
  [...files.values()].map(({ last }) => last).filter(({ oid }) => oid !== undefined && batch.has(oid))

const failed = ({ reason, toolCallId }: TakeRequest, why: string): CheckpointPayload => ({
  failed: why,
  reason,
  ...(toolCallId === undefined ? {} : { toolCallId }),
})

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' ? `the disk is full (${code})` : (message ?? String(error))
}
