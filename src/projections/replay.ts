import type { Event, EventId } from '../events/event.js'
import { pathTo, type Tree, treeOf } from '../events/tree.js'
import type { Projection } from './projection.js'

/** Folds events into a projection's state, from its initial state or from a saved one. */
export const fold = <S, V>(
  projection: Projection<S, V>,
  events: Iterable<Event>,
  from: S = projection.initial,
): S => {
  let state = from
  for (const event of events) state = projection.apply(state, event)
  return state
}

/** The events on the path to `leaf` and the notes that hang on them, in log order. */
export const branchEvents = (log: Iterable<Event>, tree: Tree<Event>, leaf: EventId): readonly Event[] => {
  const onPath = new Set(pathTo(tree, leaf).map(({ id }) => id))
  return [...log].filter((event) => onPath.has(event.note === true ? (event.parent ?? '') : event.id))
}

/** Folds a whole log, as its last head-advancing event (or `leaf`) sees it. */
export const replay = <S, V>(projection: Projection<S, V>, log: readonly Event[], leaf?: EventId): S => {
  if (projection.scope === 'session') return fold(projection, log)
  const tree = treeOf(log)
  return tree === null ? projection.initial : fold(projection, branchEvents(log, tree, leaf ?? tree.head))
}
