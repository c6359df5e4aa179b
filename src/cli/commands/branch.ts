import { BranchName } from '../../events/event.js'
import type { TreeView } from '../../projections/tree.js'
import { age } from '../age.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { drawTable } from '../draw-table.js'
import { Usage } from '../errors/usage.js'
import { eventOf, readerOf, short, withSession } from '../names.js'
import type { Options } from '../options.js'
import { safeLine } from '../safe-text.js'
import { loadWidths } from '../width.js'

export const run: Run = async (context, [name = '', branch], options) => {
  if (branch === undefined) return list(context, name, options)
  checkName(branch)
  const reader = await readerOf(context, name)
  const { at } = await eventOf(reader, options.text('at'))
  const id = await withSession(context, reader.id, (session) => session.branch(branch, at))
  if (context.json) await context.out.json({ branch, id })
  else await context.out.line(`branch ${safeLine(branch)} begins at ${short(id)}`)
  return undefined
}

/** The rule of branch events (docs/FORMAT.md), said as what it is here: wrong usage. */
const checkName = (branch: string): void => {
  if (!BranchName.is(branch))
    throw new Usage(
      'a branch name has 1 to 200 characters, is not all hex, and does not begin with @',
      safeLine(branch),
      'give another name',
    )
}

const list = async (context: Context, name: string, options: Options): Promise<number> => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const tree = await reader.tree({ salvage: options.flag('salvage'), report })
  if (context.json) await context.out.jsonArray(tree.branches)
  else {
    await loadWidths(tree.branches.map((end) => end.name))
    for (const line of table(context, tree)) await context.out.line(line)
  }
  return finish()
}

const table = ({ colours, now }: Context, { branches, head }: TreeView): readonly string[] =>
  drawTable(
    [
      { head: '' },
      { head: 'BRANCH' },
      { head: 'LEAF' },
      { head: 'EVENTS', align: 'right' },
      { head: 'AGE', align: 'right' },
      { head: '' },
    ],
    branches.map(({ name, leaf, events, updatedAt, diverged }) => [
      leaf === head ? colours.green('*') : ' ',
      safeLine(name),
      colours.yellow(short(leaf)),
      String(events),
      colours.dim(age(updatedAt, now())),
      diverged ? colours.magenta('diverged') : '',
    ]),
    colours.dim,
  )
