import { dirname } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { Damaged, Refused } from '../errors/index.js'
import type { EventId } from '../event.js'
import { bodyOf, encodeLine, encodeTombstone, type Line, parseLine } from '../line.js'
import type { FileHandle } from '../ports.js'
import type { Ports } from '../system.js'
import { forwardChunk } from './constants.js'
import { openLocked, replaceLog } from './replace.js'
import { readFully, scanForward } from './scan.js'
import { noRoot, type Survey, survey } from './survey.js'

/** An event that is named by others and of which nothing provable is left. */
export interface Lost {
  readonly id: EventId
  readonly parent: EventId
  /** The parent is the head-advancing line before it: what the event's own bytes said of it is lost too. */
  readonly guessed: boolean
}

export interface Repaired {
  readonly kept: number
  readonly lost: readonly Lost[]
  /** What the new log holds. */
  readonly ids: ReadonlySet<EventId>
}

/**
 * Makes a damaged log usable (docs/FORMAT.md): a new log of all lines that prove themselves, in their order, with a `lost`
 * tombstone for each parent that is nowhere, and a `repaired` note that lists them. The damaged file is linked to
 * `archived` first and not changed. Gives null where the log is whole: what does not decode was named by a `recovered`
 * note, and all else decodes and links.
 */
export const repairLog = async (path: string, archived: string, ports: Ports): Promise<Repaired | null> => {
  const { fs, clock } = ports
  const old = await openLocked(fs, path)
  try {
    const { lines, junk } = scan(old)
    if (isWhole(survey(old)) && lines.every(isParsed)) return null
    const rebuilding = new Rebuilding(path, lines, junk, old.stat().size)
    const rebuilt = rebuilding.all(clock.now())
    fs.makeDir(dirname(archived))
    fs.link(path, archived)
    await fs.syncDir(dirname(archived))
    await replaceLog(path, rebuilt, ports)
    return { kept: rebuilding.kept, lost: rebuilding.lost, ids: new Set(rebuilt.map(({ id }) => id)) }
  } finally {
    old.close()
  }
}

const isWhole = ({ junk, broken }: Survey): boolean =>
  junk.every(({ kind }) => kind === 'named') && broken.length === 0

/** Every line that proves itself, and the bytes of all that does not, one after the other. */
const scan = (file: FileHandle): { readonly lines: readonly Line[]; readonly junk: Buffer } => {
  const lines: Line[] = []
  const junk: Buffer[] = []
  for (const segments of scanForward(file, 0, forwardChunk)) {
    for (const { line, start, end } of segments) {
      if (line === null) junk.push(readFully(file, start, end - start))
      else lines.push(light(line))
    }
  }
  return { lines, junk: Buffer.concat(junk) }
}

const isParsed = (line: Line): boolean => E.isRight(parseLine(line))

class Rebuilding {
  readonly lost: Lost[] = []
  kept = 0
  readonly #out: Line[] = []
  readonly #ids = new Set<EventId>()
  readonly #nodes = new Set<EventId>()
  /** Lines that stand before their parent (in a gap, before a retry wrote the parent again), by that parent. */
  readonly #early = new Map<EventId, Line[]>()
  readonly #found: ReadonlySet<EventId>
  #above: Line | null = null

  constructor(
    readonly path: string,
    readonly lines: readonly Line[],
    readonly junk: Buffer,
    readonly size: number,
  ) {
    this.#found = new Set(lines.filter(({ note }) => !note).map(({ id }) => id))
  }

  all(now: number): readonly Line[] {
    for (const line of this.lines) this.#take(line)
    const above = this.#above
    if (above === null) throw rootLost(this.path, this.size)
    const at = new Date(Math.max(now, Date.parse(above.at) + 1)).toISOString()
    const ids = this.lost.map(({ id }) => id)
    const reason =
      ids.length === 0 ? 'bytes that were no event were left out' : 'events, or what they said, were lost'
    const note = encodeLine({ parent: above.id, at, type: 'repaired', note: true }, { ids, reason })
    return [...this.#out, note]
  }

  /** The same event twice is one event. */
  #take(line: Line): void {
    if (this.#ids.has(line.id)) return
    const { parent } = line
    if (
      this.#above === null ? parent !== null || line.type !== 'session' || !isParsed(line) : parent === null
    )
      throw this.#above === null ? rootLost(this.path, this.size) : secondRoot(this.path, line.id)
    if (parent !== null && !this.#nodes.has(parent)) {
      if (this.#found.has(parent)) {
        this.#early.set(parent, [...(this.#early.get(parent) ?? []), line])
        return
      }
      this.#lose(parent, this.#above as Line)
    }
    this.#put(line)
    this.kept++
  }

  #lose(id: EventId, above: Line): void {
    const gone = lostParent(id, this.junk, this.#nodes, above.id)
    this.lost.push(gone)
    this.#put(tombstone(gone, above.at))
  }

  #put(line: Line): void {
    this.#out.push(isParsed(line) ? line : this.#unreadable(line))
    this.#ids.add(line.id)
    if (line.note) return
    this.#nodes.add(line.id)
    if (line.type !== 'lost') this.#above = line
    for (const early of this.#early.get(line.id) ?? []) this.#take(early)
  }

  /** A line that proves itself and is no JSON: its place and its hash stay. */
  #unreadable(line: Line): Line {
    this.lost.push({ id: line.id, parent: line.parent ?? '', guessed: false })
    return encodeTombstone(line.id, line, bodyOf(line))
  }
}

const secondRoot = (path: string, id: EventId): Refused =>
  new Refused(`${id} is a second root`, path, 'take the log from a backup: two logs were put together')

const rootLost = (path: string, bytes: number): Damaged =>
  new Damaged(path, {
    ...noRoot,
    bytes,
    detail: 'its first event is lost, and with it what session this was',
  })

/** A line holds its chunk alive; its own bytes alone are enough. */
const light = (line: Line): Line => ({ ...line, bytes: Buffer.from(line.bytes) })

/** Its parent from what is left of its own bytes, where that is an event; else the head-advancing line before it. */
const lostParent = (id: EventId, junk: Buffer, nodes: ReadonlySet<EventId>, above: EventId): Lost => {
  const start = junk.indexOf(`{"id":"${id}","parent":"`)
  const parent = start < 0 ? '' : junk.toString('latin1', start + 51, start + 83)
  return nodes.has(parent) ? { id, parent, guessed: false } : { id, parent: above, guessed: true }
}

const tombstone = ({ id, parent, guessed }: Lost, at: string): Line =>
  encodeTombstone(
    id,
    { parent, at, type: 'lost', note: false },
    '0'.repeat(64),
    guessed ? { guessed } : undefined,
  )
