import type { Damage } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { ReadOptions } from '../log.js'
import type { FileHandle } from '../ports.js'
import { forwardChunk, newline, recoveryWindow } from './constants.js'
import { declaresVoid, type Naming, naming, namingsOf } from './naming.js'
import { readFully, scanForward } from './scan.js'

/** Undecodable bytes between lines, or after the last one. */
export interface Junk {
  readonly start: number
  readonly end: number
  /** Line number of its first byte, from 1. */
  readonly line: number
  /** `named`: by a `recovered` event. `gap`, `torn-tail`: the next append names it. `damage`: neither. */
  readonly kind: 'named' | 'gap' | 'torn-tail' | 'damage'
}

/** What a whole log looks like: what its readers skip and where they must stop. */
export interface Survey {
  readonly junk: readonly Junk[]
  /**
   * Where lines begin that prove themselves but hang on lost ones, as a `recovered` note says: no events. By place and
   * not by id: a retry may have written the same event again, further down, on a parent that stands.
   */
  readonly voids: ReadonlySet<number>
  /**
   * The same of gaps that no note names yet, by place: the next append will make them void. Until then nobody has said
   * that they are none, and they may have been acknowledged.
   */
  readonly newOrphans: ReadonlyMap<number, EventId>
  /** The last event, and the last that is no note; null where the log has no root. */
  readonly tail: Line | null
  readonly head: Line | null
  readonly size: number
  readonly endsInNewline: boolean
  /** Links that INV-6 forbids, and a missing root. */
  readonly broken: readonly Damage[]
  /** The first damage of any kind, where reads stop. */
  readonly damage: Damage | null
}

/** A line that proves itself, where it stands. */
interface Sighting {
  readonly line: Line
  readonly lineNumber: number
  readonly length: number
}

/**
 * Reads a whole log and tells torn tail, gap and damage apart (INV-4). Costs one pass: only a log in which something
 * does not decode is surveyed.
 */
export const survey = (file: FileHandle): Survey => {
  const { size } = file.stat()
  const sightings: Sighting[] = []
  const junk: Omit<Junk, 'kind'>[] = []
  let lineNumber = 0
  for (const segments of scanForward(file, 0, forwardChunk)) {
    for (const { line, start, end } of segments) {
      lineNumber++
      const last = junk[junk.length - 1]
      if (line !== null) sightings.push({ line: light(line), lineNumber, length: line.bytes.length })
      else if (last?.end === start) junk[junk.length - 1] = { ...last, end }
      else junk.push({ start, end, line: lineNumber })
    }
  }
  const names = sightings.flatMap(({ line }) => namingsOf(line))
  const { kinds, true: proved } = classify(file, junk, lastOffset(sightings), size, names)
  const standing = stand(kinds, sightings, proved)
  const endsInNewline = size === 0 || readFully(file, size - 1, 1)[0] === newline
  return { ...standing, junk: kinds, size, endsInNewline, damage: firstDamage(kinds, standing.broken) }
}

/** Keeps the bytes of `recovered` notes only: a survey of a large log holds no large memory. */
const light = (line: Line): Line =>
  line.type === 'recovered' ? { ...line, bytes: Buffer.from(line.bytes) } : { ...line, bytes: empty }
const empty = Buffer.alloc(0)

const lastOffset = (sightings: readonly Sighting[]): number =>
  sightings[sightings.length - 1]?.line.offset ?? -1

/** What each undecodable region is, and which of the notes name one truly. */
const classify = (
  file: FileHandle,
  regions: readonly Omit<Junk, 'kind'>[],
  lastLine: number,
  size: number,
  names: readonly Naming[],
): { readonly kinds: readonly Junk[]; readonly true: readonly Naming[] } => {
  const proved: Naming[] = []
  const kinds = regions.map((region): Junk => {
    if (region.start > lastLine) return { ...region, kind: 'torn-tail' }
    const name = naming(file, region, names)
    if (name !== undefined) {
      proved.push(name)
      return { ...region, kind: 'named' }
    }
    const isRecent = region.start >= size - recoveryWindow
    const isGap = isRecent && readFully(file, region.start, region.end - region.start).includes(twoNuls)
    return { ...region, kind: isGap ? 'gap' : 'damage' }
  })
  return { kinds, true: proved }
}

/** JSON lines hold no NUL, and one flipped bit makes at most one: two in a row are a page that never reached the disk. */
const twoNuls = Buffer.alloc(2)

/**
 * Which lines are events: those whose parents stand (INV-6). The others are orphans of a gap, or damage; what hangs on a
 * damaged link is told once and not again for each of its descendants.
 */
const stand = (
  junk: readonly Junk[],
  sightings: readonly Sighting[],
  names: readonly Naming[],
): Pick<Survey, 'voids' | 'newOrphans' | 'tail' | 'head' | 'broken'> => {
  const nodes = new Set<EventId>()
  const notes = new Set<EventId>()
  const voids = new Set<number>()
  const newOrphans = new Map<number, EventId>()
  const gapAt = junk.find(({ kind }) => kind === 'gap')?.start ?? Number.POSITIVE_INFINITY
  let tail: Line | null = null
  let head: Line | null = null
  const broken: Damage[] = []
  for (const sighting of sightings) {
    const { line } = sighting
    const isRoot = tail === null && line.parent === null && line.type === 'session'
    const mayBeOrphan = tail !== null && line.parent !== null && !notes.has(line.parent)
    if (isRoot || (line.parent !== null && nodes.has(line.parent))) {
      tail = line
      if (!line.note) head = line
      ;(line.note ? notes : nodes).add(line.id)
    } else if (mayBeOrphan && declaresVoid(names, line)) {
      voids.add(line.offset)
    } else if (mayBeOrphan && line.offset > gapAt) {
      newOrphans.set(line.offset, line.id)
    } else {
      const isFirst = tail === null && broken.length === 0
      broken.push(brokenLink(sighting, isFirst, notes))
      ;(line.note ? notes : nodes).add(line.id)
    }
  }
  if (tail === null && broken.length === 0) broken.push(noRoot)
  return { voids, newOrphans, tail, head, broken }
}

