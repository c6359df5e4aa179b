import type { Run } from '../context.js'
import { readerOf, withSession } from '../names.js'
import { safeLine } from '../safe-text.js'
import { titleOf } from './new.js'

export const run: Run = async (context, [name = '', text]) => {
  const title = titleOf(text)
  if (title !== undefined) {
    await withSession(context, name, (session) => session.title(title, 'user'))
    if (context.json) await context.out.json({ title, by: 'user' })
    return undefined
  }
  const row = await (await readerOf(context, name)).row()
  if (context.json) await context.out.json({ title: row.title, by: row.titleBy })
  else await context.out.line(safeLine(row.title))
  return undefined
}
