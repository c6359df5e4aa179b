import type { EventId } from '../../events/event.js'
import type { Home } from '../store/home.js'
import { IndexFile } from './index-file.js'

/**
 * Takes sessions out of the search index, so that nothing of what they said stands in its file: for what rewrites or removes a log
 * (redact, purge), once the new log is in its place. Nothing is done where there is no index. Rejects where another process
 * holds it for a minute; an index that cannot be changed is removed.
 */
export const forget = async (home: Home, ...sessions: readonly EventId[]): Promise<void> => {
  const gone = new Set<string>(sessions)
  await IndexFile.of(home)?.change((database) => {
    const found = [...database.logs()].filter(([name]) => gone.has(name.slice(name.lastIndexOf('/') + 1)))
    for (const [, { n }] of found) database.removeLog(n)
    if (found.length > 0) database.wipe()
  })
}

/** Removes the whole index; the next search makes it anew. */
export const forgetAll = async (home: Home): Promise<void> => IndexFile.of(home)?.remove()
