import { absent, type FileRecord, sameContent } from '../events/file-record.js'
import type { Seen } from './look.js'
import {
  type Choice,
  hard,
  type Plan,
  type PlanAction,
  type PlanEntry,
  type PlanInput,
} from './plan-entry.js'
import { fitTogether } from './plan-structure.js'
import { isOutside, type TreePath } from './tree-path.js'

/**
 * What a restore would do, path by path (pure). A file that is not as last recorded was changed by someone else: where the
 * restore would change it, that is a conflict, by content and not by time.
 */
export const planRestore = (input: PlanInput): Plan => {
  const paths = [...input.wanted.keys()].sort()
  const entries = paths.map((path) => entryFor(input, path))
  return { entries: fitTogether(entries, input) }
}

type Verdict = Pick<PlanEntry, 'action' | 'why' | 'forcible'>

const entryFor = (input: PlanInput, path: TreePath): PlanEntry => {
  const will = input.wanted.get(path) as FileRecord
  const seen = input.disk.get(path)
  const was = seen?.record ?? absent(path)
  const known = input.current.files.get(path)?.last
  const isRead = seen !== undefined && seen.unreadable === null
  const isThere = isRead && sameContent(was, will)
  const by = isRead && !isThere ? whose(input, path, known, was) : null
  const outside = isOutside(path)
  const { action, why, forcible } = isThere
    ? keep(was.kind === 'absent' ? null : doubtOf(input, path))
    : verdict(input.choice, { seen, was, will, known, by, outside })
  return { path, action, why, forcible, was, will, outside, by, isRead }
}

const keep = (why: string | null): Verdict => ({ action: 'keep', why, forcible: true })

/** Why a file may be left though the step made it: nobody knows whether it was there before. */
const doubtOf = ({ current, target }: PlanInput, path: TreePath): string | null => {
  const doubt = target.files.has(path) ? null : (current.files.get(path)?.doubt ?? null)
  return doubt === null ? null : `may have been there before (${doubt})`
}

interface Differing extends Pick<PlanEntry, 'was' | 'will' | 'by' | 'outside'> {
  readonly seen: Seen | undefined
  /** As last recorded on the present branch. */
  readonly known: FileRecord | undefined
}

/** What is done where the disk has something else than the target. */
const verdict = (choice: Choice, { seen, was, will, known, by, outside }: Differing): Verdict => {
  const act = (why: string | null): Verdict => ({ action: actionOf(was, will), why, forcible: true })
  if (seen === undefined || seen.unreadable !== null)
    return hard(`cannot be read (${seen?.unreadable ?? 'not looked at'})`, choice)
  if (outside && choice.outside !== true) return keep('outside the workspace: restored with --outside alone')
  if (seen.there === 'other') return hard('what stands there is no file', choice)
  if (known !== undefined && sameContent(known, will) && choice.force !== true)
    return keep('changed by someone else, and not by what is taken back')
  if (seen.fixed !== null) return hard(`its folder cannot be changed (${seen.fixed})`, choice)
  const wasDeleted = was.kind === 'absent' && known !== undefined && known.kind !== 'absent'
  if (by === null) return act(wasDeleted ? 'was deleted' : null)
  const why = whyNot(by, known)
  if (choice.force === true) return act(why)
  return choice.keep === true ? keep(why) : { action: 'conflict', why, forcible: true }
}

const actionOf = (was: FileRecord, will: FileRecord): PlanAction => {
  if (will.kind === 'absent') return 'delete'
  return was.kind === 'absent' ? 'create' : 'change'
}

/** Whose what is on disk is, where it is not this session's to change; null where it is. */
const whose = (
  { current, target }: PlanInput,
  path: TreePath,
  known: FileRecord | undefined,
  was: FileRecord,
): string | null => {
  const before = target.files.get(path)?.others
  const other = current.files
    .get(path)
    ?.others.find(({ event }) => before?.some((one) => one.event === event) !== true)
  if (other !== undefined) return other.by
  // What is not there cannot be lost.
  if (was.kind === 'absent') return null
  // On the way back to a branch that tracks it, it may still be as that branch met it.
  const expected = known ?? target.files.get(path)?.first
  return expected !== undefined && sameContent(expected, was) ? null : 'someone'
}

const whyNot = (by: string, known: FileRecord | undefined): string => {
  if (by !== 'someone') return `session ${by} wrote it since`
  return known === undefined ? 'not tracked on this branch' : 'changed since its last checkpoint'
}
