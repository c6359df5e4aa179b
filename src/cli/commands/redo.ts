import type { Run } from '../context.js'
import { readerOf, short, withSession } from '../names.js'

export const run: Run = async (context, [name = '']) => {
  const reader = await readerOf(context, name)
  await withSession(context, reader.id, (session) => session.redo())
  const head = await reader.resolve('@')
  if (context.json) await context.out.json({ head })
  else await context.out.line(`head is now ${short(head)}`)
  return undefined
}
