import type { ListOptions, SessionRow, Store } from '../../session/api.js'
import { age } from '../age.js'
import type { Colours, Context, Run } from '../context.js'
import { drawTable } from '../draw-table.js'
import { short } from '../names.js'
import { safeLine, safeName } from '../safe-text.js'
import { clippedStart, loadWidths } from '../width.js'

export const run: Run = async (context, _args, options) => {
  const all = options.flag('all')
  const limit = options.count('limit') ?? context.config.list?.limit
  const status = options.text('status')
  const search = options.text('search')
  const wanted: ListOptions = {
    ...(all ? {} : { workspace: context.workspace }),
    sub: options.flag('sub'),
    ...(status === undefined ? {} : { status }),
    ...(search === undefined ? {} : { search }),
    ...(limit === undefined ? {} : { limit }),
  }
  const store = await context.store()
  const rows = await store.list(wanted)
  if (context.json) await context.out.jsonArray(rows)
  else if (rows.length > 0) await print(context, rows, all)
  else await context.warn(await nothing(context, store, all))
  return undefined
}

/** Why there is nothing to list; a workspace that seems to have moved is named, and never moved silently (docs/FORMAT.md). */
const nothing = async ({ storePath, workspace }: Context, store: Store, all: boolean): Promise<string> => {
  if (all)
    return `no sessions: in ${storePath}: make one with \`coppice new\`, or take over others with \`coppice import\``
  const [from] = store.hasWorkspace(workspace) ? [] : await store.movedFrom(workspace)
  const hint =
    from === undefined
      ? 'try list --all, or check -w'
      : `it may have been at ${from}: \`coppice relocate\` takes its sessions along`
  return `no sessions: in ${storePath}, workspace ${workspace}: ${hint}`
}

const print = async (context: Context, rows: readonly SessionRow[], all: boolean): Promise<void> => {
  await loadWidths(rows.flatMap(({ title, workspace }) => [title, workspace]))
  for (const line of sessionTable(rows, {
    all,
    now: context.now(),
    columns: context.out.columns,
    colours: context.colours,
  }))
    await context.out.line(line)
}

export interface TableOptions {
  /** Name the workspaces. */
  readonly all: boolean
  readonly now: number
  readonly columns: number
  readonly colours: Colours
}

/** The sessions as a person sees them; pure. */
export const sessionTable = (rows: readonly SessionRow[], options: TableOptions): readonly string[] => {
  const { all, now, columns, colours } = options
  const cells = rows.map((row) => [
    colours.yellow(short(row.session)),
    safeLine(row.title),
    colours.dim(age(row.updatedAt, now)),
    coloured(row.status, colours),
    colours.dim(String(row.events)),
    remarks(row, colours),
    ...(all ? [clippedStart(safeName(row.workspace), mostOfPath)] : []),
  ])
  const heads = [
    { head: 'ID' },
    { head: 'TITLE', least: 12 },
    { head: 'AGE', align: 'right' as const },
    { head: 'STATUS' },
    { head: 'EVENTS', align: 'right' as const },
    { head: '' },
    ...(all ? [{ head: 'WORKSPACE', least: 12, keep: 'end' as const }] : []),
  ]
  return drawTable(heads, cells, colours.dim, columns)
}

/** The end of a path says more than its beginning. */
const mostOfPath = 32

/** Problems that are no damage inside the log. */
const problemWords: Readonly<Record<string, string>> = {
  'newer-format': 'needs a newer version',
  'lost-tail': 'lost its end',
  StoreUnusable: 'cannot be read',
}

/** What is out of the ordinary. */
const remarks = (row: SessionRow, colours: Colours): string =>
  [
    row.problem === null ? '' : colours.red(problemWords[row.problemKind ?? ''] ?? 'damaged'),
    row.diverged.length > 0 ? colours.magenta('diverged') : '',
    row.branches > 1 ? colours.cyan(`${row.branches} branches`) : '',
    row.children.length > 0 ? colours.dim(`+${row.children.length} sub`) : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

const coloured = (status: string, colours: Colours): string => {
  if (status === 'completed') return colours.green(status)
  if (status === 'failed' || status === 'permission_denied') return colours.red(status)
  if (status === 'pending') return colours.dim(status)
  return colours.blue(status)
}
