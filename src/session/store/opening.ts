import { join } from 'node:path'
import { Damaged, Tagged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import type { EventLog, LogStamp } from '../../events/log.js'
import { sessionIndex } from '../../projections/session-index.js'
import type { WorkspaceCode } from '../code/workspace-code.js'
import { OpenSession } from '../open-session.js'
import { Reader } from '../reader.js'
import { LiveSession } from '../session.js'
import { toAppend } from '../sight.js'
import { saveDurable } from './durable.js'
import type { Home } from './home.js'
import { type SavedFold, savedFoldOf, saveRows } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { rowFor } from './listing.js'
import { lostTail } from './lost-tail.js'
import type { Place } from './places.js'
import { hold, others } from './presence.js'
import { currentFold } from './saved-fold.js'

/**
 * Opens a session for writing: the saved fold and the log from where it ends (INV-11), and a presence for others to see.
 * Of one that was just made no fold is saved yet, and none is looked for.
 */
export const openSession = async (
  home: Home,
  place: Place,
  id: EventId,
  { isNew = false } = {},
): Promise<LiveSession> => {
  const log = home.log(place.folder)
  await endRestores(home, place)
  const { index, presence } = placesOf(place, id)
  const saved = isNew ? undefined : savedFoldOf(home.ports.fs, index, id)
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
  const isDurable = fold === saved || (isWhole && (await saveDurable(home, place, [fold])).length > 0)
  const { guard } = home
  const code = onceLoaded(() => home.code(place))
  const open = new OpenSession({
    log,
    ports: home.ports,
    id,
    durability: home.durability,
    state: { index: fold.state, position: head, branch: null, code: null },
    tail: { from: fold.from, end: fold.stamp.bytes },
    isDurable,
    others: others(presence, home.ports.fs, held.name),
    ...(guard === null ? {} : { guard: (command) => guard.command(id, command) }),
    save: ({ index: state }, tail) => {
      // Before its first append a gap is still open, and no row may say that all is well.
      if (isWhole || tail.end > fold.stamp.bytes)
        saveFold(home, place, { ...fold, state, from: tail.from }, tail.end)
    },
    code: {
      take: async (request) => (await import('../code/desk.js')).deskOf(await code.load(), id).take(request),
    },
    release: () => {
      held.release()
      code.loaded()?.close()
    },
  })
  return new LiveSession(open, readerOf(home, place, id), code.load)
}

interface Loadable {
  readonly load: () => Promise<WorkspaceCode>
  /** null where nobody asked for it. */
  readonly loaded: () => WorkspaceCode | null
}

const onceLoaded = (load: () => Promise<WorkspaceCode>): Loadable => {
  let loaded: WorkspaceCode | null = null
  return {
    load: async () => {
      loaded = await load()
      return loaded
    },
    loaded: () => loaded,
  }
}

/** What a crash cut off is ended first; where that fails the conversation goes on, and checkpoints say why they do not. */
const endRestores = async (home: Home, place: Place): Promise<void> => {
  const { code } = workspaceLayout(place.folder)
  if (!hasJournal(home, join(code, 'journal'))) return
  try {
    await (await home.code(place)).settle()
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
  }
}

const hasJournal = ({ ports }: Home, folder: string): boolean => {
  try {
    return ports.fs.readDir(folder).some((name) => name.endsWith('.json'))
  } catch {
    return false
  }
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

/**
 * Where others wrote since, the row is only behind: the next reader folds the rest. Where another file took the place of
 * the one that was opened, nothing is saved: what was folded may hold what a redaction took away.
 */
const saveFold = (home: Home, place: Place, fold: SavedFold, end: number): void => {
  const now = stampOf(home, place, fold.session)
  if (now === null || now.identity !== fold.stamp.identity) return
  const stamp = now.bytes === end ? now : { ...now, bytes: end, modified: 0 }
  saveRows(home.ports.fs, workspaceLayout(place.folder).index, [{ ...fold, stamp }])
}

/** A session that closes has done its work: what the disk then refuses costs the next one a fold, and no more. */
const stampOf = (home: Home, place: Place, id: EventId): LogStamp | null => {
  try {
    return home.log(place.folder).stamp(id)
  } catch {
    return null
  }
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
    code: () => home.code(place),
    savedAgrees: async () => {
      const saved = savedFoldOf(home.ports.fs, workspaceLayout(place.folder).index, id)
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
