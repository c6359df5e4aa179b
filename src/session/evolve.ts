import { advancesHead, type Event } from '../events/event.js'
import { codeStateAfter } from '../projections/code-state.js'
import { sessionIndex } from '../projections/session-index.js'
import { extend } from './branch.js'
import type { CodeAt } from './code/code-at.js'
import type { SessionState } from './decide.js'

/** The state after an event of the session's own: its position moves along. */
export const evolve = (state: SessionState, event: Event): SessionState => {
  const index = sessionIndex.apply(state.index, event)
  if (!advancesHead(event)) return { ...state, index }
  // A branch held at hand goes on only below the position; elsewhere it must be read anew.
  const branch = state.branch !== null && event.parent === state.position ? extend(state.branch, event) : null
  return { index, position: event.id, branch, code: codeAfter(state, event) }
}

/** The same for the code state; nor can it go on where a list of files stands in a blob. */
const codeAfter = ({ code }: SessionState, event: Event): CodeAt | null => {
  if (code === null || event.parent !== code.at) return null
  const state = codeStateAfter(code.state, event)
  return state.unresolved.length > 0 ? null : { at: event.id, state }
}
