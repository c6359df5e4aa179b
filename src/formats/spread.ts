import type { JsonFault, JsonRecord } from './json-record.js'
import { depthAfter } from './json-text.js'
import type { RawLine } from './lines.js'

type Found = JsonRecord | JsonFault

/** More than this is no record that someone spread over lines: what was gathered counts as damaged. */
const maxSpread = 64 * 1024 * 1024

export interface SpreadOptions {
  /** What the line is by itself. */
  readonly alone: (source: RawLine) => Found[]
  /** Whether a value that stands on a line is a record, not a piece of one. */
  readonly isRecord: (value: unknown) => boolean
  /** The record of a text; null where it is none. */
  readonly parse: (text: string, line: number) => JsonRecord | null
}

/** Gathers records that stand on many lines, as a formatter leaves them. Any record on one line ends what was begun. */
export class Spread {
  #lines: { readonly line: number; readonly found: readonly Found[] }[] = []
  #texts: string[] = []
  #depth = 0
  #length = 0

  constructor(readonly options: SpreadOptions) {}

  take(source: RawLine): readonly Found[] {
    const found = this.options.alone(source)
    if (this.#lines.length === 0) return this.#begins(source, found) ? [] : found
    const text = source.bytes.toString()
    const isRecord = found.some((one) => one.kind === 'record' && this.options.isRecord(one.value))
    if (isRecord || source.dropped > 0 || text.includes('\0')) return this.#giveUp(source)
    this.#add(source.line, text, found)
    if (this.#depth > 0) return this.#length > maxSpread ? this.end() : []
    const record = this.#depth === 0 ? this.#whole() : null
    if (record === null) return this.end()
    this.#clear()
    return [record]
  }

  /** What was begun and not ended, line by line. */
  end(): readonly Found[] {
    const found = this.#lines.flatMap((one) => one.found)
    this.#clear()
    return found
  }

  #giveUp(source: RawLine): readonly Found[] {
    const before = this.end()
    return [...before, ...this.take(source)]
  }

  #begins({ line, bytes, ended }: RawLine, found: readonly Found[]): boolean {
    const text = bytes.toString()
    const isOpen = ended && /^\uFEFF?\s*\{\s*($|")/.test(text) && found.every(({ kind }) => kind === 'fault')
    if (!isOpen || text.includes('\0') || depthAfter(text, 0) <= 0) return false
    this.#add(line, text, found)
    return true
  }

  #add(line: number, text: string, found: readonly Found[]): void {
    this.#lines.push({ line, found })
    this.#texts.push(text)
    this.#length += text.length
    this.#depth = depthAfter(text, this.#depth)
  }

  #whole(): JsonRecord | null {
    const [first, ...more] = this.#lines.map(({ line }) => line)
    const record = this.options.parse(
      this.#texts
        .join('\n')
        .replace(/^\uFEFF/, '')
        .trim(),
      first ?? 1,
    )
    // Its name is a hash of its text: the one that its tool wrote, on one line.
    return record === null ? null : { ...record, text: JSON.stringify(record.value), more }
  }

  #clear(): void {
    this.#lines = []
    this.#texts = []
    this.#depth = 0
    this.#length = 0
  }
}
