import { advancesHead, type Event, type EventId } from '../events/event.js'
import { sessionIndex } from '../projections/session-index.js'
import { extend } from './branch.js'
import type { SessionState } from './decide.js'

/** The state after an event of the log. `own`: the session wrote it, so its position moves along. */
export const evolve = (state: SessionState, event: Event, isOwn = true): SessionState => {
  const index = sessionIndex.apply(state.index, event)
  if (!isOwn || !advancesHead(event)) return { ...state, index }
  // A branch held at hand goes on only below the position; elsewhere it must be read anew.
  const branch = state.branch !== null && event.parent === state.position ? extend(state.branch, event) : null
  return { index, position: event.id, branch }
}

export const initialState = (position: EventId): SessionState => ({
  index: sessionIndex.initial,
  position,
  branch: null,
})
