import type { FileDiff } from '../../checkpoints/diff.js'
import type { Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { drawDiff, drawStat } from '../draw-diff.js'
import { readerOf } from '../names.js'
import { loadWidths } from '../width.js'

/** Without B, what changed since A: the head is the other side. */
export const run: Run = async (context, [name = '', a = '', b = '@'], options) => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const from = await reader.resolve(a, view)
  const to = await reader.resolve(b, view)
  const diffs = await reader.diff(from, to, view)
  const { json, out, colours } = context
  const isStat = options.flag('stat')
  if (json) await out.jsonArray(diffs.map((diff) => rowOf(diff, isStat)))
  else if (isStat) {
    await loadWidths(diffs.map(({ path }) => path))
    for (const line of drawStat(diffs, out.columns, colours)) await out.line(line)
  }
  // What is piped on is to be applied: its bytes stay as they are.
  else
    for (const { text } of diffs)
      if (out.isTerminal) for (const line of drawDiff(text, colours)) await out.line(line)
      else await out.write(text)
  return finish()
}

const rowOf = ({ path, status, isBinary, added, removed, text }: FileDiff, isStat: boolean): object => ({
  path,
  status,
  binary: isBinary,
  added,
  removed,
  ...(isStat ? {} : { diff: text }),
})
