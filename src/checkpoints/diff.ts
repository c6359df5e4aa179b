import { type StructuredPatch, structuredPatch } from 'diff'
import { absent, type CodeState, type FileRecord, sameContent } from '../events/file-record.js'
import type { ObjectStore } from './objects/object-store.js'
import { quoted, shownPath } from './shown-path.js'
import type { TreePath } from './tree-path.js'

/** How one file differs between two code states. `added` and `removed` are lines; 0 of a binary file. */
export interface FileDiff {
  /** As people name it: relative to the workspace, or absolute outside of it. */
  readonly path: string
  readonly status: 'added' | 'deleted' | 'modified'
  readonly isBinary: boolean
  readonly added: number
  readonly removed: number
  /** The unified diff, as git writes it, ended by a newline. */
  readonly text: string
}

export interface Pair {
  readonly before: FileRecord
  readonly after: FileRecord
}

/** Files of more bytes are not compared line by line. */
const maxText = 4 * 1024 * 1024
/** Lines that differ at most before two texts are told whole, one removed and one added. */
const maxEdit = 2000

/** What differs between two code states; a path that only one of them tracks was first, or is absent, in the other. */
export const pairsOf = (before: CodeState, after: CodeState): readonly Pair[] => {
  const paths = [...new Set([...before.files.keys(), ...after.files.keys()])].sort()
  const recordIn = (state: CodeState, other: CodeState, path: TreePath): FileRecord =>
    state.files.get(path)?.last ?? other.files.get(path)?.first ?? absent(path)
  return paths
    .map((path) => ({ before: recordIn(before, after, path), after: recordIn(after, before, path) }))
    .filter((pair) => !sameContent(pair.before, pair.after))
}

/** What a checkpoint changed: its records, beside what was known before it. */
export const pairsIn = (known: CodeState, files: readonly FileRecord[]): readonly Pair[] =>
  files
    .map((after) => ({ before: known.files.get(after.path)?.last ?? absent(after.path), after }))
    .filter((pair) => !sameContent(pair.before, pair.after))

/** The differences as unified diffs, one a file; what is no text is named only. */
export const diffsOf = async (store: ObjectStore, pairs: readonly Pair[]): Promise<readonly FileDiff[]> => {
  const diffs: FileDiff[] = []
  for (const pair of pairs) for (const part of parted(pair)) diffs.push(await diffOf(store, part))
  return diffs
}

/** A file that became a symlink, or the reverse, is one file less and one more. */
const parted = ({ before, after }: Pair): readonly Pair[] => {
  const none = absent(before.path)
  const isOther = before.kind !== 'absent' && after.kind !== 'absent' && before.kind !== after.kind
  return isOther
    ? [
        { before, after: none },
        { before: none, after },
      ]
    : [{ before, after }]
}

const diffOf = async (store: ObjectStore, { before, after }: Pair): Promise<FileDiff> => {
  const path = shownPath(before.path)
  const status = before.kind === 'absent' ? 'added' : after.kind === 'absent' ? 'deleted' : 'modified'
  const head = headOf(path, before, after)
  const rest = { path, status } as const
  if (before.oid === after.oid) return { ...rest, isBinary: false, added: 0, removed: 0, text: head }
  const [from, to] = [nameIn('a/', path, before), nameIn('b/', path, after)]
  const texts = [await textOf(store, before), await textOf(store, after)] as const
  if (texts[0] === null || texts[1] === null)
    return {
      ...rest,
      isBinary: true,
      added: 0,
      removed: 0,
      text: `${head}${indexOf(before, after)}Binary files ${from} and ${to} differ\n`,
    }
  const hunks = hunksOf(texts[0], texts[1])
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const body = hunks.map(hunkText).join('')
  return {
    ...rest,
    isBinary: false,
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    text: body === '' ? head : `${head}--- ${ended(from)}\n+++ ${ended(to)}\n${body}`,
  }
}

const modeOf = ({ kind, mode = 0 }: FileRecord): string =>
  kind === 'link' ? '120000' : `100${(mode & 0o777).toString(8).padStart(3, '0')}`

const headOf = (path: string, before: FileRecord, after: FileRecord): string => {
  const head = `diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}\n`
  if (before.kind === 'absent') return `${head}new file mode ${modeOf(after)}\n`
  if (after.kind === 'absent') return `${head}deleted file mode ${modeOf(before)}\n`
  const [old, now] = [modeOf(before), modeOf(after)]
  return old === now ? head : `${head}old mode ${old}\nnew mode ${now}\n`
}

/** Without it `git apply` takes the whole patch for broken, not just this file. */
const indexOf = (before: FileRecord, after: FileRecord): string => {
  const isSameMode = before.kind !== 'absent' && after.kind !== 'absent' && modeOf(before) === modeOf(after)
  return `index ${before.oid ?? noObject}..${after.oid ?? noObject}${isSameMode ? ` ${modeOf(after)}` : ''}\n`
}

const noObject = '0'.repeat(40)

/** A tab says where a name with blanks in it ends, as git does it: `patch` takes what follows a blank for a time. */
const ended = (name: string): string => (name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name)

const nameIn = (side: 'a/' | 'b/', path: string, { kind }: FileRecord): string =>
  kind === 'absent' ? '/dev/null' : quoted(side + path)

/** null where it is no text, or too long to be compared. */
const textOf = async (store: ObjectStore, { kind, oid, bytes = 0 }: FileRecord): Promise<string | null> => {
  if (kind === 'absent') return ''
  if (bytes > maxText) return null
  const content = (await store.read(oid as string)).bytes
  if (content.subarray(0, 8000).includes(0)) return null
  const text = content.toString()
  return Buffer.from(text).equals(content) ? text : null
}

type Hunk = StructuredPatch['hunks'][number]

const hunksOf = (before: string, after: string): readonly Hunk[] => {
  const options = { context: 3, maxEditLength: maxEdit }
  const patch = structuredPatch('a', 'b', before, after, undefined, undefined, options)
  if (patch !== undefined) return patch.hunks
  const removed = structuredPatch('a', 'b', before, '').hunks.flatMap(({ lines }) => lines)
  const added = structuredPatch('a', 'b', '', after).hunks.flatMap(({ lines }) => lines)
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('\\')).length
  return [
    {
      oldStart: 1,
      oldLines: count(removed),
      newStart: 1,
      newLines: count(added),
      lines: [...removed, ...added],
    },
  ]
}

const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string => {
  const range = (start: number, count: number) => (count === 1 ? `${start}` : `${start},${count}`)
  // Where a side of it is empty, git names the line before.
  const [from, to] = [oldLines === 0 ? oldStart - 1 : oldStart, newLines === 0 ? newStart - 1 : newStart]
  return `@@ -${range(from, oldLines)} +${range(to, newLines)} @@\n${lines.join('\n')}\n`
}
