import { dirname, join } from 'node:path'
import { Ambiguous, NotFound, Refused, Tagged, WriteFailed } from '../../events/errors/index.js'
import { isSessionId } from '../../events/file-log/file-log.js'
import { refuseLink } from '../../events/file-log/links.js'
import type { Purged, SessionRef, SessionRow } from '../api.js'
import { done } from '../code/done.js'
import type { WorkspaceCode } from '../code/workspace-code.js'
import type { OldCopy } from '../redact/redacted.js'
import { forget } from '../search/forget.js'
import type { Home } from './home.js'
import { dropRows, endsLine, settleIndex } from './index-file.js'
import { workspaceLayout } from './layout.js'
import { listSessions } from './listing.js'
import { oldCopiesIn, unfinished } from './old-copies.js'
import { findSession, type Place, placesIn } from './places.js'
import { others } from './presence.js'

export interface PruneOptions {
  readonly workspace?: string
  readonly dryRun?: boolean
  readonly skipped?: (session: SessionRef, why: string) => void
}

export type Why = 'archive' | 'delete' | 'prune'

interface Archived extends SessionRef {
  readonly place: Place
}

/** Moves a session's folder to the archive of its workspace, where only a purge removes it (INV-1). */
export const archiveSession = async (home: Home, name: string, why: Why): Promise<SessionRef> => {
  const { id, key, workspace, place } = findSession(home, name)
  const { session, archive } = workspaceLayout(place.folder)
  mustBeFree(home, place, id)
  // A restore that was cut off is ended while its session can still say so.
  await withCode(home, place, (code) => code.settle())
  // Told before it is done: a purge that finds no time for an archived session takes it for old.
  await logRemoval(home, { session: id, workspace, action: 'archived', why })
  await move(home, session(id), archive, id)
  await withCode(home, place, ({ checkpoints }) => done(checkpoints.archive(id)))
  return { id, key, workspace }
}

/** Does something about a workspace's checkpoints, where there are any. */
const withCode = async (
  home: Home,
  place: Place,
  run: (code: WorkspaceCode) => Promise<unknown>,
): Promise<void> => {
  if (home.ports.fs.stat(workspaceLayout(place.folder).code) !== null) await run(await home.code(place))
}

const mustBeFree = (home: Home, place: Place, id: string): void => {
  const [holder] = others(workspaceLayout(place.folder).presence(id), home.ports.fs)
  if (holder !== undefined)
    throw new Refused(`process ${holder.pid} holds it open`, `session ${id}`, 'close it there first', true)
}

const move = async (home: Home, from: string, folder: string, id: string): Promise<void> => {
  const { fs } = home.ports
  for (const path of [folder, dirname(from)]) refuseLink(fs, path)
  const to = join(folder, id)
  if (fs.stat(to) !== null)
    throw new Refused(
      `a session ${id} is there already`,
      folder,
      'look at both, and move one away by hand',
      true,
    )
  fs.makeDir(folder)
  fs.rename(from, to)
  await fs.syncDir(folder)
  await fs.syncDir(join(from, '..'))
}

/**
 * What was removed, when and why: one JSON a line in `removed.jsonl`. On disk, whole and under its name, before anything
 * goes: by it a purge tells what is old.
 */
const logRemoval = async ({ ports: { fs, clock }, layout, root }: Home, what: object): Promise<void> => {
  const path = layout.removed
  const file = fs.open(path, 'create')
  try {
    const at = new Date(clock.now()).toISOString()
    const bytes = Buffer.from(`${endsLine(file) ? '' : '\n'}${JSON.stringify({ at, ...what })}\n`)
    if (file.write(bytes) !== bytes.length) throw new WriteFailed(path, new Error('the disk is full'))
    await file.sync()
  } finally {
    file.close()
  }
  await fs.syncDir(root)
}

const archivedIn = (home: Home, place: Place): readonly Archived[] => {
  const { archive } = workspaceLayout(place.folder)
  refuseLink(home.ports.fs, archive)
  return home.ports.fs
    .readDir(archive)
    .filter(isSessionId)
    .map((id) => ({ id, key: place.key, workspace: place.path, place }))
}

const allArchived = (home: Home): readonly Archived[] =>
  placesIn(home).flatMap((place) => archivedIn(home, place))

const bare = ({ id, key, workspace }: SessionRef): SessionRef => ({ id, key, workspace })

export const archivedSessions = (home: Home): readonly SessionRef[] => allArchived(home).map(bare)

export const unarchiveSession = async (home: Home, name: string): Promise<SessionRef> => {
  const found = /^[0-9a-f]{4,32}$/.test(name) ? allArchived(home).filter(({ id }) => id.startsWith(name)) : []
  const [ref, other] = found
  if (ref === undefined)
    throw new NotFound('session', name, `the archive of ${home.root}`, 'list it with `coppice archive`')
  if (other !== undefined)
    throw new Ambiguous(
      'session',
      name,
      found.map(({ id }) => id),
    )
  // The code first: a session that went on without its branch would begin another.
  await withCode(home, ref.place, ({ checkpoints }) => done(checkpoints.unarchive(ref.id)))
  await move(home, join(workspaceLayout(ref.place.folder).archive, ref.id), ref.place.folder, ref.id)
  await logRemoval(home, { session: ref.id, workspace: ref.workspace, action: 'unarchived' })
  return bare(ref)
}

