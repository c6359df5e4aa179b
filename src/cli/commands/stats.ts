import { hasTag } from '../../events/errors/tagged.js'
import type { Context, Run } from '../context.js'
import { drawTable } from '../draw-table.js'
import { exit, messageOf } from '../exit.js'
import { short } from '../names.js'
import { safeLine } from '../safe-text.js'
import { type StatsRow, statsRows } from '../stats-rows.js'
import { loadWidths } from '../width.js'

/** A session that cannot be read is told, and the others are counted all the same. */
export const run: Run = async (context, _args, options) => {
  const store = await context.store()
  const scope = options.flag('all') ? {} : { workspace: context.workspace }
  const rows: StatsRow[] = []
  let code: number = exit.done
  for (const { session } of await store.list({ ...scope, sub: true })) {
    try {
      const reader = await store.reader(session)
      rows.push(...statsRows(session, await reader.events()))
    } catch (error) {
      if (!hasTag(error, 'Damaged')) throw error
      await context.warn(messageOf(error))
      code = exit.failed
    }
  }
  rows.sort((a, b) => (a.day === b.day ? a.model.localeCompare(b.model) : a.day < b.day ? 1 : -1))
  if (context.json) await context.out.jsonArray(rows)
  else {
    await loadWidths(rows.map(({ model }) => model))
    for (const line of table(context, rows)) await context.out.line(line)
  }
  return code
}

const table = ({ colours }: Context, rows: readonly StatsRow[]): readonly string[] =>
  drawTable(
    [
      { head: 'DAY' },
      { head: 'MODEL' },
      { head: 'SESSION' },
      ...['REQUESTS', 'INPUT', 'OUTPUT', 'CACHED', 'COST'].map((head) => ({ head, align: 'right' as const })),
    ],
    [
      ...rows.map((row) => [
        row.day,
        safeLine(row.model),
        colours.yellow(short(row.session)),
        ...numbers(row),
      ]),
      ...(rows.length > 1 ? [['', colours.bold('total'), '', ...numbers(totalOf(rows))]] : []),
    ],
    colours.dim,
  )

type Numbers = Pick<StatsRow, 'requests' | 'input' | 'output' | 'cacheRead' | 'costUsd'>

const totalOf = (rows: readonly StatsRow[]): Numbers => {
  const sum = (of: (row: StatsRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const known = rows.some(({ costUsd }) => costUsd !== undefined)
  return {
    requests: sum((row) => row.requests),
    input: sum((row) => row.input),
    output: sum((row) => row.output),
    cacheRead: sum((row) => row.cacheRead),
    ...(known ? { costUsd: sum((row) => row.costUsd ?? 0) } : {}),
  }
}

const numbers = ({ requests, input, output, cacheRead, costUsd }: Numbers): readonly string[] => [
  String(requests),
  input.toLocaleString('en'),
  output.toLocaleString('en'),
  input > 0 ? `${Math.round((100 * Math.min(cacheRead, input)) / input)} %` : '',
  costUsd === undefined ? '' : `$${costUsd.toFixed(2)}`,
]
