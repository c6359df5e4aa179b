import { backward, type Chain, push } from '../events/chain.js'
import { type Event, type EventId, isEventType } from '../events/event.js'
import { type Members, membersOf, stringOf } from './members.js'
import type { Projection } from './projection.js'

/** Where a redo goes: `to`, taking back the undo that the `head` event `undo` made. */
export interface RedoTarget {
  readonly to: EventId
  readonly undo: EventId
}

/** What can be redone at one event. */
interface RedoAt extends RedoTarget {
  readonly id: EventId
}

export interface RedoState {
  readonly head: EventId | null
  /** Events at which there is something to redo: undos, redos, and what follows them without changing the context. */
  readonly at: Chain<RedoAt> | null
}

const apply = (state: RedoState, event: Event): RedoState => {
  if (event.note === true) return state
  const target = targetAt(state, event, membersOf(event))
  return { head: event.id, at: target === null ? state.at : push(state.at, { id: event.id, ...target }) }
}

const targetAt = (state: RedoState, event: Event, members: Members): RedoTarget | null => {
  if (event.type === 'head' && members.reason === 'undo') {
    const from = stringOf(members.from)
    return from === null ? null : { to: from, undo: event.id }
  }
  const isRedo = event.type === 'head' && members.reason === 'redo'
  return event.parent !== null && (isRedo || isContextNeutral(event, members))
    ? find(state, event.parent)
    : null
}

/** Whether the context is the same after the event as before it. A `head` event is another matter: it moves. */
export const isContextNeutral = (event: Event, members: Members): boolean => {
  if (event.type === 'custom') return members.content === undefined
  return event.type === 'checkpoint' || event.type === 'restore' || !isEventType(event.type)
}

const find = (state: RedoState, id: EventId): RedoTarget | null => {
  for (const found of backward(state.at)) if (found.id === id) return { to: found.to, undo: found.undo }
  return null
}

/** The redos from the head on, in the order in which they would go. */
const view = (state: RedoState): readonly RedoTarget[] => {
  const targets: RedoTarget[] = []
  let next = state.head === null ? null : find(state, state.head)
  while (next !== null && targets.length < (state.at?.length ?? 0)) {
    targets.push(next)
    next = find(state, next.to)
  }
  return targets
}

/** What can be redone at the head: undos that only undos, redos and what changes no context followed. */
export const redoTargets: Projection<RedoState, readonly RedoTarget[]> = {
  name: 'redoTargets',
  version: 1,
  scope: 'session',
  initial: { head: null, at: null },
  apply,
  view,
}
