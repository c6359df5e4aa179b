import { duration } from '../age.js'
import type { Context, Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { short } from '../names.js'
import { safeName } from '../safe-text.js'
import { archive } from '../to-archive.js'

export const run: Run = async (context, [name], options) => {
  const olderThan = options.text('olderThan')
  if (options.flag('purge')) {
    if (name !== undefined)
      throw new Usage(
        '--purge takes no session',
        name,
        'it removes all that is in the archive, see --older-than',
      )
    return purge(context, olderThan === undefined ? undefined : duration(olderThan))
  }
  if (olderThan !== undefined) throw new Usage('--older-than goes with --purge', '', 'add --purge')
  return name === undefined ? list(context) : archive(context, name, 'archive')
}

const purge = async (context: Context, olderThanMs: number | undefined): Promise<undefined> => {
  const store = await context.store()
  const { sessions, copies } = await store.purge(olderThanMs)
  if (context.json)
    await context.out.json({
      purged: sessions.map(({ id }) => id),
      copies: copies.map(({ session, kind }) => ({ session, kind })),
    })
  else {
    for (const { id } of sessions) await context.out.line(`${id} was removed for good`)
    for (const { session, kind } of copies)
      await context.out.line(
        `the ${kind === 'damaged' ? 'damaged' : 'unredacted'} log of ${session} was removed for good`,
      )
    await context.out.line(`${sessions.length + copies.length} removed`)
  }
  return undefined
}

const list = async (context: Context): Promise<undefined> => {
  const store = await context.store()
  const refs = await store.archived()
  if (context.json) {
    await context.out.jsonArray(refs.map(({ id, workspace }) => ({ session: id, workspace })))
    return undefined
  }
  if (refs.length === 0) await context.warn(`the archive is empty: ${context.storePath}`)
  for (const { id, workspace } of refs)
    await context.out.line(`${context.colours.yellow(short(id))}  ${safeName(workspace)}`)
  return undefined
}
