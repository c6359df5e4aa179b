/** One line of bytes, without its newline. */
export interface RawLine {
  /** From 1. */
  readonly line: number
  readonly bytes: Buffer
  /** Whether a newline ended it: false only for the last of a file. */
  readonly ended: boolean
  /** Bytes left out because the line is longer than the limit; `bytes` is empty then. */
  readonly dropped: number
}

/** A line longer than this is reported, not held: a reader takes no more memory than its longest line asks for. */
export const maxSourceLine = 128 * 1024 * 1024

/**
 * Splits a stream at `\n` alone: U+2028, U+2029 and U+0085 stand inside strings of real files. Holds one line at a time.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  limit = maxSourceLine,
): AsyncGenerator<RawLine> {
  let line = 1
  let parts: Buffer[] = []
  let held = 0
  let dropped = 0
  const add = (bytes: Buffer): void => {
    if (dropped > 0 || held + bytes.length > limit) {
      dropped += held + bytes.length
      parts = []
      held = 0
    } else if (bytes.length > 0) {
      parts.push(bytes)
      held += bytes.length
    }
  }
  const take = (ended: boolean): RawLine => {
    const taken = { line, bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts), ended, dropped }
    line++
    parts = []
    held = 0
    dropped = 0
    return taken
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end))
      yield take(true)
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (held > 0 || dropped > 0) yield take(false)
}
