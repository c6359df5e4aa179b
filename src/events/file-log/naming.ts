import * as E from 'fp-ts/lib/Either.js'
import { is } from '../event.js'
import { type Line, parseLine } from '../line.js'
import type { FileHandle } from '../ports.js'
import { hashOf } from './scan.js'

/** A region that a `recovered` note says does not decode, and the lines between it and the note that are no events. */
export interface Naming {
  readonly start: number
  readonly end: number
  readonly sha256: string
  /** Where the note stands. */
  readonly at: number
  readonly orphans: ReadonlySet<unknown>
}

/** What a line names, if it is a `recovered` note; total over any shape of it. */
export const namingsOf = (line: Line): readonly Naming[] => {
  if (line.type !== 'recovered' || line.redacted) return []
  const event = parseLine(line)
  if (E.isLeft(event) || !is(event.right, 'recovered')) return []
  const { gaps, orphans } = event.right
  const ids = new Set<unknown>(Array.isArray(orphans) ? orphans : [])
  return (Array.isArray(gaps) ? (gaps as readonly unknown[]) : []).flatMap((gap) => {
    const { back, bytes, sha256 } = (gap ?? {}) as Record<string, unknown>
    if (typeof back !== 'number' || typeof bytes !== 'number' || typeof sha256 !== 'string') return []
    const start = line.offset - back
    return [{ start, end: start + bytes, sha256, at: line.offset, orphans: ids }]
  })
}

/** A note that lies, or that came from another file, names nothing: place, length and hash are held against the bytes. */
export const naming = (
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  names: readonly Naming[],
): Naming | undefined => {
  const candidates = names.filter((name) => name.start === start && name.end === end)
  if (candidates.length === 0) return undefined
  const hash = hashOf(file, start, end)
  return candidates.find(({ sha256 }) => sha256 === hash)
}

/** Whether a note in `names` declares a line void. It counts only inside the note's own region. */
export const declaresVoid = (names: readonly Naming[], line: Line): boolean =>
  names.some(({ start, at, orphans }) => line.offset > start && line.offset < at && orphans.has(line.id))
