import type { Context } from './context.js'
import { refOf, short } from './names.js'

/** Moves one session to the archive, and says how it comes back. */
export const archive = async (
  context: Context,
  name: string,
  why: 'archive' | 'delete',
): Promise<undefined> => {
  const store = await context.store()
  const { id } = await refOf(context, name)
  await store.archive(id, why)
  if (context.json) await context.out.json({ session: id })
  else
    await context.out.line(`${id} is in the archive: bring it back with \`coppice unarchive ${short(id)}\``)
  return undefined
}
