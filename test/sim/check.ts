import * as E from 'fp-ts/lib/Either.js'
import type { Damage } from '../../src/events/errors/index.js'
import { Damaged } from '../../src/events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../../src/events/event.js'
import { eventOf } from '../../src/events/event-of.js'
import { namingsOf } from '../../src/events/file-log/naming.js'
import { segmentsOf } from '../../src/events/file-log/scan.js'
import { type Line, parseLine } from '../../src/events/line.js'
import type { EventLog, ReadOptions } from '../../src/events/log.js'
import { type SessionIndexState, sessionIndex } from '../../src/projections/session-index.js'
import type { Store } from '../../src/session/api.js'
import { storeFolder } from './actor.js'
import { checkCode } from './check-code.js'
import type { SimDisk } from './disk/disk.js'
import type { Computer } from './machine.js'
import { Broken, type KnownSession } from './model.js'
import { Onlooker } from './onlooker.js'
import { searched } from './step.js'

/** A log read whole, and what was said of bytes that are no events. */
interface Read {
  readonly lines: readonly Line[]
  readonly told: readonly Damage[]
}

const readAll = async (
  read: (options: ReadOptions) => AsyncIterable<readonly Line[]>,
  options: ReadOptions = {},
): Promise<Read> => {
  const lines: Line[] = []
  const told: Damage[] = []
  for await (const batch of read({ ...options, report: (damage) => told.push(damage) })) lines.push(...batch)
  return { lines, told }
}

const must = (holds: boolean, law: string, detail: () => string): void => {
  if (!holds) throw new Broken(law, detail())
}

const short = (ids: readonly string[]): string => ids.map((id) => id.slice(0, 8)).join(' ')

/** The log of a session, and where it stands, on the disk of an onlooker. */
interface Found {
  readonly id: EventId
  readonly log: EventLog
  readonly bytes: Buffer
}

/** What a check saw of a session: its events, what they fold to, and the bytes of its log. */
export interface Seen {
  readonly lines: readonly Line[]
  readonly state: SessionIndexState
  readonly bytes: Buffer
}

/**
 * What must hold whenever nothing is under way, and after every restart (docs/INVARIANTS.md). `deep` chooses which of the
 * costlier looks are taken this time; null: all of them.
 */
export const check = async (
  computer: Computer,
  known: ReadonlyMap<EventId, KnownSession>,
  deep: number | null,
): Promise<ReadonlyMap<EventId, Seen>> => {
  computer.counts.checks++
  const onlooker = new Onlooker(computer)
  const store = await onlooker.store
  const found = findLogs(onlooker.disk, store)
  mustBeFound(known, found, onlooker.disk)
  for (const one of known.values()) mustBeHidden(onlooker.disk, one)
  if (computer.precious.size > 0) await checkCode(onlooker.disk, onlooker.fs, computer.precious)
  const seen = new Map<EventId, Seen>()
  for (const one of found.values()) {
    seen.set(one.id, await checkLog(one, computer, known.get(one.id)))
    if (deep === null || deep % 4 === 0) await checkOtherReaders(one)
  }
  if (deep === null || deep % 4 === 1) await checkCaches(computer, seen)
  if (deep === null || deep % 4 === 2) await checkVerify(store)
  if (deep === null || deep % 4 === 2) await checkSearch(store, deep === null ? null : deep >>> 2)
  if (deep === null || deep % 4 === 3) await checkRecovery(computer, found)
  return seen
}

const findLogs = (disk: SimDisk, store: Store): ReadonlyMap<EventId, Found> => {
  const found = new Map<EventId, Found>()
  const projects = disk.lookUp(`${storeFolder}/projects`)
  if (projects?.kind !== 'folder') return found
  for (const key of projects.names.keys()) {
    const folder = `${storeFolder}/projects/${key}`
    const log = store.home.log(folder)
    for (const id of log.sessions()) {
      const file = disk.lookUp(`${folder}/${id}/data.jsonl`)
      must(file?.kind === 'file', 'INV-2', () => `session ${id} has a folder and no log`)
      if (file?.kind === 'file') found.set(id, { id, log, bytes: file.bytes.subarray(0, file.size) })
    }
  }
  return found
}

