import type { Run } from '../context.js'
import { notYet } from '../errors/usage.js'
import { readerOf, short, withSession } from '../names.js'

export const run: Run = async (context, [name = '', event = ''], options) => {
  if (options.flag('code')) throw notYet('code checkpoints (--code)')
  const reader = await readerOf(context, name)
  const to = await reader.resolve(event)
  if (options.flag('dryRun')) {
    if (context.json) await context.out.json({ plan: [], head: to })
    else await context.out.line(`the head would move to ${short(to)}; no code is tracked`)
    return undefined
  }
  await withSession(context, reader.id, (session) => session.checkout(to))
  const head = await reader.resolve('@')
  if (context.json) await context.out.json({ head })
  else await context.out.line(`head is now ${short(head)}`)
  return undefined
}
