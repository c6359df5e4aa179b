import type { FileDiff } from '../../checkpoints/diff.js'
import { shownPath } from '../../checkpoints/shown-path.js'
import type { Draft } from '../../events/draft.js'
import type { CodeState, FileRecord } from '../../events/file-record.js'

/** Beyond this the diff is left out: the model can read the files. */
const maxDiffBytes = 4 * 1024
const maxDiffLines = 100
/** So many paths are named one by one. */
const maxNamed = 50

/**
 * The records of a checkpoint before a prompt that tell of what was done outside of the conversation. What a first search
 * of the workspace finds, or one under new rules, was there before: nobody changed it.
 */
export const changedByOthers = (known: CodeState, files: readonly FileRecord[]): readonly FileRecord[] =>
  files.filter((record) => known.files.has(record.path) || record.new === true)

/** The hidden message that tells the model which files were changed since it last saw them. */
export const noticeOf = (
  known: CodeState,
  changed: readonly FileRecord[],
  diffs: readonly FileDiff[] | null,
): Draft => {
  const binary = new Set((diffs ?? []).filter(({ isBinary }) => isBinary).map(({ path }) => path))
  const named = changed.slice(0, maxNamed).map((record) => lineOf(known, record, binary))
  const more = changed.length > maxNamed ? [`- and ${changed.length - maxNamed} more`] : []
  const text = diffs === null ? '' : textOf(diffs)
  return {
    type: 'message',
    role: 'system',
    visible: false,
    content: [
      'These files are no longer as this conversation last recorded them:',
      ...named,
      ...more,
      ...(text === '' ? [] : ['', '```diff', text.trimEnd(), '```']),
    ].join('\n'),
    // It is of the moment: no compaction need keep it.
    meta: { notice: 'files-changed', pinned: false },
  }
}

const lineOf = (known: CodeState, record: FileRecord, binary: ReadonlySet<string>): string => {
  const path = shownPath(record.path)
  const by = record.by === undefined || record.by === 'someone' ? '' : `, by session ${record.by}`
  return `- ${whatOf(known, record)}: ${printable(path)}${binary.has(path) ? ' (binary)' : ''}${by}`
}

const whatOf = (known: CodeState, { path, kind }: FileRecord): string => {
  if (kind === 'absent') return 'deleted'
  return (known.files.get(path)?.last.kind ?? 'absent') === 'absent' ? 'created' : 'changed'
}

/** A name with a control character in it stays on its line. */
const printable = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

const textOf = (diffs: readonly FileDiff[]): string => {
  const text = diffs.map((diff) => diff.text).join('')
  const isSmall = Buffer.byteLength(text) <= maxDiffBytes && text.split('\n').length - 1 <= maxDiffLines
  return isSmall ? text : ''
}
