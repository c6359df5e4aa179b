import { type FileDiff, pairsOf } from '../../checkpoints/diff.js'
import { type Event, type EventId, is } from '../../events/event.js'
import type { CodeState, FileRecord, LeftOut } from '../../events/file-record.js'
import { codeStateAfter, codeStateOf, noCode } from '../../projections/code-state.js'
import { listOf, recordOf, stringOf } from '../../projections/members.js'
import type { UndoTarget } from '../../projections/undo-targets.js'
import type { CheckpointRow } from '../api.js'
import { filesAlong, type LoadBlob } from './code-at.js'
import { done } from './done.js'
import type { WorkspaceCode } from './workspace-code.js'

/** A path, those of its events that tell of files (their lists resolved), and where the bytes are. */
export interface PathCode {
  readonly path: readonly Event[]
  readonly events: readonly Event[]
  readonly code: WorkspaceCode
}

/** The checkpoints on a path, and those that failed, first to last. */
export const checkpointRows = async (
  path: readonly Event[],
  load: LoadBlob,
): Promise<readonly CheckpointRow[]> =>
  (await filesAlong(path, load)).flatMap((event) => {
    if (!is(event, 'checkpoint')) return []
    const { id, at, reason, toolCallId, commit, failed, files, unread } = event
    return [
      {
        id,
        at,
        reason: stringOf(reason) ?? '',
        toolCallId: stringOf(toolCallId),
        commit: stringOf(commit),
        failed: stringOf(failed),
        files: listOf(files) as readonly FileRecord[],
        unread: listOf(unread).filter(isLeftOut),
      },
    ]
  })

const isLeftOut = (value: unknown): value is LeftOut => {
  const found = recordOf(value)
  return typeof found?.path === 'string' && typeof found.why === 'string'
}

/** What differs between the code at the ends of two paths, one entry a file. */
export const diffBetween = async (from: PathCode, to: PathCode): Promise<readonly FileDiff[]> => {
  const pairs = pairsOf(codeStateOf(from.events), codeStateOf(to.events))
  return pairs.length === 0 ? [] : done(to.code.checkpoints.diff(pairs))
}

/** Targets whose code cannot come back since its bytes are not in this store, with the reason. */
export const withWhatIsHere = <T extends Omit<UndoTarget, 'text'>>(
  { path, events, code }: PathCode,
  targets: readonly T[],
): readonly T[] => {
  const gone = notHere(events, code)
  if (typeof gone === 'string')
    return targets.map((target) => (target.restorable ? { ...target, restorable: false, why: gone } : target))
  if (gone.size === 0) return targets
  const missing = missingAt(path, events, new Set(targets.map(({ id }) => id)), gone)
  return targets.map((target) => {
    const count = missing.get(target.id) ?? 0
    if (!target.restorable || count === 0) return target
    const why = `the bytes of ${count} ${count === 1 ? 'file' : 'files'} are not in this store`
    return { ...target, restorable: false, why }
  })
}

/** The objects that the events name and that are not in this store; or why nobody can look. */
const notHere = (events: readonly Event[], { checkpoints }: WorkspaceCode): ReadonlySet<string> | string => {
  try {
    return new Set([...new Set(events.flatMap(oidsIn))].filter((oid) => !checkpoints.has(oid)))
  } catch (error) {
    return `the checkpoints cannot be read (${(error as Error).message})`
  }
}

const oidsIn = (event: Event): readonly string[] =>
  [...codeStateOf([event]).files.values()].flatMap(({ last: { oid } }) => (oid === undefined ? [] : [oid]))

/** How many files of the code state just before each target are not here. */
const missingAt = (
  path: readonly Event[],
  events: readonly Event[],
  targets: ReadonlySet<EventId>,
  gone: ReadonlySet<string>,
): ReadonlyMap<EventId, number> => {
  const told = new Map(events.map((event) => [event.id, event]))
  const counts = new Map<EventId, number>()
  const end = codeStateOf(events)
  let state = noCode
  for (const event of path) {
    const known = told.get(event.id)
    if (known !== undefined) state = codeStateAfter(state, known)
    if (targets.has(event.id)) counts.set(event.id, countMissing(state, end, gone))
  }
  return counts
}

/** A path that is known only later goes back to what it was first. */
const countMissing = (state: CodeState, end: CodeState, gone: ReadonlySet<string>): number =>
  [...end.files].filter(([path, { first }]) => {
    const { oid } = state.files.get(path)?.last ?? first
    return oid !== undefined && gone.has(oid)
  }).length
