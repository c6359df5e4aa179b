import type { Event, EventId } from '../events/event.js'
import type { Members } from './members.js'

/** What is known of each open end, by its id (docs/FORMAT.md). Few: one, and one for each divergence. */
export type OpenEnds<T> = Readonly<Record<EventId, T>>

/** A `head` event removes the end that it came from; every event removes its parent and adds itself. Not for notes. */
export const advanceEnds = <T>(ends: OpenEnds<T>, event: Event, members: Members, end: T): OpenEnds<T> => {
  const from = event.type === 'head' ? members.from : null
  const next: Record<EventId, T> = {}
  for (const [id, kept] of Object.entries(ends)) if (id !== event.parent && id !== from) next[id] = kept
  next[event.id] = end
  return next
}

/** The ends that nobody left on purpose: all but the head, and but those that only say where a head was (INV-7). */
export const divergedEnds = <T extends { readonly type: string }>(
  ends: OpenEnds<T>,
  head: EventId | null,
): readonly (readonly [EventId, T])[] =>
  Object.entries(ends).filter(([id, { type }]) => id !== head && type !== 'head')
