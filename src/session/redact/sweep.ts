import { dirname, join } from 'node:path'
import { logName } from '../../events/file-log/file-log.js'
import { replacing } from '../../events/file-log/replace.js'
import type { Home } from '../store/home.js'
import { workspaceLayout } from '../store/layout.js'
import type { Place } from '../store/places.js'

/** What no one has touched for so long is no write that is under way (ms). */
const settled = 60 * 60 * 1000

/**
 * Takes away what crashes left behind of this session, which may hold what is to go: copies of the log that never took
 * its place (whoever writes one holds the lock that the caller holds), and old drafts of the index.
 */
export const sweep = (home: Home, place: Place, sessionFolder: string): void => {
  const { fs } = home.ports
  for (const name of fs.readDir(sessionFolder))
    if (name.startsWith(replacing) || name.startsWith(`${logName}.`)) fs.remove(join(sessionFolder, name))
  const { index, folder } = workspaceLayout(place.folder)
  const draft = `${index.slice(dirname(index).length + 1)}.`
  for (const name of fs.readDir(folder))
    if (name.startsWith(draft) && isSettled(home, join(folder, name))) fs.remove(join(folder, name))
}

/** Blobs that no event names, of appends that came to nothing; what is younger may wait for its line. */
export const staleBlobs = (
  home: Home,
  sessionFolder: string,
  named: ReadonlySet<string>,
): readonly string[] => {
  const folder = join(sessionFolder, 'blobs')
  return home.ports.fs
    .readDir(folder)
    .filter((name) => !named.has(name) && isSettled(home, join(folder, name)))
}

const isSettled = ({ ports: { fs, clock } }: Home, path: string): boolean => {
  const stat = fs.stat(path)
  return stat?.isFile === true && clock.now() - stat.mtimeMs > settled
}
