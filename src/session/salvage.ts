import { advancesHead, type Event, type EventId } from '../events/event.js'

/**
 * For reading past damage: an event whose parent was lost hangs on the last one before it that was not, so that what
 * stands above the loss can still be read. For the eye only: nothing of it is written.
 */
export const bridged = (events: readonly Event[]): readonly Event[] => {
  const nodes = new Set<EventId>()
  let last: EventId | null = null
  return events.map((event) => {
    const isLost = event.parent !== null && !nodes.has(event.parent) && last !== null
    const whole = isLost ? { ...event, parent: last } : event
    if (advancesHead(event)) {
      nodes.add(event.id)
      last = event.id
    }
    return whole
  })
}
