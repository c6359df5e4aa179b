import { resolve } from 'node:path'
import type { Run } from '../context.js'
import { counted } from '../quantity.js'

export const run: Run = async (context, [from = '', to = '']) => {
  const store = await context.store()
  const sessions = await store.relocate(resolve(context.cwd, from), resolve(context.cwd, to))
  if (context.json) await context.out.json({ sessions })
  else await context.out.line(`${counted(sessions, 'session')} moved`)
  return undefined
}
