import type { Run } from '../context.js'
import { refsOf } from '../names.js'
import { counted } from '../quantity.js'

export const run: Run = async (context, names) => {
  const store = await context.store()
  const refs = await refsOf(context, names)
  const sessions = await store.reindex(refs.length === 0 ? undefined : refs.map(({ id }) => id))
  if (context.json) await context.out.json({ sessions })
  else await context.out.line(`${counted(sessions, 'session')} indexed`)
  return undefined
}
