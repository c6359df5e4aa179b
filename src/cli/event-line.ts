import type { Event } from '../events/event.js'
import { membersOf } from '../projections/members.js'
import type { Colours } from './context.js'
import { describe } from './describe.js'
import { short } from './names.js'
import { safeLine } from './safe-text.js'
import { clipped } from './width.js'

/** An event as one line of `log` and `watch`: id, time, type, what it says; pure. */
export const eventLine = (event: Event, columns: number, colours: Colours): string => {
  const { role } = membersOf(event)
  const what = event.type === 'message' ? safeLine(String(role)) : event.type
  const type = clipped(what, 12).padEnd(12)
  const time = event.at.slice(0, 19).replace('T', ' ')
  // 8 + 19 + 12 columns, two blanks between each.
  const text = clipped(describe(event), Math.max(20, columns - 45))
  return `${colours.yellow(short(event.id))}  ${colours.dim(time)}  ${typeColour(event, colours)(type)}  ${text}`
}

const typeColour = (event: Event, colours: Colours): ((text: string) => string) => {
  if (event.note === true) return colours.dim
  if (event.type !== 'message') return colours.magenta
  if (event.role === 'user') return colours.cyan
  return event.role === 'assistant' ? colours.green : colours.blue
}
