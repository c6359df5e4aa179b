import { Damaged, LogLostTail, NotFound } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import type { EventLog } from '../../events/log.js'
import { findLine } from '../lookup.js'
import type { Home } from './home.js'
import { savedFoldOf } from './index-file.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'
import { isSame } from './saved-fold.js'

/**
 * Whether the event that the index knew as a log's last is nowhere in it: then acknowledged events were lost, and a torn
 * tail is no unfinished write. Reads from the log's end to that event; nothing where the file is the one that was folded,
 * unless `mustLook` (a byte may change without the file's time).
 */
export const lostTail = async (
  home: Home,
  place: Place,
  id: EventId,
  mustLook: boolean,
): Promise<LogLostTail | null> => {
  const saved = savedFoldOf(home.ports.fs, workspaceLayout(place.folder).index, id)
  const known = saved?.state.tail ?? null
  const log = home.log(place.folder)
  const stamp = log.stamp(id)
  if (saved === undefined || known === null || stamp === null) return null
  if (!mustLook && isSame(stamp, saved.stamp)) return null
  return (await holds(log, id, known)) ? null : new LogLostTail(id, known)
}

const holds = async (log: EventLog, id: EventId, known: EventId): Promise<boolean> => {
  try {
    return (await findLine(log, id, known, { salvage: true })) !== null
  } catch (error) {
    // A log that is gone was told of by whoever read it.
    if (error instanceof Damaged || error instanceof NotFound) return true
    throw error
  }
}
