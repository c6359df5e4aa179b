import type { Event, EventId } from '../../events/event.js'
import type { Json } from '../remainder.js'
import { isOwn, membersOf } from './own.js'

/** The edits of a path: what each edited event says instead, as its newest `edit` event has it. */
export type Edits = ReadonlyMap<EventId, Event>

/** Edits that came from `format` are left out: the format's own records say what they say. */
export const editsOf = (path: readonly Event[], format: string): Edits =>
  new Map(
    path.flatMap((event) => {
      const target = event.type === 'edit' && !isOwn(event, format) ? membersOf(event).target : null
      return typeof target === 'string' ? [[target, event] as const] : []
    }),
  )

/** What an edit says instead; null: nothing. One whose text was redacted still hides what it replaced, and says so. */
export const replacementOf = (edit: Event): unknown => {
  const { replacement } = membersOf(edit)
  return edit.redacted === true && replacement !== null ? '[redacted]' : (replacement ?? null)
}

/** What an event says where the edits hold. Calls stay, since their results do; the provider's own blocks go. */
export const editedMembers = (event: Event, edits: Edits): Json => {
  const members = membersOf(event)
  const edit = edits.get(event.id)
  if (edit === undefined) return members
  const { refusal: _refusal, replay: _replay, reasoning, ...rest } = members
  const replacement = replacementOf(edit)
  if (members.role === 'tool') return { ...rest, content: replacement ?? '[removed]' }
  const keeps = replacement !== null && reasoning !== undefined
  return { ...rest, ...(keeps ? { reasoning } : {}), content: replacement }
}