/**
 * Removes for good what went to the archive more than `olderThanMs` ago: sessions, and logs that `repair` and `redact`
 * replaced (`copies`).
 */
export const purgeArchive = async (home: Home, olderThanMs = 0): Promise<Purged> => {
  const since = archivedAt(home)
  const now = home.ports.clock.now()
  const old = allArchived(home).filter(({ id }) => now - (since.get(id) ?? 0) >= olderThanMs)
  for (const { id, workspace, place } of old) {
    await logRemoval(home, { session: id, workspace, action: 'purged' })
    home.ports.fs.remove(join(workspaceLayout(place.folder).archive, id))
    await withCode(home, place, ({ checkpoints }) => done(checkpoints.purge(id)))
  }
  if (old.length > 0) await forget(home, ...old.map(({ id }) => id))
  const copies = await purgeCopies(home, now - olderThanMs)
  for (const place of placesIn(home)) await settlePurge(home, place, old)
  return { sessions: old.map(bare), copies }
}

/** What sessions said is in their rows of the index too; and no power cut brings back what was purged. */
const settlePurge = async (home: Home, { folder }: Place, old: readonly Archived[]): Promise<void> => {
  const { fs, random } = home.ports
  const { archive, index } = workspaceLayout(folder)
  const gone = old.filter(({ place }) => place.folder === folder).map(({ id }) => id)
  if (gone.length > 0) {
    dropRows(fs, index, gone, random)
    await settleIndex(fs, index)
  }
  for (const path of [archive, join(archive, 'damaged'), join(archive, 'redacted')])
    if (fs.stat(path) !== null) await fs.syncDir(path)
}

const purgeCopies = async (home: Home, before: number): Promise<readonly OldCopy[]> => {
  const all = placesIn(home).flatMap((place) => oldCopiesIn(home, place).map((copy) => ({ copy, place })))
  const old = all.filter(({ copy }) => copy.at <= before && !copy.path.endsWith(unfinished))
  for (const { copy, place } of old) {
    await logRemoval(home, {
      session: copy.session,
      workspace: place.path,
      action: 'purged',
      copy: copy.kind,
    })
    home.ports.fs.remove(copy.path)
  }
  return old.map(({ copy }) => copy)
}

/** When each session last went to the archive, in milliseconds, from `removed.jsonl`. */
const archivedAt = (home: Home): ReadonlyMap<string, number> => {
  const times = new Map<string, number>()
  const { fs } = home.ports
  if (fs.stat(home.layout.removed) === null) return times
  for (const line of Buffer.from(fs.readFile(home.layout.removed)).toString().split('\n')) {
    try {
      const { session, action, at } = JSON.parse(line) as Record<string, string>
      if (action === 'archived' && session !== undefined && at !== undefined)
        times.set(session, Date.parse(at))
    } catch {
      // A line that a crash cut short tells nothing; the session then counts as old.
    }
  }
  return times
}

/**
 * All but the newest `keep` sessions of a workspace (of each, where none is named) go to the archive. One that is held or
 * cannot go stays, and `skipped` is told why.
 */
export const pruneSessions = async (
  home: Home,
  keep: number,
  { workspace, dryRun = false, skipped }: PruneOptions,
): Promise<readonly SessionRef[]> => {
  const rows = await listSessions(home, { ...(workspace === undefined ? {} : { workspace }), sub: true })
  const gone = dropped(rows, keep)
  const refs: SessionRef[] = []
  for (const { session } of gone) {
    const { id, key, workspace: path, place } = findSession(home, session)
    const ref = { id, key, workspace: path }
    try {
      mustBeFree(home, place, id)
      if (!dryRun) await archiveSession(home, id, 'prune')
      refs.push(ref)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      skipped?.(ref, error.reason)
    }
  }
  return refs
}

/** What `retention.maxSessions` asks for, when a session is made. Where it cannot be done now, the next one does it. */
export const retain = async (home: Home, { path }: Place, keep: number): Promise<void> => {
  try {
    await pruneSessions(home, keep, { workspace: path })
  } catch (error) {
    if (!(error instanceof Tagged) && (error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** By workspace, newest first; a sub-agent's session stays or goes with the one that started it. */
const dropped = (rows: readonly SessionRow[], keep: number): readonly SessionRow[] => {
  const byId = new Map(rows.map((row) => [row.session, row]))
  const topOf = (row: SessionRow): SessionRow => {
    let top = row
    for (let depth = 0; depth < rows.length; depth++) {
      const above = top.startedBy === null ? undefined : byId.get(top.startedBy.session)
      if (above === undefined) return top
      top = above
    }
    return top
  }
  const counts = new Map<string, number>()
  const kept = new Set<string>()
  for (const row of rows) {
    if (topOf(row) !== row) continue
    const count = counts.get(row.workspace) ?? 0
    counts.set(row.workspace, count + 1)
    if (count < keep) kept.add(row.session)
  }
  return rows.filter((row) => !kept.has(topOf(row).session))
}
