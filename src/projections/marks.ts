import type { Event, EventId } from '../events/event.js'
import { type Members, membersOf } from './members.js'

/** What each kind of mark tells, beside what every mark tells. */
const told = {
  compaction: ['summary', 'through', 'trigger', 'model', 'tokensBefore', 'tokensAfter'],
  head: ['to', 'from', 'reason', 'restore'],
  branch: ['name', 'summary'],
  edit: ['target', 'replacement'],
  restore: ['checkpoint', 'safety', 'files'],
} as const

/** Something that happened between messages. `before`: the next message, null at the end. Members as the event has them. */
export interface Mark {
  readonly type: keyof typeof told
  readonly id: EventId
  readonly at: string
  readonly before: EventId | null
  readonly [member: string]: unknown
}

const isMarkType = (type: string): type is Mark['type'] => Object.hasOwn(told, type)

/** The mark of an event; null where it leaves none. */
export const markOf = (event: Event, before: EventId | null): Mark | null => {
  if (!isMarkType(event.type)) return null
  const members = membersOf(event)
  const shown = told[event.type].flatMap((name) =>
    Object.hasOwn(members, name) ? [[name, members[name]] as const] : [],
  )
  return { ...(Object.fromEntries(shown) as Members), type: event.type, id: event.id, at: event.at, before }
}
