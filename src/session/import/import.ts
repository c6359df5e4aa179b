import { isAbsolute } from 'node:path'
import { InvalidDraft, StaleTail, Tagged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { Item, SessionItem } from '../../formats/format.js'
import type { Store } from '../api.js'
import type { Home } from '../store/home.js'
import { listSessions } from '../store/listing.js'
import { findSession, makePlace, type Place, placeAt } from '../store/places.js'
import { realWorkspace, workspaceKey } from '../store/workspace.js'
import { Accounting } from './accounting.js'
import { SourceCursor } from './apply.js'
import { KnownSources } from './known-sources.js'
import type { Failure, Imported, ImportReport, SourceRead } from './report.js'
import type { Source } from './source.js'
import { ImportTarget } from './target.js'

export interface ImportOptions {
  /** Where a session goes whose source names no workspace. Absolute path. */
  readonly workspace: string
  readonly dryRun?: boolean
  /** Which version reads: what another one read is read again. */
  readonly reader?: string
  readonly progress?: (done: number, total: number) => void
}

/** Imports sources into a store. Again adds only what is new: sessions and records are found by (format, origin id). */
export const importSources = async (
  store: Store,
  sources: readonly Source[],
  options: ImportOptions,
): Promise<ImportReport> => {
  const { home } = store
  const sessions = await importedSessions(home)
  const imported: Imported[] = []
  const failed: Failure[] = []
  const read: SourceRead[] = []
  const known = new KnownSources(home, options.reader ?? '')
  const run: Run = { home, sessions, options, waiting: new Set(sources), known }
  const queue = [...sources]
  for (let done = 0; queue.length > 0; ) {
    options.progress?.(done, sources.length)
    const source = queue.shift() as Source
    const report = (await importedBefore(run, source)) ?? (await importSource(run, source))
    if (report === null) queue.push(source)
    else {
      done++
      imported.push(...report.imported)
      failed.push(...report.failed)
      read.push(...report.sources)
    }
    if (done % 200 === 199) known.save()
  }
  known.save()
  options.progress?.(sources.length, sources.length)
  return { imported, failed, sources: read }
}

interface Run {
  readonly home: Home
  /** Sessions that imports made, by format and origin id. */
  readonly sessions: Map<string, Known>
  readonly options: ImportOptions
  /** Sources that may still be put off, each once: until the session that theirs came from is there. */
  readonly waiting: Set<Source>
  readonly known: KnownSources
}

/** `place` where this run has looked at it already. */
interface Known {
  readonly session: EventId
  readonly place?: Place
  /** How many events it held when the import began. */
  readonly events?: number
}

const originKey = (format: string, id: string): string => `${format}\n${id}`

const importedSessions = async (home: Home): Promise<Map<string, Known>> => {
  const rows = await listSessions(home, { sub: true })
  return new Map(
    rows.flatMap(({ session, origin, events, problem }) =>
      origin === null
        ? []
        : [
            [
              originKey(origin.format, origin.id),
              problem === null ? { session, events } : { session },
            ] as const,
          ],
    ),
  )
}

/** What came of a source that is as it was, its sessions too being there still; null where it must be read. */
const importedBefore = async (run: Run, source: Source): Promise<ImportReport | null> => {
  const known = run.known.unchanged(source)
  if (known === null) return null
  const sessions = new Map([...run.sessions.values()].map((one) => [one.session, one]))
  const imported = known.rows.flatMap((row) => {
    const events = sessions.get(row.session)?.events
    return events === undefined ? [] : [{ ...row, events, new: 0 }]
  })
  if (imported.length < known.rows.length) return null
  const { format, failed, lines } = known
  return { imported, failed, sources: [{ source: source.path, format, unchanged: true, lines }] }
}

/** Another process may write to the session meanwhile: then the source is read again, which adds only what is missing. */
const tries = 3

/** A session's parent may come from a source that is still to be read: then this one is read after the others. */
class ParentMissing extends Error {}

/** Null: put off. */
const importSource = async (run: Run, source: Source): Promise<ImportReport | null> => {
  for (let left = tries; ; left--) {
    const reading = new SourceImport(run, source)
    try {
      return await reading.all()
    } catch (error) {
      if (error instanceof StaleTail && left > 1) continue
      if (error instanceof ParentMissing) return null
      if (!(error instanceof Tagged) && (error as NodeJS.ErrnoException).code === undefined) throw error
      return {
        imported: reading.rows(),
        failed: [{ source: source.path, line: null, reason: (error as Error).message }],
        sources: [{ source: source.path, format: source.format.name, unchanged: false, lines: null }],
      }
    }
  }
}

/** One source on its way into the store. */
class SourceImport {
  readonly #cursors = new Map<string, SourceCursor>()
  readonly #notes = new Map<string, Map<string, number>>()
  readonly #failed: Failure[] = []
  readonly #accounting = new Accounting()

  constructor(
    readonly run: Run,
    readonly source: Source,
  ) {}

  async all(): Promise<ImportReport> {
    const { source, run } = this
    // Of before it is read: what is written meanwhile is a change.
    const stamp = run.known.stampOf(source)
    for await (const item of source.format.read(source.path)) {
      this.#accounting.take(item)
      await this.#take(item)
    }
    for (const cursor of this.#cursors.values()) {
      if (source.format.isCutByUndo === true) await cursor.end()
      await cursor.target.flush(true)
    }
    const lines = await this.#accounting.close(source.path).catch(() => null)
    const imported = this.rows()
    const format = source.format.name
    if (stamp !== null && run.options.dryRun !== true && this.#failed.every(({ line }) => line !== null)) {
      const rows = imported.map(({ events: _events, new: _new, ...row }) => row)
      run.known.set(source.path, { stamp, format, rows, failed: this.#failed, lines })
    }
    const read = { source: source.path, format, unchanged: false, lines }
    return { imported, failed: this.#failed, sources: [read] }
  }

  rows(): readonly Imported[] {
    const first = this.#cursors.keys().next().value
    return [...this.#cursors].map(([session, { target }]) => ({
      source: this.source.path,
      session: target.id,
      events: target.events,
      new: target.added,
      notes: [...this.#notesOf(session), ...(session === first ? this.#notesOf('') : [])],
    }))
  }

  #notesOf(session: string): readonly string[] {
    return [...(this.#notes.get(session) ?? [])].map(([text, count]) => `${count} × ${text}`)
  }

  #say(session: string, text: string, count = 1): void {
    const notes = this.#notes.get(session) ?? new Map<string, number>()
    notes.set(text, (notes.get(text) ?? 0) + count)
    this.#notes.set(session, notes)
  }

  async #take(item: Item): Promise<void> {
    if (item.kind === 'failed')
      this.#failed.push({ source: this.source.path, line: item.line, reason: item.reason })
    else if (item.kind === 'remark') this.#say(item.session ?? '', item.text, item.count)
    else if (item.kind === 'session') await this.#begin(item)
    else await this.#follow(item)
  }

  async #follow(item: Extract<Item, { kind: 'event' | 'move' }>): Promise<void> {
    const cursor = this.#cursors.get(item.session)
    if (cursor === undefined) {
      const reason = `a record of the session ${item.session}, which the source does not begin`
      this.#failed.push({ source: this.source.path, line: item.line ?? null, reason })
      return
    }
    try {
      if (item.kind === 'event') await cursor.event(item)
      else await cursor.move(item)
    } catch (error) {
      if (!(error instanceof InvalidDraft)) throw error
      this.#failed.push({ source: this.source.path, line: item.line ?? null, reason: error.message })
    }
    if (cursor.target.isFull) await cursor.target.flush(false)
  }

  async #begin(item: SessionItem): Promise<void> {
    if (this.#cursors.has(item.session)) return
    const { home, sessions, options } = this.run
    const format = this.source.format.name
    const key = originKey(format, item.session)
    const known = sessions.get(key)
    const place =
      known?.place ??
      (known === undefined ? await this.#placeFor(item) : findSession(home, known.session).place)
    const target = new ImportTarget(home, place, format, options.dryRun === true)
    const isThere = known !== undefined && home.log(place.folder).stamp(known.session) !== null
    if (isThere) await target.load(known.session)
    else await this.#addRoot(target, item)
    sessions.set(key, { session: target.id, place })
    this.#cursors.set(item.session, new SourceCursor(target, (text) => this.#say(item.session, text)))
  }

  async #placeFor({ workspace }: SessionItem): Promise<Place> {
    const { home, options } = this.run
    const path = workspace !== null && isAbsolute(workspace) ? workspace : options.workspace
    if (options.dryRun !== true) return makePlace(home, path)
    const real = realWorkspace(path)
    const key = workspaceKey(real)
    return (
      placeAt(home, real) ?? { key, folder: home.layout.workspace(key).folder, path: real, workspace: null }
    )
  }

  /** The root holds only what the source says, so that the same source gives the same session everywhere. */
  async #addRoot(target: ImportTarget, item: SessionItem): Promise<void> {
    const format = this.source.format.name
    const { workspace, cwd, agent, extra } = item
    target.add({
      key: item.session,
      parent: null,
      at: item.at,
      type: 'session',
      note: false,
      payload: {
        format: 1,
        nonce: sha256(`${format}\n${item.session}`).slice(0, 32),
        ...(workspace === null ? {} : { workspace }),
        ...(cwd === null ? {} : { cwd }),
        ...(agent === undefined ? {} : { agent }),
        ...(await this.#point('startedBy', item)),
        ...(await this.#point('forkedFrom', item)),
      },
      extra,
    })
  }

  /** A link to another session, as far as that one was imported. */
  async #point(name: 'startedBy' | 'forkedFrom', item: SessionItem): Promise<Record<string, unknown>> {
    const point = item[name]
    if (point === undefined) return {}
    const known = this.run.sessions.get(originKey(this.source.format.name, point.session))
    if (known === undefined && this.#cursors.size === 0 && this.run.waiting.delete(this.source))
      throw new ParentMissing()
    if (known === undefined) {
      this.#say(item.session, `${name} names a session that was not imported: ${point.session}`)
      return {}
    }
    const event = point.event === null ? null : await this.#eventOf(point.session, known, point.event)
    return { [name]: { session: known.session, event: event ?? known.session } }
  }

  /** The event that a key became in another session: of this source, or of one that was imported before. */
  async #eventOf(session: string, known: Known, key: string): Promise<EventId | null> {
    const { home } = this.run
    const here = this.#cursors.get(session)
    if (here !== undefined) return here.target.idOf(key)
    const place = known.place ?? findSession(home, known.session).place
    const there = new ImportTarget(home, place, this.source.format.name, true)
    if (home.log(place.folder).stamp(known.session) !== null) await there.load(known.session)
    return there.idOf(key)
  }
}
