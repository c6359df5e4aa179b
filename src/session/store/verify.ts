import * as E from 'fp-ts/lib/Either.js'
import { blobRefs } from '../../events/blob.js'
import type { BlobRef } from '../../events/content.js'
import { type Damage, Damaged, Tagged } from '../../events/errors/index.js'
import { type Event, type EventId, is } from '../../events/event.js'
import { type Line, parseLine } from '../../events/line.js'
import { sessionIndex } from '../../projections/session-index.js'
import type { Problem, SessionRef, Verified } from '../api.js'
import { loadEveryBlob } from './every-blob.js'
import type { Home } from './home.js'
import { readIndex, type SavedFold } from './index-file.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'
import { problemKindOf } from './problem-kind.js'
import { codeProblems, type ProvedCode } from './verify-code.js'
import { placeProblems } from './verify-place.js'

interface SessionReport {
  readonly events: number
  readonly bytes: number
  readonly problems: readonly Problem[]
  readonly ends: readonly EventId[]
  readonly redacted: number
}

export interface VerifyOptions {
  /** Only sessions whose log was written to at or after this time (ISO 8601). */
  readonly since?: string
  /** In bytes of the logs. */
  readonly progress?: (done: number, total: number) => void
}

/** Proves every hash and link, every blob, every checkpoint, and every row of the index that claims to be current (INV-4, 5, 6, 8, 9). */
export const verifySessions = async (
  home: Home,
  refs: readonly (SessionRef & { readonly place: Place })[],
  { since, progress }: VerifyOptions,
): Promise<Verified> => {
  const from = since === undefined ? 0 : Date.parse(since)
  const wanted = refs.filter(({ id, place }) => (home.log(place.folder).stamp(id)?.modified ?? from) >= from)
  const saved = new Map<string, ReadonlyMap<EventId, SavedFold>>()
  const proved: ProvedCode = new Map()
  const reports: { readonly session: EventId; readonly report: SessionReport }[] = []
  const sizes = wanted.map(({ id, place }) => home.log(place.folder).stamp(id)?.bytes ?? 0)
  const total = sizes.reduce((all, size) => all + size, 0)
  let before = 0
  progress?.(0, total)
  for (const [i, { id, place }] of wanted.entries()) {
    const rows = saved.get(place.folder) ?? readIndex(home.ports.fs, workspaceLayout(place.folder).index).rows
    saved.set(place.folder, rows)
    const size = sizes[i] ?? 0
    // A log may grow meanwhile.
    const tell = (read: number): void => progress?.(before + Math.min(read, size), total)
    const report = await verifySession(home, place, id, { row: rows.get(id), proved, tell })
    reports.push({ session: id, report })
    before += size
    progress?.(before, total)
  }
  const sum = (of: (report: SessionReport) => number): number =>
    reports.reduce((total, { report }) => total + of(report), 0)
  return {
    sessions: reports.length,
    events: sum(({ events }) => events),
    bytes: sum(({ bytes }) => bytes),
    problems: reports.flatMap(({ report }) => report.problems),
    diverged: reports.flatMap(({ session, report: { ends } }) =>
      ends.length === 0 ? [] : [{ session, ends }],
    ),
    redacted: sum(({ redacted }) => redacted),
  }
}

/** What one session's check is given of the whole run. */
interface Run {
  readonly row: SavedFold | undefined
  readonly proved: ProvedCode
  /** How far its log was read, in bytes. */
  readonly tell: (read: number) => void
}

const verifySession = async (
  home: Home,
  place: Place,
  id: EventId,
  { row, proved, tell }: Run,
): Promise<SessionReport> => {
  const log = home.log(place.folder)
  const check = new SessionCheck(id, row)
  try {
    for await (const batch of log.readForward(id, { salvage: true, report: check.damage }))
      tell(take(check, batch))
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
    check.stopped(error)
  }
  check.end()
  const load = (ref: BlobRef): Promise<Buffer> =>
    log.blobs.get(id, ref).catch((error: Error) => {
      check.problem('blob', null, null, `${ref.$blob}: ${error.message}`)
      return Buffer.from('null')
    })
  await loadEveryBlob([...check.blobs.values()], load, new Set())
  for (const { kind, detail } of placeProblems(home, place, id)) check.problem(kind, null, null, detail)
  const { hasCode } = check
  for (const { kind, detail } of await codeProblems(home, place, { id, hasCode, proved }))
    check.problem(kind, null, null, detail)
  return { ...check.report(), bytes: log.stamp(id)?.bytes ?? 0 }
}

