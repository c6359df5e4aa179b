import type { Content } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import { contentOf } from './groups.js'
import { type Members, membersOf, stringOf } from './members.js'

/** What each edited event says instead; null: nothing. */
export type Edits = ReadonlyMap<EventId, Content | null>

const redacted = '[redacted]'

/** The last edit of a target counts. An edit whose text was redacted still hides what it replaced, and says so. */
export const editsOf = (events: Iterable<Event>): Edits => {
  const edits = new Map<EventId, Content | null>()
  for (const event of events) {
    if (event.type !== 'edit') continue
    const members = membersOf(event)
    const target = stringOf(members.target)
    const isHidden = event.redacted === true && members.replacement !== null
    if (target !== null) edits.set(target, isHidden ? redacted : contentOf(members.replacement))
  }
  return edits
}

/**
 * A message as the branch's context sees it. An edit replaces all that was said: the refusal, and the provider's own
 * blocks, which hold the old words; one to null the reasoning too. Calls stay, since their results do.
 */
export const edited = (id: EventId, members: Members, edits: Edits): Members => {
  if (!edits.has(id)) return members
  const { refusal: _refusal, replay: _replay, reasoning, ...rest } = members
  const replacement = edits.get(id) ?? null
  if (members.role === 'tool') return { ...rest, content: replacement ?? '[removed]' }
  return {
    ...rest,
    ...(replacement === null || reasoning === undefined ? {} : { reasoning }),
    content: replacement,
  }
}

/** A redacted message says that it was one. */
export const unredacted = (event: Event): Members => {
  const members = membersOf(event)
  return event.redacted === true ? { ...members, content: redacted } : members
}
