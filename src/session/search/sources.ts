import type { EventId } from '../../events/event.js'
import type { EventLog, LogStamp } from '../../events/log.js'
import type { Home } from '../store/home.js'
import { readIndex } from '../store/index-file.js'
import { workspaceLayout } from '../store/layout.js'
import { checkStore, type Place, placeAt, placesIn, sessionsIn } from '../store/places.js'
import { isSame } from '../store/saved-fold.js'

/** A session to search: its log, as it was when the search began. */
export interface Source {
  readonly session: EventId
  readonly workspace: string
  /** In the index: a copied folder may hold the same session twice. */
  readonly name: string
  readonly log: EventLog
  readonly stamp: LogStamp
  readonly place: Place
}

const nameOf = (place: Place, session: EventId): string => `${place.key}/${session}`

/** The sessions of a workspace, or of the whole store. */
export const sourcesIn = (home: Home, workspace: string | undefined): readonly Source[] => {
  checkStore(home)
  const place = workspace === undefined ? null : placeAt(home, workspace)
  const places = workspace === undefined ? placesIn(home) : place === null ? [] : [place]
  return places.flatMap((one) =>
    sessionsIn(home, one).map((session) => {
      const log = home.log(one.folder)
      // A folder without a log is searched too: it is told as what it is.
      const stamp = log.stamp(session) ?? { bytes: 0, identity: '', modified: 0 }
      return { session, workspace: one.path, name: nameOf(one, session), log, stamp, place: one }
    }),
  )
}

/** The newest time in each log whose saved fold is current, by the log's name: what need not be read first. */
export const newestTimes = (home: Home, sources: readonly Source[]): ReadonlyMap<string, string> => {
  const times = new Map<string, string>()
  for (const place of new Set(sources.map((source) => source.place))) {
    const { rows } = readIndex(home.ports.fs, workspaceLayout(place.folder).index)
    for (const source of sources) {
      const saved = source.place === place ? rows.get(source.session) : undefined
      if (saved !== undefined && isSame(saved.stamp, source.stamp)) times.set(source.name, saved.state.tailAt)
    }
  }
  return times
}
