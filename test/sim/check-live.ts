import type { EventId } from '../../src/events/event.js'
import { LiveSession } from '../../src/session/session.js'
import type { Actor } from './actor.js'
import { foldOf, type Seen } from './check.js'
import { Broken } from './model.js'

/** INV-3: what an open session keeps is a replay of the log up to where it has read. */
export const checkLive = ({ open }: Actor, seen: ReadonlyMap<EventId, Seen>): void => {
  for (const session of open.values()) {
    const log = seen.get(session.id)
    if (log === undefined || !(session instanceof LiveSession)) continue
    const { index } = session.open.state
    const end = log.lines.findIndex(({ id }) => id === index.tail)
    if (end < 0)
      throw new Broken('INV-2', `an open session of ${session.id} knows ${index.tail}, and it is gone`)
    const replayed =
      end === log.lines.length - 1 ? log.state : foldOf(session.id, log.lines.slice(0, end + 1))
    if (JSON.stringify(replayed) !== JSON.stringify(index))
      throw new Broken('INV-3', `an open session of ${session.id} is not what a replay gives`)
  }
}

/** A watcher gets every event after the one that it began at, in order, once. */
export const checkWatchers = ({ watched }: Actor, seen: ReadonlyMap<EventId, Seen>): void => {
  for (const { session, after, ids, stop } of watched) {
    const log = seen.get(session)?.lines.map(({ id }) => id)
    if (log === undefined) continue
    const expected = log.slice(log.indexOf(after) + 1)
    const isWhole = stop.signal.aborted || ids.length === expected.length
    if (!isWhole || ids.some((id, i) => id !== expected[i]))
      throw new Broken(
        'WATCH',
        `a watcher of ${session} has ${ids.length} of ${expected.length} events: ${ids} not ${expected}`,
      )
  }
}

/** INV-1: a log only grew since it was last looked at. */
export const checkGrown = (before: ReadonlyMap<EventId, Seen>, after: ReadonlyMap<EventId, Seen>): void => {
  for (const [id, { bytes }] of before) {
    const now = after.get(id)?.bytes
    if (now !== undefined && !now.subarray(0, bytes.length).equals(bytes))
      throw new Broken('INV-1', `bytes that the log of ${id} held were changed`)
  }
}
