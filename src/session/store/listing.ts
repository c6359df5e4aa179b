import { resolveValues } from '../../events/blob.js'
import { Damaged, LogLostTail, Tagged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { sessionIndex } from '../../projections/session-index.js'
import { joinText, textOf, titleFrom } from '../../projections/text.js'
import type { ListOptions, SessionRow } from '../api.js'
import { saveDurable } from './durable.js'
import type { Home } from './home.js'
import { compactIndex, readIndex, type SavedFold, savedFoldOf } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { checkStore, type Place, placeAt, placesIn, sessionsIn } from './places.js'
import { problemKindOf } from './problem-kind.js'
import { currentFold } from './saved-fold.js'

/**
 * The sessions of a workspace or of the store, last changed first. Reads no log whose saved fold is current; heals the
 * rows that are not (INV-8). A session that cannot be folded is listed all the same, with its problem.
 */
export const listSessions = async (home: Home, options: ListOptions = {}): Promise<readonly SessionRow[]> => {
  checkStore(home)
  const { workspace } = options
  const place = workspace === undefined ? null : placeAt(home, workspace)
  const wanted = workspace === undefined ? placesIn(home) : place === null ? [] : [place]
  const rows = (await Promise.all(wanted.map((one) => rowsOf(home, one)))).flat()
  return select(rows, options)
}

const rowsOf = async (home: Home, place: Place): Promise<readonly Folded[]> => {
  const { fs, random } = home.ports
  const { index } = workspaceLayout(place.folder)
  const saved = readIndex(fs, index)
  const healed: SavedFold[] = []
  const rows: Folded[] = []
  for (const id of sessionsIn(home, place)) {
    const folded = await foldedRow(home, place, id, saved.rows.get(id))
    rows.push(folded)
    if (folded.fold !== null && folded.fold !== saved.rows.get(id)) healed.push(folded.fold)
  }
  await saveDurable(home, place, healed)
  if (healed.length > 0) compactIndex(fs, index, random)
  return rows
}

/** One session's row, from the saved fold and what came after. */
export const rowFor = async (home: Home, place: Place, id: EventId): Promise<SessionRow> => {
  const saved = savedFoldOf(home.ports.fs, workspaceLayout(place.folder).index, id)
  return (await foldedRow(home, place, id, saved)).row
}

interface Folded {
  readonly row: SessionRow
  /** To be saved; null where the log could not be folded whole. */
  readonly fold: SavedFold | null
}

const foldedRow = async (
  home: Home,
  place: Place,
  id: EventId,
  saved: SavedFold | undefined,
): Promise<Folded> => {
  const log = home.log(place.folder)
  try {
    const fold = await currentFold(log, id, saved)
    return { row: await rowOf(home, place, fold, null), fold }
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
    return { row: await problemRow(home, place, id, saved, error), fold: null }
  }
}

/** What can be said of a session all the same: what can be read of its log, or what was last known of it. */
const problemRow = async (
  home: Home,
  place: Place,
  id: EventId,
  saved: SavedFold | undefined,
  error: Tagged,
): Promise<SessionRow> => {
  if (error instanceof LogLostTail && saved !== undefined) return rowOf(home, place, saved, error)
  const empty: SavedFold = {
    session: id,
    stamp: { bytes: 0, identity: '', modified: 0 },
    from: 0,
    state: sessionIndex.initial,
  }
  if (!(error instanceof Damaged)) return rowOf(home, place, saved ?? empty, error)
  const read = await currentFold(home.log(place.folder), id, undefined, { salvage: true }).catch(() => empty)
  return rowOf(home, place, read, error)
}

const rowOf = async (
  home: Home,
  place: Place,
  { session, stamp, state }: SavedFold,
  problem: Tagged | null,
): Promise<SessionRow> => {
  const {
    session: _,
    head: _head,
    tail: _tail,
    tailAt: _tailAt,
    firstPrompt,
    ...view
  } = sessionIndex.view(state)
  const load = (ref: Parameters<Parameters<typeof resolveValues>[1]>[0]): Promise<Buffer> =>
    home.log(place.folder).blobs.get(session, ref)
  const resolve = async (value: unknown): Promise<string | null> => {
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return value
    return joinText(await resolveValues(value, load).catch(() => '[text]'))
  }
  const [lastAssistant, lastReasoning, lastRefusal, prompt] = await Promise.all([
    resolve(view.lastAssistant),
    resolve(view.lastReasoning),
    resolve(view.lastRefusal),
    resolve(textOf(firstPrompt)),
  ])
  return {
    session,
    ...view,
    workspace: place.path || (view.workspace ?? ''),
    title: prompt === null || prompt === '' ? view.title : titleFrom(prompt),
    bytes: stamp.bytes,
    lastAssistant,
    lastReasoning,
    lastRefusal,
    children: [],
    problem: problem === null ? null : problem.message,
    problemKind: problem === null ? null : problemKindOf(problem),
  }
}

const withChildren = (rows: readonly SessionRow[]): readonly SessionRow[] => {
  const children = new Map<EventId, EventId[]>()
  for (const { session, startedBy } of rows)
    if (startedBy !== null)
      children.set(startedBy.session, [...(children.get(startedBy.session) ?? []), session])
  return rows.map((row) => {
    const own = children.get(row.session)
    return own === undefined ? row : { ...row, children: own }
  })
}

const select = (
  folded: readonly Folded[],
  { sub = false, status, search, limit }: ListOptions,
): readonly SessionRow[] => {
  const rows = withChildren(folded.map(({ row }) => row))
  // A named session is found by how it began, too.
  const prompts = new Map(folded.map(({ row, fold }) => [row.session, fold?.state.naming.derived ?? '']))
  const isFound = ({ title, session }: SessionRow): boolean =>
    search === undefined || `${title}\n${prompts.get(session)}`.toLowerCase().includes(search.toLowerCase())
  const ids = new Set(rows.map(({ session }) => session))
  // A sub-agent's session whose parent is gone stands for itself: nothing is hidden (INV-8).
  const isShown = (row: SessionRow): boolean =>
    sub || row.startedBy === null || !ids.has(row.startedBy.session)
  return rows
    .filter((row) => isShown(row) && isFound(row) && (status === undefined || row.status === status))
    .sort((a, b) =>
      a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.session < b.session ? -1 : 1,
    )
    .slice(0, limit ?? rows.length)
}
