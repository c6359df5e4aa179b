import type { EventId } from './event.js'

/** What the tree needs of an event. */
export interface Node {
  readonly id: EventId
  readonly parent: EventId | null
  readonly type: string
  readonly note?: boolean
}

/** The skeleton of a log: its nodes (notes apart) by id, in log order, and its head. */
export interface Tree<N extends Node> {
  readonly nodes: ReadonlyMap<EventId, N>
  readonly root: EventId
  /** The last head-advancing event. */
  readonly head: EventId
}

/** Where an id stands twice, the first line counts: what follows it hangs on it either way. */
export const treeOf = <N extends Node>(events: Iterable<N>): Tree<N> | null => {
  const nodes = new Map<EventId, N>()
  let root: EventId | undefined
  let head: EventId | undefined
  for (const event of events) {
    if (event.note === true) continue
    if (!nodes.has(event.id)) nodes.set(event.id, event)
    root ??= event.id
    head = event.id
  }
  return root === undefined || head === undefined ? null : { nodes, root, head }
}

/** The path from the root to `leaf`, both included. Bounded by the count of nodes whatever the links say (INV-6). */
export const pathTo = <N extends Node>(tree: Tree<N>, leaf: EventId): readonly N[] => {
  const path: N[] = []
  let node = tree.nodes.get(leaf)
  while (node !== undefined && path.length < tree.nodes.size) {
    path.push(node)
    node = node.parent === null ? undefined : tree.nodes.get(node.parent)
  }
  return path.reverse()
}

/** A path holds an id once, though its line may stand twice. */
export const onceEach = <T extends { readonly id: EventId }>(events: readonly T[]): readonly T[] => {
  if (events.length < 2) return events
  const seen = new Set<EventId>()
  return events.filter(({ id }) => !seen.has(id) && seen.add(id))
}

/** The last event that both paths share; null where they share none. */
export const commonAncestor = <N extends Node>(tree: Tree<N>, a: EventId, b: EventId): N | null => {
  const left = pathTo(tree, a)
  const right = pathTo(tree, b)
  let shared: N | null = null
  for (let i = 0; i < Math.min(left.length, right.length) && left[i] === right[i]; i++)
    shared = left[i] ?? null
  return shared
}

/** Whether `ancestor` lies on the path to `id`, itself included. */
export const isOnPath = <N extends Node>(tree: Tree<N>, ancestor: EventId, id: EventId): boolean => {
  let node = tree.nodes.get(id)
  for (let steps = 0; node !== undefined && steps < tree.nodes.size; steps++) {
    if (node.id === ancestor) return true
    node = node.parent === null ? undefined : tree.nodes.get(node.parent)
  }
  return false
}

/** The nearest event at or above `id` that is no `head` event: where the conversation stands. */
export const baseOf = <N extends Node>(tree: Tree<N>, id: EventId): EventId => {
  let node = tree.nodes.get(id)
  for (let steps = 0; node?.type === 'head' && node.parent !== null && steps < tree.nodes.size; steps++)
    node = tree.nodes.get(node.parent)
  return node?.id ?? id
}

/** One branch: its name is that of the nearest `branch` event above its leaf, `main` if there is none. */
export interface BranchEnd {
  readonly name: string
  readonly leaf: EventId
  /** Events on the path, `head` events not counted. */
  readonly events: number
}

/** The ends of the tree once `head` events are taken as the nodes they point at; last advanced first. */
export const branchesOf = <N extends Node & { readonly name?: unknown }>(
  tree: Tree<N>,
): readonly BranchEnd[] => {
  const about = new Map<EventId, { base: EventId; name: string; events: number }>()
  const ends = new Set<EventId>()
  for (const node of tree.nodes.values()) {
    const above = (node.parent === null ? undefined : about.get(node.parent)) ?? {
      base: node.id,
      name: 'main',
      events: 0,
    }
    if (node.type === 'head') {
      about.set(node.id, above)
      continue
    }
    const name = node.type === 'branch' && typeof node.name === 'string' ? node.name : above.name
    about.set(node.id, { base: node.id, name, events: above.events + 1 })
    ends.delete(above.base)
    ends.add(node.id)
  }
  return [...ends].reverse().map((leaf) => {
    const { name, events } = about.get(leaf) ?? { name: 'main', events: 0 }
    return { name, leaf, events }
  })
}
