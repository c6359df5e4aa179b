import type { RemarkItem } from './format.js'

/** Counts what a reader has to say, so that a thousand of a kind are one remark at the end. */
export class Remarks {
  readonly #counts = new Map<
    string,
    { session: string | null; text: string; count: number; lines: number[] }
  >()

  /** `line` where no item accounts for the line otherwise. */
  add(session: string | null, text: string, line?: number): void {
    const key = `${session ?? ''}\n${text}`
    const remark = this.#counts.get(key) ?? { session, text, count: 0, lines: [] }
    remark.count++
    if (line !== undefined) remark.lines.push(line)
    this.#counts.set(key, remark)
  }

  items(): RemarkItem[] {
    return [...this.#counts.values()].map(({ session, text, count, lines }) => ({
      kind: 'remark',
      session,
      text,
      count,
      ...(lines.length > 0 ? { lines } : {}),
    }))
  }
}
