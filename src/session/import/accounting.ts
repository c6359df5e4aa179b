import { createReadStream } from 'node:fs'
import type { Item } from '../../formats/format.js'
import { splitLines } from '../../formats/lines.js'

/** What became of a source's lines, each counted once. */
export interface LineAccount {
  readonly total: number
  /** With nothing on them. */
  readonly blank: number
  /** An event, a move of the head, or a session came of it. */
  readonly carried: number
  /** It could not be read: named among the failures. */
  readonly failed: number
  /** Told by a remark alone: a repeated record, say. */
  readonly remarked: number
  /** Part of a record that begins on a line above. */
  readonly continued: number
  /** Nothing says what became of it; 0 unless a reader is at fault. */
  readonly unaccounted: number
}

const carried = 3
const failed = 2
const remarked = 1
type Fate = typeof carried | typeof failed | typeof remarked

/** A line longer than this is a record's own, whatever it holds (bytes). */
const mostParsed = 1024 * 1024

/** What became of each line, a byte a line: a source may have millions. */
export class Accounting {
  #fates = new Uint8Array(1024)

  take(item: Item): void {
    if (item.kind === 'remark') for (const line of item.lines ?? []) this.#set(line, remarked)
    else if (item.line !== null && item.line !== undefined)
      this.#set(item.line, item.kind === 'failed' ? failed : carried)
  }

  #set(line: number, fate: Fate): void {
    if (line >= this.#fates.length) {
      const grown = new Uint8Array(Math.max(line + 1, this.#fates.length * 2))
      grown.set(this.#fates)
      this.#fates = grown
    }
    if ((this.#fates[line] ?? 0) < fate) this.#fates[line] = fate
  }

  /** Holds what was read against the source's lines. Null where it has none: a database, a compressed file. */
  async close(source: string): Promise<LineAccount | null> {
    if (!/\.jsonl?$/.test(source)) return null
    const counts = { total: 0, blank: 0, carried: 0, failed: 0, remarked: 0, continued: 0, unaccounted: 0 }
    const isDocument = source.endsWith('.json')
    let begun = false
    const chunks = createReadStream(source, { highWaterMark: 256 * 1024 })
    for await (const { line, bytes, dropped } of splitLines(chunks, mostParsed)) {
      counts.total++
      const fate = this.#fates[line] ?? 0
      if (fate > 0) begun = true
      if (fate === carried) counts.carried++
      else if (fate === failed) counts.failed++
      else if (fate === remarked) counts.remarked++
      else if (dropped === 0 && isBlank(bytes)) counts.blank++
      else if (begun && (isDocument || !isRecord(bytes, dropped))) counts.continued++
      else counts.unaccounted++
    }
    return counts
  }
}

const isBlank = (bytes: Buffer): boolean =>
  bytes
    .toString()
    .replace(/^\uFEFF/, '')
    .trim() === ''

/** A line that is whole by itself is no part of another. */
const isRecord = (bytes: Buffer, dropped: number): boolean => {
  if (dropped > 0) return true
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
