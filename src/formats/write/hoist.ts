import type { Event, EventId } from '../../events/event.js'
import { membersOf } from './own.js'

/**
 * A path in the order in which a tool reads it that has no `through`: each compaction right after what it covers, so
 * that what it kept follows its summary. What stays as its own file has it is not moved: all own events up to the first
 * one that has to be written anew (`isNew`), in the order that comes of it.
 */
export const hoisted = (path: readonly Event[], isNew: (event: Event) => boolean): readonly Event[] => {
  let staying = new Set(path.map(({ id }) => id))
  for (;;) {
    const order = moved(path, (event) => isNew(event) || !staying.has(event.id))
    const first = order.findIndex((event) => isNew(event) || !staying.has(event.id))
    const before = new Set((first === -1 ? order : order.slice(0, first)).map(({ id }) => id))
    if (before.size === staying.size) return order
    staying = before
  }
}

const moved = (path: readonly Event[], moves: (event: Event) => boolean): readonly Event[] => {
  const places = new Map(path.map(({ id }, i) => [id, i]))
  const order: Event[] = []
  for (const event of path) {
    const { through } = membersOf(event)
    const last =
      event.type === 'compaction' && moves(event) && typeof through === 'string'
        ? places.get(through)
        : undefined
    if (last === undefined) order.push(event)
    else order.splice(placeAfter(order, places, last), 0, event)
  }
  return order
}

/** After all that is covered, and after earlier compactions that cover as much: the newest one counts. */
const placeAfter = (order: readonly Event[], places: ReadonlyMap<EventId, number>, last: number): number => {
  let at = order.findLastIndex(({ id }) => (places.get(id) ?? 0) <= last) + 1
  while (order[at]?.type === 'compaction') at++
  return at
}
