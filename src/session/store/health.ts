import { join } from 'node:path'
import { LocksUnsupported } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { isSessionId } from '../../events/file-log/file-log.js'
import { tryLock } from '../../events/file-log/lock.js'
import type { Fs } from '../../events/ports.js'
import type { Home } from './home.js'
import { readIndex } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { oldCopiesIn, unfinished } from './old-copies.js'
import { type Place, placesIn, sessionsIn } from './places.js'
import { others } from './presence.js'
import { isSame } from './saved-fold.js'

/** How a store is, apart from what `verify` proves and `use` weighs. */
export interface Health {
  readonly sessions: number
  readonly workspaces: readonly WorkspaceHealth[]
  /** Sessions that some process holds open for writing. */
  readonly held: number
  /** Presence files of processes that are gone: they are taken away when they are looked at. */
  readonly swept: number
  /** Workspaces with a restore that did not come to its end, by path. */
  readonly interrupted: readonly string[]
  /** Sessions with a redaction that did not come to its end. */
  readonly unfinished: readonly EventId[]
  /** Sessions in the archive, and logs that `repair` and `redact` replaced, with the bytes of the latter. */
  readonly archive: { readonly sessions: number; readonly copies: number; readonly copyBytes: number }
  /** Sessions whose row in the index is that of their log as it stands. */
  readonly indexed: number
  /** Bytes of the search index; null where there is none. */
  readonly search: number | null
}

export interface WorkspaceHealth {
  /** '' where nobody knows it. */
  readonly path: string
  readonly sessions: number
  /** Whether there is a folder at the path. */
  readonly isThere: boolean
}

export const healthOf = async (home: Home): Promise<Health> => {
  const { fs } = home.ports
  const places = placesIn(home)
  const interrupted: string[] = []
  for (const place of places) if (await isInterrupted(home, place)) interrupted.push(place.path)
  const workspaces = places.map((place) => ({
    path: place.path,
    sessions: sessionsIn(home, place).length,
    isThere: place.path !== '' && fs.stat(place.path)?.isDirectory === true,
  }))
  const presences = places.flatMap((place) => presencesIn(home, place))
  const copies = places.flatMap((place) => oldCopiesIn(home, place))
  const sum = <T>(list: readonly T[], of: (item: T) => number): number =>
    list.reduce((total, item) => total + of(item), 0)
  return {
    sessions: sum(workspaces, ({ sessions }) => sessions),
    workspaces,
    held: presences.filter(({ alive }) => alive > 0).length,
    swept: sum(presences, ({ found, alive }) => found - alive),
    interrupted,
    unfinished: copies.filter(({ path }) => path.endsWith(unfinished)).map(({ session }) => session),
    archive: {
      sessions: sum(
        places,
        ({ folder }) => fs.readDir(workspaceLayout(folder).archive).filter(isSessionId).length,
      ),
      copies: copies.length,
      copyBytes: sum(copies, ({ path }) => sizeOf(fs, path)),
    },
    indexed: sum(places, (place) => indexedIn(home, place)),
    search: fs.stat(join(home.layout.search, 'index.db'))?.size ?? null,
  }
}

const isInterrupted = async (home: Home, place: Place): Promise<boolean> =>
  home.ports.fs.stat(workspaceLayout(place.folder).code) !== null &&
  (await home.code(place)).checkpoints.isInterrupted

const presencesIn = (
  home: Home,
  place: Place,
): readonly { readonly found: number; readonly alive: number }[] => {
  const { presence } = workspaceLayout(place.folder)
  const { fs } = home.ports
  return sessionsIn(home, place).map((id) => {
    const found = fs.readDir(presence(id)).filter((name) => name.endsWith('.json')).length
    return { found, alive: found === 0 ? 0 : others(presence(id), fs).length }
  })
}

const indexedIn = (home: Home, place: Place): number => {
  const { rows } = readIndex(home.ports.fs, workspaceLayout(place.folder).index)
  const log = home.log(place.folder)
  return sessionsIn(home, place).filter((id) => {
    const [row, stamp] = [rows.get(id), log.stamp(id)]
    return row !== undefined && stamp !== null && isSame(row.stamp, stamp)
  }).length
}

const sizeOf = (fs: Fs, path: string): number => {
  const stat = fs.stat(path)
  if (stat?.isDirectory !== true) return stat?.size ?? 0
  return fs.readDir(path).reduce((sum, name) => sum + sizeOf(fs, join(path, name)), 0)
}

/**
 * Tries kernel locks where the store is: one that is held must be refused to a second opener. Null where they work, else
 * why they do not. Throws the system's error where nothing can be written there, or the native module does not load.
 */
export const whyNoLocks = ({ layout, ports: { fs, random } }: Home): string | null => {
  const path = join(layout.projects, `.lock-${random.hex(4)}`)
  const first = fs.open(path, 'new')
  try {
    const second = fs.open(path, 'append')
    try {
      if (!tryLock(first, 'exclusive')) return 'a lock that nobody holds cannot be had'
      return tryLock(second, 'exclusive') ? 'a lock that is held is given again' : null
    } finally {
      second.close()
    }
  } catch (error) {
    if (error instanceof LocksUnsupported) return error.what
    throw error
  } finally {
    first.close()
    fs.remove(path)
  }
}
