import type { Event, EventId } from '../../events/event.js'
import { bodyOf, encodeLine, encodeTombstone, type Line } from '../../events/line.js'
import { type Traces, withCopies } from './copies.js'
import { canBeRedacted, keptOf } from './kept.js'

/** A line of the log, its event, and the blobs that its own blobs name. */
export interface Standing {
  readonly line: Line
  readonly event: Event
  readonly traces: Traces
}

export interface Rewritten {
  readonly lines: readonly Line[]
  /** The events that became tombstones now, in log order. */
  readonly redacted: readonly EventId[]
  /** Those of them that were not named, and hold what one that was named said. */
  readonly followed: readonly EventId[]
  /** Blobs that nothing names any more, and those that something does. */
  readonly blobs: readonly string[]
  readonly named: ReadonlySet<string>
}

/** How many ids a note holds at most, so that its line fits. */
const idsInNote = 10_000

/**
 * The log with the payloads of the named events replaced by tombstones, of those that hold copies of them too, and the
 * notes that say so at its end. Pure; null where nothing is left to redact. `at` is the notes' time (ms), the least.
 */
export const rewrite = (
  standing: readonly Standing[],
  named: ReadonlySet<EventId>,
  reason: string,
  at: number,
): Rewritten | null => {
  const all = withCopies(
    standing.map(({ traces }) => traces),
    named,
  )
  const isGone = ({ line }: Standing): boolean =>
    all.has(line.id) && !line.redacted && canBeRedacted(line.type)
  const redacted = [...new Set(standing.filter(isGone).map(({ line }) => line.id))]
  const head = standing.findLast(({ line }) => !line.note)?.line
  if (redacted.length === 0 || head === undefined) return null
  const lines = standing.map((one) => (isGone(one) ? tombstoneOf(one) : one.line))
  const first = standing.reduce((ms, { line }) => Math.max(ms, Date.parse(line.at) + 1), at)
  const notes = chunks(redacted, idsInNote).map((ids, index) =>
    encodeLine(
      { parent: head.id, at: new Date(first + index).toISOString(), type: 'redaction', note: true },
      { ids, reason },
    ),
  )
  const still = new Set(standing.filter((one) => !isGone(one)).flatMap(({ traces }) => traces.blobs))
  return {
    lines: [...lines, ...notes],
    redacted,
    followed: redacted.filter((id) => !named.has(id)),
    blobs: standing.filter(isGone).flatMap(({ traces }) => traces.blobs.filter((name) => !still.has(name))),
    named: still,
  }
}

const tombstoneOf = ({ line, event }: Standing): Line =>
  encodeTombstone(line.id, line, bodyOf(line), keptOf(event))

const chunks = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
