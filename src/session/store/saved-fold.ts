import { Damaged, LogLostTail } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { eventOf, eventsOf } from '../../events/event-of.js'
import type { EventLog, LogStamp, ReadOptions } from '../../events/log.js'
import { type SessionIndexState, sessionIndex } from '../../projections/session-index.js'
import type { SavedFold } from './index-file.js'

export const isSame = (a: LogStamp, b: LogStamp): boolean =>
  a.identity === b.identity && a.bytes === b.bytes && a.modified === b.modified

/**
 * The fold of a log as it stands now: the saved one where the file is the same, the saved one and the rest where it
 * grew, else a fold of the whole (INV-3, INV-8). Rejects with LogLostTail where the log no longer holds what was folded.
 */
export const currentFold = async (
  log: EventLog,
  session: EventId,
  saved: SavedFold | undefined,
  options: ReadOptions = {},
): Promise<SavedFold> => {
  const stamp = log.stamp(session)
  if (stamp !== null && saved !== undefined && isSame(stamp, saved.stamp)) return saved
  const grown = saved === undefined || stamp === null ? null : await foldRest(log, saved, stamp, options)
  return grown ?? (await foldWhole(log, session, saved, options))
}

/** Null where the file did not only grow: the event that was folded last must begin where it did. */
const foldRest = async (
  log: EventLog,
  saved: SavedFold,
  stamp: LogStamp,
  options: ReadOptions,
): Promise<SavedFold | null> => {
  if (stamp.identity !== saved.stamp.identity || stamp.bytes <= saved.stamp.bytes) return null
  try {
    let fold = null as SavedFold | null
    for await (const batch of log.readForward(saved.session, { ...options, from: saved.from })) {
      for (const line of batch) {
        if (fold === null) {
          if (line.id !== saved.state.tail) return null
          fold = { ...saved, stamp }
        } else {
          fold = {
            ...fold,
            from: line.offset,
            state: sessionIndex.apply(fold.state, eventOf(line, saved.session)),
          }
        }
      }
    }
    return fold
  } catch (error) {
    if (error instanceof Damaged) return null
    throw error
  }
}

const foldWhole = async (
  log: EventLog,
  session: EventId,
  saved: SavedFold | undefined,
  options: ReadOptions,
): Promise<SavedFold> => {
  const stamp = log.stamp(session) ?? { bytes: 0, identity: '', modified: 0 }
  const known = saved?.state.tail ?? null
  let state: SessionIndexState = sessionIndex.initial
  let from = 0
  let sawKnown = known === null
  for await (const batch of log.readForward(session, options)) {
    for (const event of eventsOf(batch, session, options)) state = sessionIndex.apply(state, event)
    for (const line of batch) {
      from = line.offset
      sawKnown ||= line.id === known
    }
  }
  const { session: root } = state.birth
  if (root !== null && root !== session) throw notOf(session, root)
  if (!sawKnown && known !== null) throw new LogLostTail(session, known)
  return { session, stamp, from, state }
}

/** A session's id is that of its root: a log under another's name is no session. */
const notOf = (session: EventId, root: EventId): Damaged =>
  new Damaged(session, {
    kind: 'no-root',
    line: 1,
    offset: 0,
    bytes: 0,
    detail: `the log is that of session ${root}`,
  })
