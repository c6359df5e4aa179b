import * as E from 'fp-ts/lib/Either.js'
import { Damaged } from '../errors/index.js'
import { type EventId, is } from '../event.js'
import { sha256 } from '../id.js'
import { type Line, parseLine } from '../line.js'
import type { ReadOptions } from '../log.js'
import type { FileHandle } from '../ports.js'
import { backwardChunk, newline } from './constants.js'
import { surveySettled } from './read-forward.js'
import { readFully, type Segment, segmentsOf } from './scan.js'
import { damageOf, type Survey } from './survey.js'

/** What `recovered` notes further down have named: regions to pass over, and lines in them that are no events. */
interface Named {
  readonly regions: { readonly start: number; readonly end: number; readonly sha256: string }[]
  readonly orphans: { readonly start: number; readonly at: number; readonly ids: ReadonlySet<EventId> }[]
}

/**
 * Last to first, in chunks from the end, and no further than the caller goes. Links are the caller's to follow. Bytes
 * that do not decode are passed over where a `recovered` note has named them; a torn tail is reported; anything else
 * asks a survey, which says gap or damage with line and byte (INV-4).
 */
export async function* readBackward(
  file: FileHandle,
  options: ReadOptions = {},
  chunkSize: number = backwardChunk,
): AsyncGenerator<readonly Line[]> {
  const named: Named = { regions: [], orphans: [] }
  let surveyed = null as Survey | null
  let hasLine = false
  let pending = null as Segment | null
  for (const { segments, bytes } of chunksBackward(file, chunkSize)) {
    const lines: Line[] = []
    for (const segment of segments) {
      const { line } = segment
      if (line === null) {
        pending = pending === null ? segment : { ...pending, start: segment.start }
        continue
      }
      if (pending !== null) {
        surveyed ??= await explain(file, pending, named, hasLine, options)
        pending = null
      }
      hasLine = true
      if (surveyed === null ? isVoid(line, named) : surveyed.orphans.has(line.id)) continue
      if (line.type === 'recovered') name(line, named)
      lines.push(line)
    }
    if (lines.length > 0) yield lines
    if (bytes === 0) break
  }
  if (pending !== null || !hasLine) await explain(file, pending, named, false, options)
}

/** Chunks from the end, their whole segments last first; a segment cut by a chunk's start waits for the next. */
function* chunksBackward(
  file: FileHandle,
  chunkSize: number,
): Generator<{ readonly segments: readonly Segment[]; readonly bytes: number }> {
  let end = file.stat().size
  let carry: Buffer = Buffer.alloc(0)
  while (end > 0) {
    const length = Math.min(end, Math.max(chunkSize, carry.length))
    const chunk = readFully(file, end - length, length)
    const bytes = carry.length === 0 ? chunk : Buffer.concat([chunk, carry])
    end -= length
    const cut = end === 0 ? 0 : firstStart(bytes)
    carry = bytes.subarray(0, cut)
    yield { segments: segmentsOf(bytes.subarray(cut), end + cut).reverse(), bytes: end }
  }
}

/** Where the first segment that surely begins in these bytes begins: after their first newline. */
const firstStart = (bytes: Buffer): number => {
  const found = bytes.indexOf(newline)
  return found < 0 ? bytes.length : found + 1
}

const name = (line: Line, named: Named): void => {
  const event = parseLine(line)
  if (E.isLeft(event) || !is(event.right, 'recovered') || !Array.isArray(event.right.gaps)) return
  const ids = new Set(Array.isArray(event.right.orphans) ? event.right.orphans : [])
  for (const gap of event.right.gaps) {
    const start = line.offset - gap.back
    named.regions.push({ start, end: start + gap.bytes, sha256: gap.sha256 })
    named.orphans.push({ start, at: line.offset, ids })
  }
}

const isVoid = (line: Line, { orphans }: Named): boolean =>
  orphans.some(({ start, at, ids }) => line.offset > start && line.offset < at && ids.has(line.id))

/** Passes over what is named or torn; else what the survey says. Null: nothing that a survey need say. */
const explain = async (
  file: FileHandle,
  region: Segment | null,
  named: Named,
  hasLine: boolean,
  options: ReadOptions,
): Promise<Survey | null> => {
  if (region !== null && isNamed(file, region, named)) return null
  const found = await surveySettled(file)
  for (const junk of found.junk) {
    if (
      junk.kind === 'torn-tail' ||
      junk.kind === 'gap' ||
      (junk.kind === 'damage' && options.salvage === true)
    )
      options.report?.(damageOf(junk))
  }
  if (options.salvage === true) return found
  if (found.damage !== null) throw new Damaged(file.path, found.damage)
  // Lines already given turn out to hang on a lost one: only a forward reader can leave them out in time.
  const gap = found.junk.find(({ kind }) => kind === 'gap')
  if (gap !== undefined && hasLine && found.newOrphans.length > 0) throw new Damaged(file.path, damageOf(gap))
  return found
}

const isNamed = (file: FileHandle, { start, end }: Segment, { regions }: Named): boolean =>
  regions.some(
    (region) =>
      region.start === start &&
      region.end === end &&
      region.sha256 === sha256(readFully(file, start, end - start)),
  )
