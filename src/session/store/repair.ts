import { join } from 'node:path'
import { Refused } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { logName } from '../../events/file-log/file-log.js'
import { repairLog } from '../../events/file-log/repair.js'
import type { SessionRepaired } from '../api.js'
import type { Home } from './home.js'
import { savedFoldOf } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { copyName } from './old-copies.js'
import type { Place } from './places.js'
import { others } from './presence.js'
import { reindex } from './reindex.js'

/** Replaces a damaged log by one of all that is provably whole; the damaged one goes to the archive, unchanged. */
export const repairSession = async (home: Home, place: Place, id: EventId): Promise<SessionRepaired> => {
  const { session, archive, presence, index } = workspaceLayout(place.folder)
  const [holder] = others(presence(id), home.ports.fs)
  if (holder !== undefined)
    throw new Refused(`process ${holder.pid} holds it open`, `session ${id}`, 'close it there first', true)
  const archived = join(archive, 'damaged', `${copyName(id, home.ports.clock.now())}.jsonl`)
  const repaired = await repairLog(join(session(id), logName), archived, home.ports)
  if (repaired === null)
    throw new Refused(
      'nothing to repair: all of the log proves itself or was named by a `recovered` note',
      `session ${id}`,
      'see `coppice verify` for what else may be wrong',
    )
  // Before the index takes the new log as it stands, what it knew of the old one tells what is missing at the end.
  const known = savedFoldOf(home.ports.fs, index, id)?.state.tail ?? null
  await reindex(home, [{ id, key: place.key, workspace: place.path, place }])
  const { kept, lost, ids } = repaired
  return { kept, lost, lostTail: known === null || ids.has(known) ? null : known }
}
