import type { Origin } from '../../events/content.js'
import type { Event } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'

/** Where an event came from, if it came from that format; null else, and for a tombstone. */
export const originIn = (event: Event, format: string): Origin | null => {
  const { origin } = event
  if (event.redacted === true || !isObject(origin)) return null
  return origin.format === format && typeof origin.id === 'string' ? (origin as Origin) : null
}

export const isOwn = (event: Event, format: string): boolean => originIn(event, format) !== null

/** What of the record the event does not say; resolved values. */
export const extraOf = (event: Event): Json | undefined => {
  const { origin } = event
  return isObject(origin) && isObject(origin.extra) ? origin.extra : undefined
}

/** The members of an event, or the bare structure that was kept of a tombstone, which reads `[redacted]`. */
export const membersOf = (event: Event): Json =>
  event.redacted === true
    ? { ...(isObject(event.kept) ? event.kept : {}), content: '[redacted]', summary: '[redacted]' }
    : event
