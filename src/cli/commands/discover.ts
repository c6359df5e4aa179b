import type { Run } from '../context.js'
import { drawTable } from '../draw-table.js'
import { exit } from '../exit.js'
import { safeName } from '../safe-text.js'
import { discovered } from '../sources.js'
import { loadWidths } from '../width.js'

export const run: Run = async (context) => {
  const unread: string[] = []
  const found = await discovered(context, (path, code) => unread.push(`cannot be read (${code}): ${path}`))
  for (const what of unread) await context.warn(what)
  const code = unread.length > 0 ? exit.failed : exit.done
  const { json, out, colours } = context
  if (json) {
    await out.jsonArray(
      found.map(({ format, path, sources }) => ({ format: format.name, path, sessions: sources.length })),
    )
    return code
  }
  if (found.length === 0)
    await context.warn('no sessions of other agents: none of the known folders holds any')
  const rows = found.map(({ format, path, sources }) => [format.name, String(sources.length), safeName(path)])
  const heads = [{ head: 'FORMAT' }, { head: 'SESSIONS', align: 'right' as const }, { head: 'PATH' }]
  await loadWidths(found.map(({ path }) => path))
  if (rows.length > 0) for (const line of drawTable(heads, rows, colours.dim)) await out.line(line)
  return code
}
