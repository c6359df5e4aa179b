import type { EventId } from '../../events/event.js'
import type { Session, SessionReader, SessionRef, Store } from '../api.js'
import { revealed } from '../vault/reveal.js'
import { type Home, homeAt, type StoreOptions } from './home.js'
import { listSessions } from './listing.js'
import { checkStore, findSession, type Place, placeAt, placesIn, sessionsIn } from './places.js'
import { telling } from './system-errors.js'

/**
 * Opens the store at a folder; nothing is made there before a session is. Rejects with StoreUnusable where the folder
 * holds something else or cannot be read, with NewerFormat where a newer version wrote it. What a program asks for
 * seldom is loaded when it asks.
 */
export const openStore = async (path: string, options: StoreOptions = {}): Promise<Store> => {
  const home = homeAt(path, options)
  checkStore(home)
  return storeOf(home)
}

const storeOf = (home: Home): Store => {
  /** Whatever the disk says, a caller is told by a tagged error. */
  const tell = <T>(run: () => Promise<T>): Promise<T> => telling(home.root, run)
  return {
    path: home.root,
    home,
    create: (input) => tell(async () => (await import('./creating.js')).createSession(home, input)),
    find: (name) => tell(async () => bare(findSession(home, name))),
    open: (name) =>
      tell(async (): Promise<Session> => {
        const { id, place } = findSession(home, name)
        return (await import('./opening.js')).openSession(home, place, id)
      }),
    reader: (name) =>
      tell(async (): Promise<SessionReader> => {
        const { id, place } = findSession(home, name)
        return (await import('./opening.js')).readerOf(home, place, id)
      }),
    list: (wanted) => tell(() => listSessions(home, wanted)),
    async *search(wanted) {
      yield* (await import('../search/search.js')).searchStore(home, wanted)
    },
    fork: (name, at) =>
      tell(async () => {
        const { id, place } = findSession(home, name)
        return (await import('./fork.js')).forkSession(home, place, id, at ?? null)
      }),
    archive: (name, why) =>
      tell(async () => (await import('./retention.js')).archiveSession(home, name, why)),
    archived: () => tell(async () => (await import('./retention.js')).archivedSessions(home)),
    unarchive: (name) => tell(async () => (await import('./retention.js')).unarchiveSession(home, name)),
    purge: (olderThanMs) =>
      tell(async () => (await import('./retention.js')).purgeArchive(home, olderThanMs)),
    prune: (keep, how) => tell(async () => (await import('./retention.js')).pruneSessions(home, keep, how)),
    relocate: (from, to) =>
      tell(async () => (await import('./relocate.js')).relocateWorkspace(home, from, to)),
    movedFrom: async (path) =>
      (await import('./relocate.js'))
        .movedFrom(home, path)
        .then((places) => places.map(({ path: from }) => from)),
    hasWorkspace: (path) => placeAt(home, path) !== null,
    reindex: (names) =>
      tell(async () => {
        await (await import('../search/forget.js')).forgetAll(home)
        return (await import('./reindex.js')).reindex(home, refsOf(home, names))
      }),
    verify: (names, how) =>
      tell(async () => {
        const { verifySessions } = await import('./verify.js')
        const verified = await verifySessions(home, refsOf(home, names), how ?? {})
        return names === undefined
          ? (await import('./verify-place.js')).withStoreProblems(home, verified)
          : verified
      }),
    repair: (name) =>
      tell(async () => {
        const { id, place } = findSession(home, name)
        return (await import('./repair.js')).repairSession(home, place, id)
      }),
    use: (names) =>
      tell(async () => (await import('./use.js')).useOf(home, refsOf(home, names), names === undefined)),
    collect: (names, how) =>
      tell(async () => {
        const places =
          names === undefined ? placesIn(home) : names.map((name) => findSession(home, name).place)
        return (await import('./collecting.js')).collectCode(home, places, how ?? {})
      }),
    redact: (name, how) =>
      tell(async () => {
        const { id, place } = findSession(home, name)
        return (await import('../redact/redact.js')).redactSession(home, place, id, how)
      }),
    reveal: (value) => revealed(value, (text) => home.vault.reveal(text)),
    close: () => home.close(),
  }
}

const bare = ({ id, key, workspace }: SessionRef): SessionRef => ({ id, key, workspace })

type Ref = SessionRef & { readonly place: Place }

/** The named sessions, or every one of the store. */
const refsOf = (home: Home, names: readonly string[] | undefined): readonly Ref[] => {
  if (names !== undefined) return names.map((name) => findSession(home, name))
  const refOf = (place: Place, id: EventId): Ref => ({ id, key: place.key, workspace: place.path, place })
  return placesIn(home).flatMap((place) => sessionsIn(home, place).map((id) => refOf(place, id)))
}
