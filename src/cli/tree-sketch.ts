import type { EventId } from '../events/event.js'
import { baseOf, pathTo, type Tree } from '../events/tree.js'
import type { TreeNode } from '../projections/tree.js'

/** A tree as it is drawn: `head` events are folded into the nodes at which they point. */
export interface Sketch {
  readonly tree: Tree<TreeNode>
  /** Where the conversation stands: no `head` event. */
  readonly head: EventId
  /** In log order. */
  readonly children: ReadonlyMap<EventId, readonly TreeNode[]>
  /** The child with which the line goes straight on: towards the head, else towards what was written last. */
  readonly straight: ReadonlyMap<EventId, TreeNode>
  /** The ends that an undo left, and to which nothing has come back. */
  readonly undone: ReadonlySet<EventId>
}

export const sketchOf = (tree: Tree<TreeNode>): Sketch => {
  const head = baseOf(tree, tree.head)
  const bases = basesOf(tree)
  const parentOf = ({ parent, type }: TreeNode): EventId | null =>
    parent === null || type === 'head' ? null : (bases.get(parent) ?? parent)
  const path = new Set(pathTo(tree, head).map(({ id }) => id))
  const children = childrenOf(tree, parentOf)
  return {
    tree,
    head,
    children,
    straight: straightOf(tree, path, parentOf),
    undone: undoneOf(tree, path, bases, children),
  }
}

type ParentOf = (node: TreeNode) => EventId | null

/** Found parents first, so that a long run of undo costs no more than its length. */
const basesOf = (tree: Tree<TreeNode>): ReadonlyMap<EventId, EventId> => {
  const bases = new Map<EventId, EventId>()
  for (const { id, parent, type } of tree.nodes.values()) {
    const above = parent === null ? undefined : bases.get(parent)
    bases.set(id, type === 'head' && above !== undefined ? above : id)
  }
  return bases
}

const childrenOf = (tree: Tree<TreeNode>, parentOf: ParentOf): Sketch['children'] => {
  const children = new Map<EventId, TreeNode[]>()
  for (const node of tree.nodes.values()) {
    const parent = parentOf(node)
    if (parent === null) continue
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [node])
    else siblings.push(node)
  }
  return children
}

const straightOf = (
  tree: Tree<TreeNode>,
  path: ReadonlySet<EventId>,
  parentOf: ParentOf,
): Sketch['straight'] => {
  const nodes = [...tree.nodes.values()]
  const straight = new Map<EventId, TreeNode>()
  /** For each node, the place in the log of the newest event at or below it. */
  const newest = new Map<EventId, number>()
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at] as TreeNode
    const parent = parentOf(node)
    if (parent === null) continue
    const below = newest.get(node.id) ?? at
    const rival = newest.get(parent)
    if (rival !== undefined && rival > below) continue
    newest.set(parent, below)
    straight.set(parent, node)
  }
  for (const node of nodes) {
    const parent = path.has(node.id) ? parentOf(node) : null
    if (parent !== null) straight.set(parent, node)
  }
  return straight
}

const undoneOf = (
  tree: Tree<TreeNode>,
  path: ReadonlySet<EventId>,
  bases: ReadonlyMap<EventId, EventId>,
  children: Sketch['children'],
): ReadonlySet<EventId> => {
  const undone = new Set<EventId>()
  for (const node of tree.nodes.values()) {
    if (node.type !== 'head') continue
    const to = bases.get(node.id)
    if (to !== undefined) undone.delete(to)
    const left = node.reason === 'undo' ? bases.get(node.from ?? '') : undefined
    if (left !== undefined && !path.has(left) && !children.has(left)) undone.add(left)
  }
  return undone
}