/** Every session that was acknowledged is there, or in the archive, and not in both. */
const mustBeFound = (
  known: ReadonlyMap<EventId, KnownSession>,
  found: ReadonlyMap<EventId, Found>,
  disk: SimDisk,
): void => {
  const archived = new Set(
    [...disk.files()].map(([path]) => /\/archive\/([0-9a-f]{32})\/data\.jsonl$/.exec(path)?.[1]),
  )
  for (const { id, place, mayBeGone, isPurged } of known.values()) {
    const where = [...(found.has(id) ? ['live'] : []), ...(archived.has(id) ? ['archived'] : [])]
    const isRight =
      (where.length === 1 && (place === 'unsure' || where[0] === place)) || (where.length === 0 && mayBeGone)
    must(!isPurged || where.length === 0, 'PURGED', () => `session ${id} was purged and is ${where}`)
    must(
      isRight,
      'INV-2',
      () => `session ${id} should be ${place} and is ${where.join(' and ') || 'nowhere'}`,
    )
  }
}

const checkLog = async (
  { id, log, bytes }: Found,
  computer: Computer,
  known: KnownSession | undefined,
): Promise<Seen> => {
  const { lines, told } = await readAll((options) => log.readForward(id, options), { closeGaps: true })
  const ids = new Set(lines.map((line) => line.id))
  must(ids.size === lines.length, 'FORMAT', () => `an id stands twice in ${id}`)
  const gone = [...(known?.acked ?? [])].filter((one) => !ids.has(one))
  must(gone.length === 0, 'INV-2', () => `acknowledged and gone from ${id}: ${short(gone)}`)
  const strange = [...ids].filter((one) => !computer.attempted.has(one))
  must(strange.length === 0, 'INV-2', () => `in ${id} and never attempted: ${short(strange)}`)
  mustAccount(id, bytes, lines, told)
  const state = foldOf(id, lines)
  mustShowEnds(id, lines, state)
  mustHoldRecords(id, lines, known?.records ?? new Set())
  return { lines, state, bytes }
}

export const foldOf = (id: EventId, lines: readonly Line[]): SessionIndexState => {
  let state = sessionIndex.initial
  for (const line of lines) {
    const parsed = parseLine(line)
    must(E.isRight(parsed), 'INV-5', () => `${line.id} proves itself and is no event`)
    state = sessionIndex.apply(state, eventOf(line, id))
  }
  return state
}

/** INV-4: every byte is in a line that was given, or was told of, or is named by a `recovered` note that was given. */
const mustAccount = (id: EventId, bytes: Buffer, lines: readonly Line[], told: readonly Damage[]): void => {
  const given = new Set(lines.map(({ offset }) => offset))
  const names = lines.flatMap(namingsOf)
  const regions = [
    ...told.map(({ offset, bytes: length }) => ({ start: offset, end: offset + length })),
    ...names,
  ]
  const mayOrphan = told.some(({ kind, orphans }) => kind === 'gap' && orphans !== undefined)
  for (const { line, start, end } of segmentsOf(Buffer.from(bytes), 0)) {
    if (line !== null && given.has(start)) continue
    const isTold =
      line === null
        ? regions.some((region) => region.start <= start && end <= region.end)
        : mayOrphan || names.some(({ orphans }) => orphans.has(line.id))
    must(isTold, 'INV-4', () => `bytes ${start} to ${end} of ${id} are dropped, and nobody says so`)
  }
}

