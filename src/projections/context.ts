import { type Chain, push, toArray } from '../events/chain.js'
import type { Event, EventId } from '../events/event.js'
import { type ContextMessage, repaired } from './context-repair.js'
import { edited, editsOf, unredacted } from './edits.js'
import { type Members, membersOf, recordOf, stringOf } from './members.js'
import type { PathMessage } from './pairs.js'
import type { Projection } from './projection.js'

export type { ContextMessage } from './context-repair.js'

/** What the context of a path is made of. Nothing before `through` of the newest compaction but what it keeps (INV-11). */
export interface ContextState {
  /** Messages that stay, as seen when the newest compaction was written. */
  readonly kept: readonly PathMessage[]
  readonly compaction: Event | null
  /** The events after `through` in log order, `tool` notes included. */
  readonly items: Chain<Event> | null
}

const apply = (state: ContextState, event: Event): ContextState => {
  if (event.note === true)
    return event.type === 'tool' ? { ...state, items: push(state.items, event) } : state
  const after = event.type === 'compaction' ? cut(state, event) : state
  return { ...after, items: push(after.items, event) }
}

/**
 * Drops what the compaction covers. Where its `through` is not among the events, they all come after it: the path was
 * read from there on, or an earlier compaction covered as much.
 */
const cut = (state: ContextState, compaction: Event): ContextState => {
  const members = membersOf(compaction)
  const [covered, items] = splitAfter(state.items, members.through)
  const keep = members.keep
  const kept = Array.isArray(keep) ? keep.flatMap(readKept) : systemsOf(state.kept, covered)
  return { kept, compaction, items }
}

const splitAfter = (
  items: Chain<Event> | null,
  through: unknown,
): readonly [Chain<Event> | null, Chain<Event> | null] => {
  const after: Event[] = []
  let cell = items
  while (cell !== null && !(cell.last.id === through && cell.last.note !== true)) {
    after.push(cell.last)
    cell = cell.before
  }
  if (cell === null) return [null, items]
  let rest: Chain<Event> | null = null
  for (const event of after.reverse()) rest = push(rest, event)
  return [cell, rest]
}

const readKept = (item: unknown): readonly PathMessage[] => {
  const entry = recordOf(item)
  const id = stringOf(entry?.id)
  const members = recordOf(entry?.message)
  return id === null || members === null ? [] : [{ id, members }]
}

/** A compaction without `keep` keeps the system messages of the path. */
const systemsOf = (kept: readonly PathMessage[], covered: Chain<Event> | null): readonly PathMessage[] => {
  const events = toArray(covered)
  const edits = editsOf(events)
  return [...kept, ...events.flatMap(messageOf)]
    .filter(({ members }) => members.role === 'system')
    .map(({ id, members }) => ({ id, members: edited(id, members, edits) }))
}

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool'])

/** A message, or an embedder's own event with content, which speaks as the user does. */
const messageOf = (event: Event): readonly PathMessage[] => {
  if (event.note === true) return []
  const members = unredacted(event)
  if (event.type === 'message') return roles.has(members.role) ? [{ id: event.id, members }] : []
  const isSpeaking = event.type === 'custom' && event.redacted !== true && members.content !== undefined
  return isSpeaking
    ? [{ id: event.id, members: { ...pick(members, ['content', 'context', 'aside']), role: 'user' } }]
    : []
}

const pick = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]] as const] : [])),
  )

const view = ({ kept, compaction, items }: ContextState): readonly ContextMessage[] => {
  const events = toArray(items)
  const edits = editsOf(events)
  const seen = (message: PathMessage): PathMessage => ({
    ...message,
    members: edited(message.id, message.members, edits),
  })
  const recent = events.flatMap(messageOf)
  const ids = new Set<EventId>(recent.map(({ id }) => id))
  return repaired({
    kept: kept.filter(({ id }) => !ids.has(id)).map(seen),
    summary: compaction === null ? null : summaryOf(compaction),
    recent: recent.map(seen),
    toolNotes: events.filter(({ type, note }) => note === true && type === 'tool'),
  })
}

const summaryOf = (compaction: Event): PathMessage => ({
  id: compaction.id,
  members: {
    role: 'user',
    content: compaction.redacted === true ? '[redacted]' : membersOf(compaction).summary,
  },
})

/**
 * What the model gets at the end of a path: the kept messages, the summary of the newest compaction as a message of the
 * user's (the role that every provider accepts in any place, and that gives a summary no more weight than what it sums
 * up), and all that came after, edited, without what is not for the model, and with every call answered. Values are in
 * their stored form; `shapes.ts` gives resolved ones a provider's shape.
 */
export const context: Projection<ContextState, readonly ContextMessage[]> = {
  name: 'context',
  version: 1,
  scope: 'branch',
  initial: { kept: [], compaction: null, items: null },
  apply,
  view,
}
