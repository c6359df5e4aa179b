import * as E from 'fp-ts/lib/Either.js'
import type { RestoreLog } from '../../checkpoints/recover.js'
import { StaleTail } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { type Line, proveLine } from '../../events/line.js'
import type { EventLog } from '../../events/log.js'
import { findLine } from '../lookup.js'
import { toAppend } from '../sight.js'

/** How often another writer may come first. */
const mostTries = 100

/** The logs of a workspace's sessions, for restores that a crash cut off. */
export const restoreLog = (log: EventLog): RestoreLog => ({
  has: async (session, event) => {
    if (log.stamp(session) === null || (await findLine(log, session, event, toAppend)) === null) return false
    // What stands there may be in the page cache alone: what was aside goes once this has resolved (INV-2).
    await append(log, session, [])
    return true
  },
  append: async (session, text) => {
    if (log.stamp(session) === null) return false
    const line = proveLine(Buffer.from(text), -1)
    if (typeof line === 'string' || line.parent === null) return false
    // A log that was repaired, or put back from a backup, may not reach so far.
    if ((await findLine(log, session, line.parent, toAppend)) === null) return false
    await append(log, session, [line])
    return true
  },
})

/** Appends after whatever the log ends in. */
const append = async (log: EventLog, session: EventId, lines: readonly Line[]): Promise<void> => {
  for (let tries = 0; ; tries++) {
    const appended = await log.append(session, await lastOf(log, session), lines, 'sync')()
    if (E.isRight(appended)) return
    if (!(appended.left instanceof StaleTail) || tries === mostTries) throw appended.left
  }
}

const lastOf = async (log: EventLog, session: EventId): Promise<EventId> => {
  for await (const [last] of log.readBackward(session, toAppend)) if (last !== undefined) return last.id
  return session
}
