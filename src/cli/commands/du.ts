import type { SessionUse, Use } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { drawTable } from '../draw-table.js'
import { exit } from '../exit.js'
import { refsOf, short } from '../names.js'
import { bytes } from '../quantity.js'
import { safeName } from '../safe-text.js'
import { loadWidths } from '../width.js'

export const run: Run = async (context, names) => {
  const store = await context.store()
  const refs = await refsOf(context, names)
  const use = await store.use(refs.length === 0 ? undefined : refs.map(({ id }) => id))
  if (context.json) await context.out.json(use)
  else await print(context, use)
  const failed = use.workspaces.filter(({ why }) => why !== null)
  for (const { workspace, why } of failed) await context.warn(`code not counted: ${workspace}: ${why}`)
  return failed.length > 0 ? exit.failed : exit.done
}

const print = async (context: Context, use: Use): Promise<void> => {
  const { colours, out } = context
  await loadWidths([...use.sessions, ...use.workspaces].map(({ workspace }) => workspace))
  const sessions = [...use.sessions].sort((a, b) => sizeOf(b) - sizeOf(a))
  const number = (head: string) => ({ head, align: 'right' as const })
  const place = { head: 'WORKSPACE', least: 12, keep: 'end' as const }
  for (const line of drawTable(
    [
      { head: 'SESSION' },
      number('LOG'),
      number('BLOBS'),
      number('CODE'),
      number('OWN'),
      number('CHECKPOINTS'),
      { head: '' },
      place,
    ],
    sessions.map((row) => [
      colours.yellow(short(row.session)),
      bytes(row.log),
      bytes(row.blobs),
      bytes(row.code),
      bytes(row.ownCode),
      String(row.checkpoints),
      row.archived ? colours.dim('archived') : '',
      safeName(row.workspace),
    ]),
    colours.dim,
    out.columns,
  ))
    await out.line(line)
  await out.line()
  for (const line of totals(use)) await out.line(line)
}

/** What one session alone takes: objects that others lead to as well would stay without it. */
const sizeOf = ({ log, blobs, ownCode }: SessionUse): number => log + blobs + ownCode

/** Code is added up by workspace, where each object counts once. */
const totals = ({ sessions, workspaces, caches }: Use): readonly string[] => {
  const sum = <T>(rows: readonly T[], of: (row: T) => number): number =>
    rows.reduce((all, row) => all + of(row), 0)
  const logs = sum(sessions, ({ log }) => log)
  const blobs = sum(sessions, (row) => row.blobs)
  const code = sum(workspaces, (row) => row.code)
  const unreached = sum(workspaces, (row) => row.unreached)
  const freed =
    unreached > 0 ? `  (${bytes(unreached)} that no session leads to: \`coppice gc\` frees them)` : ''
  const rows: readonly (readonly [string, number, string])[] = [
    ['logs', logs, ''],
    ['blobs', blobs, ''],
    ['code', code, freed],
    ['caches', caches, ''],
    ['total', logs + blobs + code + caches, ''],
  ]
  return rows.map(([name, size, more]) => `${name.padEnd(8)}${bytes(size).padStart(10)}${more}`)
}