/** What is wrong with a log in which no session begins. */
export const noRoot: Damage = {
  kind: 'no-root',
  line: 1,
  offset: 0,
  bytes: 0,
  detail: 'the log holds no whole first event',
}

/** What is wrong with a line whose parent is none of the events before it. */
const brokenLink = (
  { line, lineNumber, length }: Sighting,
  isFirst: boolean,
  notes: ReadonlySet<EventId>,
): Damage => {
  const where = { line: lineNumber, offset: line.offset, bytes: length }
  if (isFirst)
    return { ...noRoot, ...where, detail: `the first event is a ${line.type}, not a session's root` }
  if (line.parent === null)
    return {
      ...where,
      kind: 'second-root',
      detail: `${line.id} has no parent, yet it is not the first event`,
    }
  if (notes.has(line.parent))
    return { ...where, kind: 'note-parent', detail: `${line.id} hangs on the note ${line.parent}` }
  return {
    ...where,
    kind: 'missing-parent',
    detail: `${line.id} hangs on ${line.parent}, which is no event before it`,
  }
}

const firstDamage = (junk: readonly Junk[], broken: readonly Damage[], from = 0): Damage | null =>
  [...junk.filter(({ kind }) => kind === 'damage').map(damageOf), ...broken]
    .filter(({ offset }) => offset >= from)
    .reduce<Damage | null>(
      (first, next) => (first === null || next.offset < first.offset ? next : first),
      null,
    )

/** The first damage at or after a byte: a reader that begins in the middle takes what is before on trust. */
const damageFrom = ({ junk, broken }: Survey, from: number): Damage | null => firstDamage(junk, broken, from)

/** The first open gap, where orphans of it would vanish unsaid from what a reader gives (INV-4); else null. */
export const losingGap = (
  { junk, newOrphans }: Survey,
  { salvage, closeGaps, from = 0 }: ReadOptions,
): Damage | null => {
  if (salvage === true || closeGaps === true) return null
  const gap = junk.find(({ kind }) => kind === 'gap')
  const isLosing = [...newOrphans.keys()].some((offset) => offset >= from)
  return gap === undefined || !isLosing ? null : gapWith(gap, newOrphans.size)
}

/** Which of several gaps an orphan's parent was in, nobody can tell: the first stands for all. */
const gapWith = (gap: Junk, orphans: number): Damage => {
  const damage = damageOf(gap)
  if (orphans === 0) return damage
  const lines = orphans === 1 ? 'a line after them hangs' : `${orphans} lines after them hang`
  return { ...damage, detail: `${damage.detail}, and ${lines} on what was lost`, orphans }
}

/** Where a reader from the log's beginning must stop: at the first damage, or at such a gap. */
export const stopOf = (found: Survey, options: ReadOptions): Damage | null => {
  if (options.salvage === true) return null
  const damage = damageFrom(found, options.from ?? 0)
  const gap = losingGap(found, options)
  return gap !== null && (damage === null || gap.offset < damage.offset) ? gap : damage
}

/** Whether a line that proves itself is no event to a reader: in salvage the orphans of an open gap are. */
export const isVoid = ({ voids, newOrphans }: Survey, { offset }: Line, { salvage }: ReadOptions): boolean =>
  voids.has(offset) || (salvage !== true && newOrphans.has(offset))

/** Tells what a reader passes over: torn tails and gaps that no note names yet, and in salvage every damage. */
export const reportSkipped = (found: Survey, options: ReadOptions): void => {
  const { report, salvage, from = 0 } = options
  if (report === undefined) return
  const firstGap = found.junk.find(({ kind }) => kind === 'gap')
  const isPassed = (junk: Junk): boolean =>
    junk.kind === 'torn-tail' ||
    (junk.kind === 'gap' && losingGap(found, options)?.offset !== junk.start) ||
    (junk.kind === 'damage' && salvage === true)
  const skipped = found.junk.filter(isPassed)
  const told = skipped.map((junk) =>
    junk === firstGap ? gapWith(junk, found.newOrphans.size) : damageOf(junk),
  )
  const all = [...told, ...(salvage === true ? found.broken : [])]
  for (const damage of all.sort((a, b) => a.offset - b.offset)) if (damage.offset >= from) report(damage)
}

/** A junk region in the words of an error or a report. */
export const damageOf = ({ kind, line, start, end }: Junk): Damage => ({
  kind: kind === 'damage' || kind === 'named' ? 'undecodable' : kind,
  line,
  offset: start,
  bytes: end - start,
  detail: `${end - start} bytes ${kind === 'torn-tail' ? 'after the last whole event' : 'that are no event'}`,
})
