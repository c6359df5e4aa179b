import { NotFound } from '../events/errors/not-found.js'
import { hasTag } from '../events/errors/tagged.js'
import type { EventId } from '../events/event.js'
import type { ReadView, Session, SessionReader, SessionRef } from '../session/api.js'
import type { Context } from './context.js'
import { safeName } from './safe-text.js'

/** A session to read: a unique prefix of its id, looked up in the whole store. */
export const readerOf = async (context: Context, name: string): Promise<SessionReader> => {
  const store = await context.store()
  return store.reader(name).catch(withPlace(context, name))
}

/** Holds a session open for writing while `work` runs. */
export const withSession = async <T>(
  context: Context,
  name: string,
  work: (session: Session) => Promise<T>,
): Promise<T> => {
  const store = await context.store()
  const session = await store.open(name).catch(withPlace(context, name))
  try {
    await tellOthers(context, session)
    return await work(session)
  } finally {
    session.close()
  }
}

/** Who opens a session for writing is told who else holds it, and which ends others left (INV-7). */
const tellOthers = async (context: Context, { id, others, diverged }: Session): Promise<void> => {
  for (const { pid, host } of others)
    await context.warn(
      `process ${pid}${host === '' ? '' : ` on ${host}`} holds session ${short(id)} open too`,
    )
  if (diverged.length > 0) {
    const ends = diverged.map(({ leaf }) => short(leaf)).join(', ')
    await context.warn(`session ${short(id)} has diverged: ${ends}: see \`coppice tree ${short(id)}\``)
  }
}

export const refOf = async (context: Context, name: string): Promise<SessionRef> => {
  const store = await context.store()
  return store.find(name).catch(withPlace(context, name))
}

/** Several at once, each once; all must be there. */
export const refsOf = async (context: Context, names: readonly string[]): Promise<readonly SessionRef[]> => {
  const refs = new Map<EventId, SessionRef>()
  for (const name of names) {
    const ref = await refOf(context, name)
    refs.set(ref.id, ref)
  }
  return [...refs.values()]
}

/** The event that an option names, if it was given. */
export const eventOf = async (
  reader: SessionReader,
  name: string | undefined,
  view: ReadView = {},
): Promise<{ readonly at?: EventId }> => (name === undefined ? {} : { at: await reader.resolve(name, view) })

/** Says of a session that is not there where it was looked for. */
const withPlace =
  (context: Context, name: string) =>
  (error: unknown): never => {
    if (!hasTag(error, 'NotFound') || (error as NotFound).kind !== 'session') throw error
    const where = `in ${context.storePath}, workspace ${context.workspace}`
    const hint = /^[0-9a-f]{1,3}$/.test(name)
      ? 'give at least 4 characters of its id'
      : 'try list --all, or check -w'
    throw new NotFound('session', safeName(name), where, hint)
  }

/** What people are shown of an id. */
export const short = (id: string): string => id.slice(0, 8)
