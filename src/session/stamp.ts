import type { Draft } from '../events/draft.js'
import type { EventId } from '../events/event.js'
import type { Stamped } from '../events/line.js'
import { advances } from './decide.js'

/** Envelope and payload of a draft that was given its time and parent. */
export interface Placed {
  readonly envelope: Stamped
  readonly payload: Record<string, unknown>
}

/** Gives a draft what it lacks. `clockMs`: at or after everything that this session and this log hold (DESIGN §3). */
export const place = (draft: Draft, position: EventId, clockMs: number): Placed => {
  const { type, at, parent, note: _note, ...payload } = draft
  const isNote = !advances(draft)
  return {
    envelope: { parent: parent ?? position, at: at ?? new Date(clockMs).toISOString(), type, note: isNote },
    payload,
  }
}

/** The stamp's time: `max(clock, the session object's last + 1 ms, the log's last + 1 ms)`, so that no id comes twice. */
export const nextTime = (now: number, lastOwn: number, logAt: string): number => {
  const lastInLog = logAt === '' ? 0 : Date.parse(logAt)
  return Math.max(now, lastOwn + 1, lastInLog + 1)
}