/** INV-7: every end of the tree is the head, or shown as diverged, or was left by a move that says so, or is a move. */
const mustShowEnds = (id: EventId, lines: readonly Line[], state: SessionIndexState): void => {
  const events = lines.map((line) => eventOf(line, id)).filter(advancesHead)
  const parents = new Set(events.map(({ parent }) => parent))
  const left = new Set(events.flatMap((event) => (event.type === 'head' ? [event.from as string] : [])))
  const { head, diverged } = sessionIndex.view(state)
  must(head === events.at(-1)?.id, 'INV-7', () => `the head of ${id} is not its last event`)
  const branches = new Map<EventId, string>()
  for (const event of events)
    branches.set(
      event.id,
      event.type === 'branch' ? String(event.name) : (branches.get(event.parent ?? '') ?? 'main'),
    )
  if (!lines.some(({ type }) => type === 'recovered' || type === 'repaired')) mustHang(id, events)
  const shown = new Set([head, ...diverged.map(({ leaf }) => leaf)])
  const shownBranches = new Set([...shown].map((one) => branches.get(one ?? '')))
  for (const { id: end, type } of events) {
    if (parents.has(end) || type === 'head' || left.has(end) || shown.has(end)) continue
    must(
      false,
      'INV-7',
      () => `the end ${end} of ${id} (${branches.get(end)}; shown ${[...shownBranches]}) is hidden`,
    )
  }
}

/** What an import said it brought is there, each record once. */
const mustHoldRecords = (id: EventId, lines: readonly Line[], records: ReadonlySet<string>): void => {
  const held = new Set<string>()
  for (const line of lines) {
    const { origin } = eventOf(line, id) as {
      readonly origin?: { readonly format: string; readonly id: string }
    }
    if (origin?.format !== 'sim') continue
    must(!held.has(origin.id), 'IMPORT', () => `the record ${origin.id} stands twice in ${id}`)
    held.add(origin.id)
  }
  for (const record of records)
    must(held.has(record), 'IMPORT', () => `the record ${record} was brought and is gone from ${id}`)
}

/** What was redacted is in no file of its session, and in no row of it; the archive holds it until it is purged. */
const mustBeHidden = (disk: SimDisk, { id, hidden, isPurged }: KnownSession): void => {
  if (hidden.size === 0 && !isPurged) return
  for (const [path, file] of disk.files()) {
    const isIndex = path.endsWith('/metadata.jsonl')
    if (!isIndex && !path.includes(`/${id}/`)) continue
    if (path.includes('/archive/')) continue
    const text = file.bytes.toString('latin1', 0, file.size)
    const own = isIndex ? text.split('\n').filter((row) => row.includes(`"session":"${id}"`)) : [text]
    must(!isPurged || own.length === 0, 'PURGED', () => `${path} has a row of ${id}, which was purged`)
    for (const one of hidden)
      must(
        !own.some((part) => part.includes(one)),
        'REDACTED',
        () => `${path} holds what was redacted: ${one}`,
      )
  }
}

/**
 * INV-7: an event hangs on an open end, or is the head event of a move: who was overtaken says so before going on. But for
 * a `restore`, which is written as it was decided before the files changed, whoever came first.
 */
const mustHang = (id: EventId, events: readonly Event[]): void => {
  const open = new Set<EventId>()
  for (const event of events) {
    const { parent, type } = event
    const isRight = parent === null || type === 'head' || type === 'restore' || open.has(parent)
    must(isRight, 'INV-7', () => `${type} ${event.id} of ${id} hangs on ${parent}, which was no open end`)
    if (type === 'head') open.delete(event.from as EventId)
    if (parent !== null) open.delete(parent)
    open.add(event.id)
  }
}

/** Backward is the reverse; who does not ask for closed gaps reads the same, or is told that lines hang on a gap. */
const checkOtherReaders = async ({ id, log }: Found): Promise<void> => {
  const forward = await readAll((options) => log.readForward(id, options), { closeGaps: true })
  const backward = await readAll((options) => log.readBackward(id, options), { closeGaps: true })
  const idsOf = ({ lines }: Read): string => lines.map((line) => line.id).join()
  must(
    idsOf(forward) === idsOf({ ...backward, lines: backward.lines.toReversed() }),
    'INV-3',
    () => `${id} backward`,
  )
  for (const read of [log.readForward, log.readBackward]) {
    try {
      const { lines } = await readAll((options) => read(id, options))
      const same = lines
        .map((line) => line.id)
        .sort()
        .join()
      must(same === idsOf(forward).split(',').sort().join(), 'INV-4', () => `${id} reads otherwise to others`)
    } catch (error) {
      const isGap =
        error instanceof Damaged && error.damage.kind === 'gap' && error.damage.orphans !== undefined
      if (!isGap) throw error
    }
  }
  await readAll((options) => log.readForward(id, options), { salvage: true })
}

