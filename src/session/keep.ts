import type { Event, EventId } from '../events/event.js'
import { edited, editsOf } from '../projections/edits.js'
import { listOf, type Members, membersOf, recordOf } from '../projections/members.js'

/** A message that stays in the context beside a summary, as it was seen when the summary was written (stored form). */
export interface Kept {
  readonly id: EventId
  readonly message: Members
}

/** What of a message the context needs when the message itself is no longer read. */
const keptMembers = ['role', 'content', 'context', 'aside', 'group'] as const

/** Whether `keptOf` looks at an event: all else on a branch is nothing to it. */
export const isLasting = (event: Event): boolean =>
  event.type === 'compaction' || event.type === 'edit' || isStanding(event)

/**
 * System messages (but those with `meta.pinned` false) and what is pinned (`meta.pinned`), those that an earlier compaction kept included, as the branch's
 * edits left them. So a resume need not look further back than the last compaction (INV-11).
 */
export const keptOf = (events: readonly Event[]): readonly Kept[] => {
  const edits = editsOf(events)
  const found = events.flatMap((event) =>
    event.type === 'compaction' ? earlier(event) : isStanding(event) ? [standing(event)] : [],
  )
  return [...new Map(found.map((kept) => [kept.id, kept])).values()].map(({ id, message }) => {
    const seen = edited(id, message, edits)
    return {
      id,
      message: Object.fromEntries(
        keptMembers.flatMap((key) => (Object.hasOwn(seen, key) ? [[key, seen[key]]] : [])),
      ),
    }
  })
}

const earlier = (compaction: Event): readonly Kept[] =>
  listOf(membersOf(compaction).keep).flatMap((item) => {
    const { id, message } = recordOf(item) ?? {}
    const members = recordOf(message)
    return typeof id === 'string' && members !== null ? [{ id, message: members }] : []
  })

const isStanding = (event: Event): boolean => {
  const { role, context, meta } = membersOf(event)
  if (event.type !== 'message' || event.redacted === true || context === false) return false
  const pinned = recordOf(meta)?.pinned
  return pinned === true || (role === 'system' && pinned !== false)
}

const standing = (event: Event): Kept => ({ id: event.id, message: membersOf(event) })
