import * as E from 'fp-ts/lib/Either.js'
import { NewerFormat } from './errors/index.js'
import { type Event, isEventType } from './event.js'
import { type Line, parseLine } from './line.js'

/** Why this version must not read on past an event; null for all that it may fold or pass over. */
export const refuseNewer = (event: Event, where: string): NewerFormat | null => {
  if (event.type === 'session' && event.redacted !== true && event.format !== 1)
    return new NewerFormat(where, `format ${String(event.format)}`)
  if (event.required !== true || isEventType(event.type)) return null
  const needs = typeof event.needs === 'string' ? `${event.needs}, for ` : ''
  return new NewerFormat(where, `${needs}the event type ${event.type}`)
}

/** The same for a line, parsed only where it could be newer; every reader of a log asks (the log is never half-read). */
export const refuseNewerLine = (line: Line, where: string): NewerFormat | null => {
  if (line.type !== 'session' && isEventType(line.type)) return null
  const event = parseLine(line)
  // A payload that is no JSON is damage, which whoever parses it reports.
  return E.isLeft(event) ? null : refuseNewer(event.right, where)
}
