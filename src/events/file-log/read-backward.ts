import { Damaged } from '../errors/index.js'
import type { Line } from '../line.js'
import type { ReadOptions } from '../log.js'
import type { FileHandle } from '../ports.js'
import { backwardChunk, newline, recoveryWindow } from './constants.js'
import { declaresVoid, type Naming, naming, namingsOf } from './naming.js'
import { surveySettled } from './read-forward.js'
import { piecesOf, readFully, type Segment, segmentsOf } from './scan.js'
import { isVoid, losingGap, reportSkipped, type Survey } from './survey.js'

/**
 * Last to first, in chunks from the end, and no further than the caller goes. Links are the caller's to follow. Bytes
 * that do not decode are passed over where a `recovered` note has named them; for anything else a survey says what it
 * is (INV-4): a torn tail or a gap is reported and passed over, damage stops the reader where it meets it, and a gap on
 * which lines below it hang stops it at once: what it gave before would not be the log's end.
 */
export async function* readBackward(
  file: FileHandle,
  options: ReadOptions = {},
  chunkSize: number = backwardChunk,
): AsyncGenerator<readonly Line[]> {
  const judge = new Judge(file, options)
  const { size } = file.stat()
  // The orphans of an open gap stand below it: whoever reads from the end must know of it before.
  if (holdsNul(file, size)) await judge.survey()
  let hasLine = false
  let pending = null as Region | null
  for (const segments of chunksBackward(file, size, chunkSize)) {
    const lines: Line[] = []
    for (const { line, start, end } of segments) {
      if (line === null) {
        pending = { start, end: pending?.end ?? end }
        continue
      }
      if (pending !== null) {
        await judge.pass(pending)
        pending = null
      }
      hasLine = true
      if (judge.doubts(line)) await judge.survey()
      if (!judge.isVoid(line)) lines.push(line)
    }
    if (lines.length > 0) yield lines
  }
  if (pending !== null) await judge.pass(pending)
  if (!hasLine) await judge.refuseEmpty()
}

interface Region {
  readonly start: number
  readonly end: number
}

/** Says of what a backward reader meets whether it may go on. Surveys the log at most once. */
class Judge {
  #found: Survey | null = null
  readonly #names: Naming[] = []

  constructor(
    readonly file: FileHandle,
    readonly options: ReadOptions,
  ) {}

  async survey(): Promise<Survey> {
    if (this.#found === null) {
      this.#found = await surveySettled(this.file)
      reportSkipped(this.#found, this.options)
      const gap = losingGap(this.#found, this.options)
      if (gap !== null) throw new Damaged(this.file.path, gap)
    }
    return this.#found
  }

  /** Bytes that do not decode. */
  async pass(region: Region): Promise<void> {
    if (this.#found === null && naming(this.file, region, this.#names) !== undefined) return
    const { junk, damage } = await this.survey()
    const isDamage = junk.some(
      ({ kind, start, end }) => kind === 'damage' && start < region.end && end > region.start,
    )
    if (isDamage && damage !== null && this.options.salvage !== true)
      throw new Damaged(this.file.path, damage)
  }

  /** Whether a note has called the line void, which only a survey can confirm: its parent must not stand. */
  doubts(line: Line): boolean {
    if (line.type === 'recovered') this.#names.push(...namingsOf(line))
    return this.#found === null && this.#names.length > 0 && declaresVoid(this.#names, line)
  }

  isVoid(line: Line): boolean {
    return this.#found !== null && isVoid(this.#found, line, this.options)
  }

  async refuseEmpty(): Promise<void> {
    const { damage } = await this.survey()
    if (damage !== null && this.options.salvage !== true) throw new Damaged(this.file.path, damage)
  }
}

/** No line holds a NUL. Costs a third of a millisecond for the 4 MiB in which a gap may be open. */
const holdsNul = (file: FileHandle, size: number): boolean => {
  for (const piece of piecesOf(file, Math.max(0, size - recoveryWindow), size))
    if (piece.includes(0)) return true
  return false
}

/** How many first chunks the largest one is. */
const mostChunks = 16

/** Segments chunk by chunk from the end, last first; one that a chunk's start cuts waits for the next chunk. */
function* chunksBackward(file: FileHandle, size: number, chunkSize: number): Generator<readonly Segment[]> {
  let end = size
  let carry: Buffer = Buffer.alloc(0)
  while (end > 0) {
    // A walk that went far goes on: it takes up to an eighth more than it needs, in fewer steps.
    const stride = Math.max(chunkSize, Math.min(Math.floor((size - end) / 8), mostChunks * chunkSize))
    const length = Math.min(end, Math.max(stride, carry.length))
    const chunk = readFully(file, end - length, length)
    const bytes = carry.length === 0 ? chunk : Buffer.concat([chunk, carry])
    end -= length
    const cut = end === 0 ? 0 : firstStart(bytes)
    carry = bytes.subarray(0, cut)
    yield segmentsOf(bytes.subarray(cut), end + cut).reverse()
  }
}

/** Where the first segment that surely begins in these bytes begins: after their first newline. */
const firstStart = (bytes: Buffer): number => {
  const found = bytes.indexOf(newline)
  return found < 0 ? bytes.length : found + 1
}
