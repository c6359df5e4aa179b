import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { Appended, Durability } from '../log.js'
import { newline, recoveryWindow } from './constants.js'
import type { Recovery } from './recover.js'

/** What is known of the file's end, as long as its size says that no one else wrote. */
export interface End {
  readonly size: number
  readonly id: EventId
  readonly at: string
  readonly endsInNewline: boolean
}

export interface Request {
  readonly expected: EventId
  readonly lines: readonly Line[]
  readonly durability: Durability
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/** The end, and what must be written before anything else where it does not decode. */
export type Known = End & { readonly recovery: Recovery | null }

export interface Accepted {
  readonly request: Request
  readonly tail: EventId
}

/** Which requests continue the log's end, each the one before it. */
export const follow = (
  tail: EventId,
  batch: readonly Request[],
): { readonly accepted: readonly Accepted[]; readonly stale: readonly Request[] } => {
  const accepted: Accepted[] = []
  const stale: Request[] = []
  let end = tail
  for (const request of batch) {
    if (request.expected === end) {
      end = request.lines[request.lines.length - 1]?.id ?? end
      accepted.push({ request, tail: end })
    } else {
      stale.push(request)
    }
  }
  return { accepted, stale }
}

/** Tells each accepted append what it wrote; the log's own note goes with the first that wrote anything. */
export const settle = (accepted: readonly Accepted[], end: Known, note: Line | null): void => {
  let offset = end.size + (end.recovery?.prefix.length ?? (end.endsInNewline ? 0 : 1))
  let own = note
  for (const { request, tail } of accepted) {
    const lines = own === null || request.lines.length === 0 ? request.lines : [own, ...request.lines]
    if (lines !== request.lines) own = null
    const placed = lines.map((line) => {
      const at = offset
      offset += line.bytes.length + 1
      return { ...line, offset: at }
    })
    request.resolve({ lines: placed, tail })
  }
}

export const linesOf = ({ request }: Accepted): readonly Line[] => request.lines

export const noBytes = Buffer.alloc(0)
export const newlineBytes = Buffer.of(newline)
/** A line with its newline. */
const ended = (bytes: Buffer): Buffer => {
  const whole = Buffer.allocUnsafe(bytes.length + 1)
  bytes.copy(whole)
  whole[bytes.length] = newline
  return whole
}

/** The bytes of each write: whole lines, as many as fit. */
export const writesOf = (prefix: Buffer, lines: readonly Line[]): readonly Buffer[] => {
  if (lines.length === 1 && prefix.length === 0) return [ended((lines[0] as Line).bytes)]
  const writes: Buffer[] = []
  let parts: Buffer[] = prefix.length === 0 ? [] : [prefix]
  let bytes = prefix.length
  for (const line of lines) {
    if (bytes > 0 && bytes + line.bytes.length >= recoveryWindow) {
      writes.push(Buffer.concat(parts, bytes))
      parts = []
      bytes = 0
    }
    parts.push(line.bytes, newlineBytes)
    bytes += line.bytes.length + 1
  }
  writes.push(Buffer.concat(parts, bytes))
  return writes
}
