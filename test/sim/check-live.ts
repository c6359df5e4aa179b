import type { EventId } from '../../src/events/event.js'
import type { Line } from '../../src/events/line.js'
import type { LiveSession } from '../../src/session/session.js'
import type { Actor } from './actor.js'
import { foldOf, type Seen } from './check.js'
import { Broken, type KnownSession } from './model.js'

/** INV-3: what an open session keeps is a replay of the log up to where it has read. */
export const checkLive = ({ open }: Actor, seen: ReadonlyMap<EventId, Seen>): void => {
  for (const session of open.values()) {
    const log = seen.get(session.id)
    if (log === undefined) continue
    const { index } = (session as LiveSession).open.state
    const end = log.lines.findIndex(({ id }) => id === index.tail)
    if (end < 0)
      throw new Broken('INV-2', `an open session of ${session.id} knows ${index.tail}, and it is gone`)
    const replayed =
      end === log.lines.length - 1 ? log.state : foldOf(session.id, log.lines.slice(0, end + 1))
    // What it holds may be of before a redaction that it has not read of yet.
    const isBehind = log.lines.slice(end + 1).some(({ type }) => type === 'redaction' || type === 'repaired')
    if (!isBehind && JSON.stringify(replayed) !== JSON.stringify(index))
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

/** INV-1: a log only grew since it was last looked at; where it was rewritten, only what was redacted says less. */
export const checkGrown = (
  before: ReadonlyMap<EventId, Seen>,
  after: ReadonlyMap<EventId, Seen>,
  known: ReadonlyMap<EventId, KnownSession>,
): void => {
  for (const [id, { bytes, lines }] of before) {
    const now = after.get(id)
    if (now === undefined || now.bytes.subarray(0, bytes.length).equals(bytes)) continue
    if (!known.get(id)?.rewrites) throw new Broken('INV-1', `bytes that the log of ${id} held were changed`)
    mustFollow(id, lines, now.lines)
  }
}

const mustFollow = (id: EventId, before: readonly Line[], after: readonly Line[]): void => {
  let at = 0
  for (const line of before) {
    while (at < after.length && after[at]?.id !== line.id) at++
    const now = after[at]
    if (now === undefined) throw new Broken('INV-1', `${line.id} is gone from ${id}, or stands elsewhere`)
    if (!now.redacted && !now.bytes.equals(line.bytes))
      throw new Broken('INV-1', `${line.id} of ${id} says something else`)
  }
}
