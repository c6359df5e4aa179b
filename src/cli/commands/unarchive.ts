import type { Run } from '../context.js'

export const run: Run = async (context, [name = '']) => {
  const store = await context.store()
  const { id, workspace } = await store.unarchive(name)
  if (context.json) await context.out.json({ session: id, workspace })
  else await context.out.line(id)
  return undefined
}
