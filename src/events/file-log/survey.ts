import * as E from 'fp-ts/lib/Either.js'
import type { Damage } from '../errors/index.js'
import { type EventId, is } from '../event.js'
import { sha256 } from '../id.js'
import { type Line, parseLine } from '../line.js'
import type { FileHandle } from '../ports.js'
import { forwardChunk, recoveryWindow } from './constants.js'
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
  /** Lines that prove themselves but hang on lost ones, in or after a gap: no events. */
  readonly orphans: ReadonlySet<EventId>
  /** Orphans of gaps that no `recovered` event names yet. */
  readonly newOrphans: readonly EventId[]
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

interface Sighting {
  readonly line: Line
  readonly lineNumber: number
}

interface Naming {
  readonly at: number
  readonly start: number
  readonly end: number
  readonly sha256: string
  readonly orphans: ReadonlySet<EventId>
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
      if (line !== null) sightings.push({ line: light(line), lineNumber })
      else if (last?.end === start) junk[junk.length - 1] = { ...last, end }
      else junk.push({ start, end, line: lineNumber })
    }
  }
  const kinds = classify(file, junk, sightings, size)
  const standing = stand(kinds, sightings, namings(sightings))
  const endsInNewline = size === 0 || readFully(file, size - 1, 1)[0] === 0x0a
  return { ...standing, junk: kinds, size, endsInNewline, damage: firstDamage(kinds, standing.broken) }
}

/** Keeps the bytes of `recovered` notes only: a survey of a large log holds no large memory. */
const light = (line: Line): Line =>
  line.type === 'recovered' ? { ...line, bytes: Buffer.from(line.bytes) } : { ...line, bytes: empty }
const empty = Buffer.alloc(0)

const namings = (sightings: readonly Sighting[]): readonly Naming[] =>
  sightings.flatMap(({ line }) => {
    if (line.type !== 'recovered' || line.redacted) return []
    const event = parseLine(line)
    if (E.isLeft(event) || !is(event.right, 'recovered') || !Array.isArray(event.right.gaps)) return []
    const orphans = new Set(Array.isArray(event.right.orphans) ? event.right.orphans : [])
    return event.right.gaps.map(({ back, bytes, sha256: hash }) => {
      const start = line.offset - back
      return { at: line.offset, start, end: start + bytes, sha256: hash, orphans }
    })
  })

const classify = (
  file: FileHandle,
  junk: readonly Omit<Junk, 'kind'>[],
  sightings: readonly Sighting[],
  size: number,
): readonly Junk[] => {
  if (junk.length === 0) return []
  const lastLine = sightings[sightings.length - 1]?.line.offset ?? -1
  const names = namings(sightings)
  return junk.map((region) => {
    if (region.start > lastLine) return { ...region, kind: 'torn-tail' as const }
    const bytes = readFully(file, region.start, region.end - region.start)
    const isNamed = names.some(
      ({ start, end, sha256: hash }) =>
        start === region.start && end === region.end && hash === sha256(bytes),
    )
    if (isNamed) return { ...region, kind: 'named' as const }
    const isGap = region.start >= size - recoveryWindow && bytes.includes(twoNuls)
    return { ...region, kind: isGap ? ('gap' as const) : ('damage' as const) }
  })
}

/** JSON lines hold no NUL, and one flipped bit makes at most one: two in a row are a page that never reached the disk. */
const twoNuls = Buffer.alloc(2)

/** Which lines are events: those whose parents stand (INV-6). The others are orphans of a gap, or damage. */
const stand = (
  junk: readonly Junk[],
  sightings: readonly Sighting[],
  names: readonly Naming[],
): Pick<Survey, 'orphans' | 'newOrphans' | 'tail' | 'head' | 'broken'> => {
  const nodes = new Set<EventId>()
  const orphans = new Set<EventId>()
  const newOrphans: EventId[] = []
  const openGap = junk.find(({ kind }) => kind === 'gap')
  let tail: Line | null = null
  let head: Line | null = null
  const broken: Damage[] = []
  for (const { line, lineNumber } of sightings) {
    const isRoot = tail === null && line.parent === null && line.type === 'session'
    if (isRoot || (line.parent !== null && nodes.has(line.parent))) {
      tail = line
      if (!line.note) {
        head = line
        nodes.add(line.id)
      }
    } else if (
      names.some(
        ({ at, start, orphans: void_ }) => line.offset > start && line.offset < at && void_.has(line.id),
      )
    ) {
      orphans.add(line.id)
    } else if (openGap !== undefined && line.offset > openGap.start && tail !== null) {
      orphans.add(line.id)
      newOrphans.push(line.id)
    } else {
      broken.push(brokenLink(line, lineNumber, tail === null))
    }
  }
  if (tail === null && broken.length === 0) broken.push(noRoot)
  return { orphans, newOrphans, tail, head, broken }
}

const noRoot: Damage = {
  kind: 'no-root',
  line: 1,
  offset: 0,
  bytes: 0,
  detail: 'the log holds no whole first event',
}

/** What is wrong with a line whose parent is none of the events before it. */
const brokenLink = (line: Line, lineNumber: number, isFirst: boolean): Damage => {
  const where = { line: lineNumber, offset: line.offset, bytes: line.bytes.length }
  if (isFirst)
    return { ...noRoot, ...where, detail: `the first event is a ${line.type}, not a session's root` }
  if (line.parent === null)
    return {
      ...where,
      kind: 'second-root',
      detail: `${line.id} has no parent, yet it is not the first event`,
    }
  return {
    ...where,
    kind: 'missing-parent',
    detail: `${line.id} hangs on ${line.parent}, which is no event before it`,
  }
}

const firstDamage = (junk: readonly Junk[], broken: readonly Damage[]): Damage | null => {
  const region = junk.find(({ kind }) => kind === 'damage')
  const candidates = region === undefined ? broken : [...broken, damageOf(region)]
  return candidates.reduce<Damage | null>(
    (first, next) => (first === null || next.offset < first.offset ? next : first),
    null,
  )
}

/** A junk region in the words of an error or a report. */
export const damageOf = ({ kind, line, start, end }: Junk): Damage => ({
  kind: kind === 'damage' || kind === 'named' ? 'undecodable' : kind,
  line,
  offset: start,
  bytes: end - start,
  detail: `${end - start} bytes ${kind === 'torn-tail' ? 'after the last whole event' : 'that are no event'}`,
})
