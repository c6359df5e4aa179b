import { InvalidDraft, NotFound, Refused } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../events/event.js'
import type { Line } from '../events/line.js'
import { nodeOf } from './branch.js'

/** Where the last event that a session knows begins and ends in its log, in bytes. */
export interface TailPlace {
  readonly from: number
  readonly end: number
}

export const closed = (id: EventId): Refused =>
  new Refused('the session is closed', `session ${id}`, 'open it again')

export const tailPlace = (lines: readonly Line[]): TailPlace | null => {
  const last = lines[lines.length - 1]
  return last === undefined ? null : { from: last.offset, end: last.offset + last.bytes.length + 1 }
}

/** What is wrong with one command and says nothing of the log: those around it go on. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Refused ||
  error instanceof InvalidDraft ||
  (error instanceof NotFound && error.kind === 'event')

/** The last of what came, where all of it is notes and context-neutral events one under the other; else where it stood. */
export const onTop = (stood: EventId, news: readonly Event[]): EventId => {
  let position = stood
  for (const event of news) {
    if (!advancesHead(event)) continue
    if (event.parent !== position || !nodeOf(event).isNeutral) return stood
    position = event.id
  }
  return position
}
