import type { FileDiff } from '../checkpoints/diff.js'
import type { Colours } from './context.js'
import { counted } from './quantity.js'
import { safe, safeName } from './safe-text.js'
import { clippedStart, padded, widthOf } from './width.js'

/** A unified diff as a terminal shows it: coloured as git does it, and without what would command the terminal. */
export const drawDiff = (text: string, colours: Colours): readonly string[] => {
  let isHead = true
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      if (line.startsWith('@@ ')) isHead = false
      return toneOf(line, isHead, colours)(safe(line))
    })
}

/** Up to the first hunk a line with a minus is a name, after it a line that was removed. */
const toneOf = (line: string, isHead: boolean, colours: Colours): ((text: string) => string) => {
  if (isHead) return colours.bold
  if (line.startsWith('@@ ')) return colours.cyan
  if (line.startsWith('+')) return colours.green
  return line.startsWith('-') ? colours.red : String
}

/** Of `+` and `-` in a line at most. */
const mostMarks = 40
const leastName = 12

/** How much each file changed, and all of them, as `git diff --stat` shows it. Safe to print; pure. */
export const drawStat = (
  diffs: readonly FileDiff[],
  columns: number,
  colours: Colours,
): readonly string[] => {
  const counts = diffs.map(({ isBinary, added, removed }) => (isBinary ? 'Bin' : String(added + removed)))
  const names = diffs.map(({ path }) => safeName(path))
  const countWidth = Math.max(0, ...counts.map((count) => count.length))
  const marks = Math.min(mostMarks, Math.floor(columns / 3))
  const room = Math.max(leastName, columns - countWidth - marks - ' | '.length - ' '.length * 2)
  const width = Math.min(room, Math.max(0, ...names.map(widthOf)))
  const most = Math.max(0, ...diffs.map(({ added, removed }) => added + removed))
  const scale = most > marks ? (marks - 1) / most : 1
  const bar = (mark: string, count: number): string =>
    mark.repeat(count === 0 ? 0 : Math.max(1, Math.round(count * scale)))
  return [
    ...diffs.map(({ added, removed }, i) => {
      const name = padded(clippedStart(names[i] ?? '', width), width)
      const marksOf = colours.green(bar('+', added)) + colours.red(bar('-', removed))
      return ` ${name} | ${(counts[i] ?? '').padStart(countWidth)} ${marksOf}`.trimEnd()
    }),
    ...(diffs.length > 0 ? [total(diffs)] : []),
  ]
}

const total = (diffs: readonly FileDiff[]): string => {
  const added = diffs.reduce((sum, diff) => sum + diff.added, 0)
  const removed = diffs.reduce((sum, diff) => sum + diff.removed, 0)
  return [
    ` ${counted(diffs.length, 'file')} changed`,
    ...(added > 0 ? [`${counted(added, 'insertion')}(+)`] : []),
    ...(removed > 0 ? [`${counted(removed, 'deletion')}(-)`] : []),
  ].join(', ')
}
