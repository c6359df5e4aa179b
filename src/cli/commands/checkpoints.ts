import { shownPath } from '../../checkpoints/shown-path.js'
import type { CheckpointRow } from '../../session/api.js'
import { age } from '../age.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { drawTable } from '../draw-table.js'
import { eventOf, readerOf, short } from '../names.js'
import { safeLine, safeName } from '../safe-text.js'
import { loadWidths } from '../width.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const at = await eventOf(reader, options.text('at'), view)
  const rows = (await reader.checkpoints({ ...view, ...at })).map(shown)
  if (context.json) await context.out.jsonArray(rows)
  else if (rows.length === 0) await context.warn(`no checkpoints on this branch: ${reader.id}`)
  else await print(context, rows)
  return finish()
}

const shown = (row: CheckpointRow): CheckpointRow => ({
  ...row,
  files: row.files.map((record) => ({ ...record, path: shownPath(record.path) })),
  unread: row.unread.map(({ path, why }) => ({ path: shownPath(path), why })),
})

const print = async (context: Context, rows: readonly CheckpointRow[]): Promise<void> => {
  const { colours, out, now } = context
  const what = rows.map(whatOf)
  await loadWidths(what)
  const table = drawTable(
    [
      { head: 'ID' },
      { head: 'AGE', align: 'right' },
      { head: 'REASON' },
      { head: 'COMMIT' },
      { head: 'FILES', align: 'right' },
      { head: '', least: 12 },
    ],
    rows.map(({ id, at, reason, commit, failed, files }, i) => [
      colours.yellow(short(id)),
      colours.dim(age(at, now())),
      safeLine(reason),
      failed === null ? short(commit ?? '') : colours.red('failed'),
      failed === null ? String(files.length) : '',
      what[i] ?? '',
    ]),
    colours.dim,
    out.columns,
  )
  for (const line of table) await out.line(line)
}

const mostNamed = 3

/** The first files by name, those that could not be read first, or why there are none. */
const whatOf = ({ files, failed, unread }: CheckpointRow): string => {
  if (failed !== null) return safeLine(failed)
  const missed = unread.slice(0, mostNamed).map(({ path }) => `not read: ${safeName(path)}`)
  const names = files
    .slice(0, mostNamed)
    .map(({ path, kind }) => `${kind === 'absent' ? '-' : ''}${safeName(path)}`)
  return [...missed, ...names, ...(files.length > mostNamed ? ['…'] : [])].join(', ')
}