/** INV-8: without the index, and with it, the list shows the same; and what it shows is a replay (INV-3). */
const checkCaches = async (computer: Computer, seen: ReadonlyMap<EventId, Seen>): Promise<void> => {
  const [withIndex, without] = [new Onlooker(computer), new Onlooker(computer)]
  for (const [path] of without.disk.files()) if (path.endsWith('/metadata.jsonl')) without.disk.remove(path)
  const rows = await (await withIndex.store).list({ sub: true })
  const again = await (await without.store).list({ sub: true })
  must(
    JSON.stringify(rows) === JSON.stringify(again),
    'INV-8',
    () => `${JSON.stringify(rows)} with the index, ${JSON.stringify(again)} without`,
  )
  for (const { session, problem, problemKind, events } of rows) {
    const state = seen.get(session)?.state
    must(state !== undefined, 'INV-8', () => `${session} is listed and not there`)
    if (problemKind === 'gap' || state === undefined) continue
    must(problem === null, 'INV-8', () => `${session} is listed with ${problem}`)
    must(
      events === sessionIndex.view(state).events,
      'INV-3',
      () => `${session} is listed with ${events} events`,
    )
  }
  must(rows.length === seen.size, 'INV-8', () => `${seen.size} sessions, ${rows.length} listed`)
}

/** INV-8: a search finds the same with the index and without. */
const checkSearch = async (store: Store, deep: number | null): Promise<void> => {
  const text = searched[(deep ?? 0) % searched.length] as string
  const found = async (scan: boolean): Promise<readonly string[]> => {
    const hits: string[] = []
    for await (const { session, event, excerpt } of store.search({ text, scan, report: () => {} }))
      hits.push(`${session} ${event} ${excerpt}`)
    return hits.sort()
  }
  const [withIndex, without] = [await found(false), await found(true)]
  must(
    withIndex.join('\n') === without.join('\n'),
    'INV-8',
    () => `searching ${text} finds ${withIndex.length} with the index and ${without.length} without`,
  )
}

const harmless = new Set(['torn-tail', 'gap', 'redaction-unfinished'])
const checkVerify = async (store: Store): Promise<void> => {
  const { problems } = await store.verify()
  for (const { kind, session, detail } of problems)
    must(harmless.has(kind), 'INV-4', () => `verify: ${kind} of ${session}: ${detail}`)
}

/** A newcomer opens each session, and appends; then nothing is torn any more, and nothing that stood is gone. */
const checkRecovery = async (computer: Computer, found: ReadonlyMap<EventId, Found>): Promise<void> => {
  const newcomer = new Onlooker(computer)
  const store = await newcomer.store
  for (const { id, log } of found.values()) {
    const before = await readAll((options) => log.readForward(id, options), { closeGaps: true })
    const session = await store.open(id)
    await session.append({ type: 'message', role: 'user', content: 'still there?' } as never)
    session.close()
    const reader = await store.reader(id)
    const after = await readAll((options) => reader.log.readForward(id, options))
    must(after.told.length === 0, 'INV-4', () => `${id} after an append: ${JSON.stringify(after.told)}`)
    const ids = after.lines.map((line) => line.id)
    const kept = before.lines.map((line) => line.id)
    must(ids.slice(0, kept.length).join() === kept.join(), 'INV-1', () => `${id} lost lines by an append`)
    must(
      ids.slice(kept.length).every((one) => newcomer.wrote.has(one)),
      'INV-2',
      () => `${id} grew by strangers`,
    )
  }
}
