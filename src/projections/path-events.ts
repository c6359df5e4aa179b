import { type Chain, push } from '../events/chain.js'
import type { Event } from '../events/event.js'
import { membersOf } from './members.js'
import type { Projection } from './projection.js'

/** The events of a path as they came: what is shown of it is worked out when someone looks. */
export type PathEvents = Chain<Event> | null

/** A projection of a path whose every answer is a function of the path's own events, notes apart. */
export const pathProjection = <V>(
  name: string,
  version: number,
  view: (path: PathEvents) => V,
): Projection<PathEvents, V> => ({
  name,
  version,
  scope: 'branch',
  initial: null,
  apply: (path, event) => (event.note === true ? path : push(path, event)),
  view,
})

/** Where the newest compaction of a path cuts: the place of its `through` among the events; -1 where there is none. */
export const cutOf = (events: readonly Event[]): number => {
  const compaction = events.findLast(({ type }) => type === 'compaction')
  const through = compaction === undefined ? undefined : membersOf(compaction).through
  return typeof through === 'string' ? events.findIndex(({ id }) => id === through) : -1
}
