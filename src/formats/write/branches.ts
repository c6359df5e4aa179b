import { type Event, type EventId, noteTypes } from '../../events/event.js'
import { baseOf, branchesOf, onceEach, pathTo, type Tree, treeOf } from '../../events/tree.js'
import type { Outgoing } from '../writer.js'
import { isOwn } from './own.js'

/** One branch, from the root to its end; `head` events are passed over. */
export interface Branch {
  readonly name: string
  readonly leaf: EventId
  readonly path: readonly Event[]
}

/** A session as a writer looks at it. */
export interface Shape {
  readonly tree: Tree<Event>
  readonly root: Event
  /** The branch where the conversation stands; ends at the nearest event that is no `head`. */
  readonly current: Branch
  /** The ends of the others that hold something the current one does not, oldest first; none where only one is wanted. */
  readonly others: readonly Branch[]
  /** Notes by the event that they hang on. */
  readonly notes: ReadonlyMap<EventId, readonly Event[]>
}

export const shapeOf = (session: Outgoing): Shape => {
  const { events, head, only = false } = session
  const tree = treeOf(events)
  const root = events[0]
  if (tree === null || root === undefined) throw new Error('a session holds its root')
  const leaf = baseOf(tree, head)
  const branch = (end: EventId, name: string): Branch => ({ name, leaf: end, path: pathOf(tree, end) })
  const ends = branchesOf(tree)
  const current = branch(leaf, ends.find((end) => end.leaf === leaf)?.name ?? 'main')
  const onCurrent = new Set(current.path.map(({ id }) => id))
  const others = only
    ? []
    : ends
        .filter((end) => !onCurrent.has(end.leaf))
        .map((end) => branch(end.leaf, end.name))
        .reverse()
  return { tree, root, current, others, notes: notesOf(events) }
}

const pathOf = (tree: Tree<Event>, leaf: EventId): readonly Event[] =>
  onceEach(pathTo(tree, leaf)).filter(({ type }) => type !== 'head')

const notesOf = (events: readonly Event[]): ReadonlyMap<EventId, readonly Event[]> => {
  const notes = new Map<EventId, Event[]>()
  for (const event of events) {
    if (event.note !== true || event.parent === null || !noteTypes.has(event.type)) continue
    const held = notes.get(event.parent)
    if (held === undefined) notes.set(event.parent, [event])
    else held.push(event)
  }
  return notes
}

/**
 * Where the session's own source left it: the last event (no note) that came from that format, `head` events as the
 * nodes that they point at. null where nothing did.
 */
export const sourceEnd = ({ tree }: Shape, events: readonly Event[], format: string): EventId | null => {
  const last = events.findLast((event) => event.note !== true && isOwn(event, format))
  return last === undefined ? null : baseOf(tree, last.id)
}

/** Labels as they stand: the last one of each event. */
export const labelsOf = (events: readonly Event[]): ReadonlyMap<EventId, string> => {
  const labels = new Map<EventId, string>()
  for (const { type, redacted, target, label } of events) {
    if (type !== 'label' || redacted === true || typeof target !== 'string') continue
    if (typeof label === 'string') labels.set(target, label)
    else labels.delete(target)
  }
  return labels
}
