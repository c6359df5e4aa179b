import * as E from 'fp-ts/lib/Either.js'
import { type Damage, Damaged } from './errors/index.js'
import type { Event } from './event.js'
import { type Line, parseLine } from './line.js'
import type { ReadOptions } from './log.js'
import { refuseNewer } from './newer.js'

/** Parses proved lines; rejects where a payload contradicts its envelope (INV-4) or needs a newer version. */
export const eventOf = (line: Line, path: string): Event => {
  const event = parseLine(line)
  if (E.isLeft(event)) throw new Damaged(path, payloadDamage(line, event.left))
  const newer = refuseNewer(event.right, path)
  if (newer !== null) throw newer
  return event.right
}

const payloadDamage = (line: Line, reason: string): Damage => ({
  kind: 'payload',
  line: 0,
  offset: line.offset,
  bytes: line.bytes.length,
  detail: `${line.id}: ${reason}`,
})

/** The events of a batch; in salvage a line that proves itself and is no JSON is passed over, and told. */
export const eventsOf = (
  lines: readonly Line[],
  path: string,
  { salvage, report }: ReadOptions = {},
): readonly Event[] =>
  lines.flatMap((line) => {
    if (salvage !== true) return [eventOf(line, path)]
    const event = parseLine(line)
    if (E.isRight(event)) return [eventOf(line, path)]
    report?.(payloadDamage(line, event.left))
    return []
  })
