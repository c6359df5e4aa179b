import { absent, type FileRecord, sameContent } from '../events/file-record.js'
import { hardConflict, type Plan, type PlanAction, type PlanEntry, type PlanInput } from './plan-entry.js'
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

const entryFor = (input: PlanInput, path: TreePath): PlanEntry => {
  const { current, choice } = input
  const will = input.wanted.get(path) as FileRecord
  const seen = input.disk.get(path)
  const was = seen?.record ?? absent(path)
  const known = current.files.get(path)?.last
  const isRead = seen !== undefined && seen.unreadable === null
  const isThere = isRead && sameContent(was, will)
  const by = isRead && !isThere ? whose(input, path, known, was) : null
  const entry = { path, was, will, outside: isOutside(path), forcible: true, by, isRead }
  if (isThere) return { ...entry, action: 'keep', why: null }
  const keep = (why: string): PlanEntry => ({ ...entry, action: 'keep', why })
  const act = (why: string | null): PlanEntry => ({ ...entry, action: actionOf(was, will), why })
  if (!isRead) return hardConflict(entry, `cannot be read (${seen?.unreadable ?? 'not looked at'})`, choice)
  if (entry.outside && choice.outside !== true)
    return keep('outside the workspace: asks for a word of its own')
  if (seen.there === 'other') return hardConflict(entry, 'what stands there is no file', choice)
  if (known !== undefined && sameContent(known, will) && choice.force !== true)
    return keep('changed by someone else, and not by what is taken back')
  const wasDeleted = was.kind === 'absent' && known !== undefined && known.kind !== 'absent'
  if (by === null) return act(wasDeleted ? 'was deleted' : null)
  const why = whyNot(by, known)
  if (choice.force === true) return act(why)
  return choice.keep === true ? keep(why) : { ...entry, action: 'conflict', why }
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
  const before = new Set(target.files.get(path)?.others.map(({ event }) => event))
  const other = current.files.get(path)?.others.find(({ event }) => !before.has(event))
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
