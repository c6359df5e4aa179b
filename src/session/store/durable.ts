import { join } from 'node:path'
import { unsyncedMark } from '../../events/file-log/constants.js'
import { logName } from '../../events/file-log/file-log.js'
import type { FileHandle, Fs } from '../../events/ports.js'
import type { Home } from './home.js'
import { type SavedFold, saveRows } from './index-file.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'

/** How many logs are synced at once. */
const atOnce = 16

/**
 * Keeps folds of what is surely on disk; gives those it kept. No row may say more than the log will hold after a power cut
 * (INV-8), and whoever wrote the last lines may not have synced them yet, or may have died before.
 */
export const saveDurable = async (
  { ports: { fs } }: Home,
  place: Place,
  folds: readonly SavedFold[],
): Promise<readonly SavedFold[]> => {
  const { index, session } = workspaceLayout(place.folder)
  const durable: SavedFold[] = []
  for (let at = 0; at < folds.length; at += atOnce) {
    const some = folds.slice(at, at + atOnce)
    const are = await Promise.all(
      some.map((fold) => isDurable(fs, join(session(fold.session), logName), fold)),
    )
    durable.push(...some.filter((_, i) => are[i]))
  }
  saveRows(fs, index, durable)
  return durable
}

/** Whether all that was folded is on disk now. False for a log whose sync failed, and where this process may not sync. */
export const isDurable = async (fs: Fs, path: string, { stamp }: SavedFold): Promise<boolean> => {
  let file: FileHandle | undefined
  try {
    file = fs.open(path, 'read')
    await file.sync()
    const { dev, ino, mode } = file.stat()
    return `${dev}:${ino}` === stamp.identity && (mode & unsyncedMark) === 0
  } catch {
    return false
  } finally {
    file?.close()
  }
}