/** Gives where the batch ended, in bytes. */
const take = (check: SessionCheck, batch: readonly Line[]): number => {
  for (const line of batch) check.line(line)
  const last = batch[batch.length - 1]
  return last === undefined ? 0 : last.offset + last.bytes.length + 1
}

/**
 * Hardly any line names a blob, and a look for the bytes costs a tenth of a walk through the members. Another program may
 * have spelt the name with escapes.
 */
const mayNameBlob = ({ bytes }: Line): boolean => bytes.includes('$blob') || bytes.includes(unicodeEscape)
const unicodeEscape = String.raw`\u`

/** What is gathered while one log is read. */
class SessionCheck {
  readonly problems: Problem[] = []
  readonly blobs = new Map<string, BlobRef>()
  readonly damage = ({ kind, line, offset, detail }: Damage): void => this.problem(kind, line, offset, detail)
  #lines = 0
  #isStopped = false
  /** Whether any checkpoint is in it. */
  get hasCode(): boolean {
    return this.#state.tracking.hasCode
  }
  #redacted = 0
  #state = sessionIndex.initial
  #rowAgrees: boolean | null = null
  readonly #ids = new Set<EventId>()
  readonly #lost = new Map<EventId, Line>()

  constructor(
    readonly session: EventId,
    readonly row: SavedFold | undefined,
  ) {}

  problem(kind: string, line: number | null, offset: number | null, detail: string): void {
    this.problems.push({ session: this.session, kind, line, offset, detail })
  }

  /** What follows, and so what the log's end is, nobody has read. */
  stopped(error: Tagged): void {
    this.#isStopped = true
    if (error instanceof Damaged) this.damage(error.damage)
    else this.problem(problemKindOf(error), null, null, error.message)
  }

  line(line: Line): void {
    this.#lines++
    if (this.#lines === 1 && line.id !== this.session)
      this.problem('wrong-session', 1, 0, `the log is that of session ${line.id}`)
    if (this.#ids.has(line.id)) this.problem('duplicate-id', null, line.offset, `${line.id} stands twice`)
    this.#ids.add(line.id)
    const event = parseLine(line)
    if (E.isLeft(event)) this.problem('payload', null, line.offset, `${line.id}: ${event.left}`)
    else this.#event(line, event.right)
  }

  #event(line: Line, event: Event): void {
    if (line.type === 'lost') this.#lost.set(line.id, line)
    else if (line.redacted) this.#redacted++
    if (is(event, 'repaired')) for (const id of event.ids) this.#lost.delete(id)
    if (mayNameBlob(line)) for (const ref of blobRefs(event)) this.blobs.set(`${ref.as} ${ref.$blob}`, ref)
    this.#state = sessionIndex.apply(this.#state, event)
    if (line.id === this.row?.state.tail)
      this.#rowAgrees = JSON.stringify(this.#state) === JSON.stringify(this.row.state)
  }

  /** A row that is only behind is no problem; one that is wrong, or knows an event that is gone, is. */
  end(): void {
    // Of a log without any event that is said already.
    if (this.#isStopped || this.#lines === 0) return
    // A fork copies tombstones, but no `repaired` note: that tells of another file.
    if (this.#state.birth.forkedFrom === null)
      for (const { id, offset } of this.#lost.values())
        this.problem('lost', null, offset, `${id} is a lost event that no \`repaired\` note names`)
    const isDamaged = this.problems.length > 0
    if (this.row === undefined) return
    if (!this.#ids.has(this.row.state.tail ?? ''))
      this.problem(
        'lost-tail',
        null,
        null,
        `the index knows ${this.row.state.tail} as an event, and it is nowhere in the log`,
      )
    else if (!isDamaged && this.#rowAgrees === false)
      this.problem('index-row', null, null, 'the saved fold is not what a replay gives: `coppice reindex`')
  }

  report(): Omit<SessionReport, 'bytes'> {
    const { head, diverged } = sessionIndex.view(this.#state)
    // All ends, the head's first: whoever reads it must choose between them.
    const ends = diverged.length === 0 || head === null ? [] : [head, ...diverged.map(({ leaf }) => leaf)]
    return { events: this.#lines, problems: this.problems, ends, redacted: this.#redacted }
  }
}
