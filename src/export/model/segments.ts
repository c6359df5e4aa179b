import type { Event, EventId } from '../../events/event.js'
import { branchesOf, type Tree } from '../../events/tree.js'
import { stringOf } from '../../projections/members.js'

/** A stretch of the tree that no other segment holds: from where it left an earlier one down to its leaf. */
export interface Segment {
  readonly number: number
  /** The event that it hangs on, in an earlier segment; null for the first. */
  readonly from: EventId | null
  /** The segment of `from`; null for the first. */
  readonly above: number | null
  readonly leaf: EventId
  /** The branch's name at its leaf. */
  readonly name: string
  /** Its events, first to last. */
  readonly nodes: readonly EventId[]
}

export interface Segments {
  /** The first is the chosen branch, whole; then the others, last advanced first. */
  readonly list: readonly Segment[]
  /** For each event that is no note: its segment. */
  readonly of: ReadonlyMap<EventId, number>
}

/** Every event of a tree in one segment, so that a report holds each once, and a branch is a chain of segments. */
export const segmentsOf = (tree: Tree<Event>, chosen: EventId): Segments => {
  const list: Segment[] = []
  const of = new Map<EventId, number>()
  const add = (leaf: EventId, name: string): void => {
    const nodes: EventId[] = []
    let node = tree.nodes.get(leaf)
    while (node !== undefined && !of.has(node.id) && nodes.length < tree.nodes.size) {
      nodes.push(node.id)
      node = node.parent === null ? undefined : tree.nodes.get(node.parent)
    }
    if (nodes.length === 0) return
    const number = list.length
    for (const id of nodes) of.set(id, number)
    const above = node === undefined ? null : (of.get(node.id) ?? null)
    list.push({
      number,
      from: above === null ? null : (node?.id ?? null),
      above,
      leaf,
      name,
      nodes: nodes.reverse(),
    })
  }
  add(chosen, nameAt(tree, chosen))
  for (const { leaf, name } of branchesOf(tree as Tree<Event & { readonly name?: unknown }>)) add(leaf, name)
  // A `head` event that nothing hangs on is shown where it points.
  for (const { id, parent } of tree.nodes.values())
    if (!of.has(id)) of.set(id, (parent === null ? undefined : of.get(parent)) ?? 0)
  return { list, of }
}

/** The name of the nearest `branch` event at or above an event. */
const nameAt = (tree: Tree<Event>, id: EventId): string => {
  let node = tree.nodes.get(id)
  for (let steps = 0; node !== undefined && steps < tree.nodes.size; steps++) {
    const name = node.type === 'branch' ? stringOf(node.name) : null
    if (name !== null) return name
    node = node.parent === null ? undefined : tree.nodes.get(node.parent)
  }
  return 'main'
}
