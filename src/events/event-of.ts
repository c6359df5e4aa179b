import * as E from 'fp-ts/lib/Either.js'
import { type Damage, Damaged } from './errors/index.js'
import type { Event } from './event.js'
import { type Line, parseLine } from './line.js'
import { refuseNewer } from './newer.js'

/** Parses proved lines; rejects where a payload contradicts its envelope (INV-4) or needs a newer version. */
export const eventOf = (line: Line, path: string): Event => {
  const event = parseLine(line)
  if (E.isLeft(event)) {
    const { offset, bytes } = line
    throw new Damaged(path, {
      kind: 'payload',
      line: 0,
      offset,
      bytes: bytes.length,
      detail: event.left,
    } satisfies Damage)
  }
  const newer = refuseNewer(event.right, path)
  if (newer !== null) throw newer
  return event.right
}
