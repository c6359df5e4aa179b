import { join } from 'node:path'
import type { EventId } from '../../events/event.js'
import { forwardChunk } from '../../events/file-log/constants.js'
import { logName } from '../../events/file-log/file-log.js'
import { scanForward } from '../../events/file-log/scan.js'
import type { Line } from '../../events/line.js'
import type { Home } from '../store/home.js'
import { workspaceLayout } from '../store/layout.js'
import { copyName, oldCopiesIn, unfinished } from '../store/old-copies.js'
import type { Place } from '../store/places.js'

/** Where the old log goes, and the blobs that only it names: `archive/redacted/<session>-<time>/`. */
export interface Aside {
  readonly working: string
  readonly final: string
}

export const asideFor = ({ ports }: Home, place: Place, id: EventId): Aside => {
  const folder = join(workspaceLayout(place.folder).archive, 'redacted')
  const isTaken = (path: string): boolean =>
    ports.fs.stat(path) !== null || ports.fs.stat(`${path}${unfinished}`) !== null
  let ms = ports.clock.now()
  while (isTaken(join(folder, copyName(id, ms)))) ms++
  const final = join(folder, copyName(id, ms))
  return { final, working: `${final}${unfinished}` }
}

/** Links the old log and its blobs there, on disk before the new log takes its place. */
export const linkAside = async (
  { ports: { fs } }: Home,
  sessionFolder: string,
  { working }: Aside,
  blobs: readonly string[],
): Promise<void> => {
  const kept = join(working, 'blobs')
  fs.makeDir(blobs.length === 0 ? working : kept)
  fs.link(join(sessionFolder, logName), join(working, logName))
  for (const name of blobs)
    if (fs.stat(join(sessionFolder, 'blobs', name)) !== null)
      fs.link(join(sessionFolder, 'blobs', name), join(kept, name))
  if (blobs.length > 0) await fs.syncDir(kept)
  await fs.syncDir(working)
  await fs.syncDir(join(working, '..'))
}

/**
 * Takes the blobs away that stand in the archive now, but for those that something `names`; then the redaction is done,
 * and the folder says so by its name.
 */
export const finishAside = async (
  { ports: { fs } }: Home,
  sessionFolder: string,
  { working, final }: Aside,
  names: ReadonlySet<string>,
): Promise<void> => {
  const gone = fs.readDir(join(working, 'blobs')).filter((name) => !names.has(name))
  for (const name of gone) fs.remove(join(sessionFolder, 'blobs', name))
  if (gone.length > 0) await fs.syncDir(join(sessionFolder, 'blobs'))
  fs.rename(working, final)
  await fs.syncDir(join(final, '..'))
}

/** What a redaction of the session left that was cut short. */
export const unfinishedOf = (home: Home, place: Place, id: EventId): readonly Aside[] =>
  oldCopiesIn(home, place)
    .filter(({ session, path }) => session === id && path.endsWith(unfinished))
    .map(({ path }) => ({ working: path, final: path.slice(0, -unfinished.length) }))

/**
 * Whether the session's log, of which these are the lines, is still the one that was linked there: then the new one never
 * took its place. By what they say and not by the file: a store may have been copied meanwhile.
 */
export const isStillOld = ({ ports: { fs } }: Home, { working }: Aside, lines: readonly Line[]): boolean => {
  const path = join(working, logName)
  if (fs.stat(path) === null) return true
  const tombstones = new Set(lines.filter(({ redacted }) => redacted).map(({ id }) => id))
  const file = fs.open(path, 'read')
  try {
    for (const segments of scanForward(file, 0, forwardChunk))
      for (const { line } of segments) if (line?.redacted === false && tombstones.has(line.id)) return false
    return true
  } finally {
    file.close()
  }
}
