import { Damaged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import type { EventLog } from '../../events/log.js'
import { sessionIndex } from '../../projections/session-index.js'
import { OpenSession } from '../open-session.js'
import { Reader } from '../reader.js'
import { LiveSession } from '../session.js'
import { toAppend } from '../sight.js'
import type { Home } from './home.js'
import { readIndex, type SavedFold, saveRows } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { rowFor } from './listing.js'
import { lostTail } from './lost-tail.js'
import type { Place } from './places.js'
import { hold, others } from './presence.js'
import { currentFold } from './saved-fold.js'

/** Opens a session for writing: the saved fold and the log from where it ends (INV-11), and a presence for others to see. */
export const openSession = async (home: Home, place: Place, id: EventId): Promise<LiveSession> => {
  const log = home.log(place.folder)
  const { index, presence } = placesOf(place, id)
  const saved = readIndex(home.ports.fs, index, id).rows.get(id)
  const { fold, isWhole } = await foldToAppend(log, id, saved)
  const { head } = fold.state
  if (head === null)
    throw new Damaged(place.folder, {
      kind: 'no-root',
      line: 1,
      offset: 0,
      bytes: 0,
      detail: 'the log has no event',
    })
  const held = hold(presence, home.ports)
  if (isWhole && fold !== saved) saveRows(home.ports.fs, index, [fold])
  const open = new OpenSession({
    log,
    ports: home.ports,
    id,
    durability: home.durability,
    state: { index: fold.state, position: head, branch: null },
    tail: { from: fold.from, end: fold.stamp.bytes },
    others: others(presence, home.ports.fs, held.name),
    save: ({ index: state }, tail) => {
      // Before its first append a gap is still open, and no row may say that all is well.
      if (isWhole || tail.end > fold.stamp.bytes)
        saveFold(home, place, { session: id, state, from: tail.from }, tail.end)
    },
    release: held.release,
  })
  return new LiveSession(open, readerOf(home, place, id))
}

/**
 * The fold as the next append will leave the log. A gap with orphans stops every other reader; an append closes it, as
 * long as no saved fold knows that what it lost, or what hangs on that, was acknowledged (LogLostTail then).
 */
const foldToAppend = async (
  log: EventLog,
  id: EventId,
  saved: SavedFold | undefined,
): Promise<{ readonly fold: SavedFold; readonly isWhole: boolean }> => {
  try {
    return { fold: await currentFold(log, id, saved), isWhole: true }
  } catch (error) {
    if (!(error instanceof Damaged) || error.damage.kind !== 'gap') throw error
    return { fold: await currentFold(log, id, saved, toAppend), isWhole: false }
  }
}

/** Where others wrote since, the row is only behind: the next reader folds the rest. */
const saveFold = (home: Home, place: Place, fold: Omit<SavedFold, 'stamp'>, end: number): void => {
  const now = home.log(place.folder).stamp(fold.session)
  if (now === null) return
  const stamp = now.bytes === end ? now : { ...now, bytes: end, modified: 0 }
  saveRows(home.ports.fs, workspaceLayout(place.folder).index, [{ ...fold, stamp }])
}

const placesOf = (place: Place, id: EventId): { readonly index: string; readonly presence: string } => {
  const { index, presence } = workspaceLayout(place.folder)
  return { index, presence: presence(id) }
}

/** Reads a session: nothing is locked, nothing is written. */
export const readerOf = (home: Home, place: Place, id: EventId): Reader => {
  const log = home.log(place.folder)
  return new Reader(log, id, place.path, {
    row: () => rowFor(home, place, id),
    lostTail: (mustLook) => lostTail(home, place, id, mustLook),
    savedAgrees: async () => {
      const saved = readIndex(home.ports.fs, workspaceLayout(place.folder).index, id).rows.get(id)
      return saved === undefined ? null : isReplay(saved, home, place)
    },
  })
}

/** Whether a saved fold is what its log gives, folded from the first event to the one it ends with. */
export const isReplay = async (saved: SavedFold, home: Home, place: Place): Promise<boolean> => {
  let state = sessionIndex.initial
  for await (const batch of home.log(place.folder).readForward(saved.session)) {
    for (const line of batch) {
      state = sessionIndex.apply(state, eventOf(line, saved.session))
      if (line.id === saved.state.tail) return JSON.stringify(state) === JSON.stringify(saved.state)
    }
  }
  return false
}
