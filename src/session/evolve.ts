import { advancesHead, type Event } from '../events/event.js'
import { sessionIndex } from '../projections/session-index.js'
import { extend } from './branch.js'
import type { SessionState } from './decide.js'

/** The state after an event of the session's own: its position moves along. */
export const evolve = (state: SessionState, event: Event): SessionState => {
  const index = sessionIndex.apply(state.index, event)
  if (!advancesHead(event)) return { ...state, index }
  // A branch held at hand goes on only below the position; elsewhere it must be read anew.
  const branch = state.branch !== null && event.parent === state.position ? extend(state.branch, event) : null
  return { index, position: event.id, branch }
}
