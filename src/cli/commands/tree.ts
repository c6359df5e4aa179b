import type { Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { drawTree } from '../draw-tree.js'
import { readerOf } from '../names.js'
import { loadWidths } from '../width.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const tree = await reader.tree({ salvage: options.flag('salvage'), report })
  const { colours, out, now, json } = context
  if (json) {
    await out.json(tree)
    return finish()
  }
  const { title } = await reader.row()
  await loadWidths([title, ...tree.nodes.map(({ text }) => text)])
  for (const line of drawTree(tree, { columns: out.columns, colours, now: now(), title }))
    await out.line(line)
  return finish()
}
