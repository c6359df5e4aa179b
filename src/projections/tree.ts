import { type Chain, push, toArray } from '../events/chain.js'
import type { Event, EventId } from '../events/event.js'
import { type BranchEnd, baseOf, branchesOf, treeOf } from '../events/tree.js'
import { callsOf, type Members, membersOf, own, stringOf } from './members.js'
import { advanceEnds, divergedEnds, type OpenEnds } from './open-ends.js'
import type { Projection } from './projection.js'
import { excerptOf } from './text.js'

/** What drawing needs of an event: no content but a line of it. Members that an event's type does not have are absent. */
export interface TreeNode {
  readonly id: EventId
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly label: string | null
  /** Of a message. */
  readonly role?: string
  /** Names of the tools that a message calls. */
  readonly calls?: readonly string[]
  /** Of a `branch`, or an embedder's own event. */
  readonly name?: string
  /** Of a `head` event (undo, redo, checkout, branch) or a checkpoint. */
  readonly reason?: string
  /** Of a `head` event: the end that it left. */
  readonly from?: EventId
  /** At most 80 code points on one line; '' where there is no text. */
  readonly text: string
}

export interface TreeBranch extends BranchEnd {
  readonly updatedAt: string
  /** Made by another writer, unseen by the one at the head (INV-7). */
  readonly diverged: boolean
}

export interface TreeView {
  /** The last event of the head's path that is no `head` event; null in an empty log. */
  readonly head: EventId | null
  readonly root: EventId | null
  /** Last advanced first. */
  readonly branches: readonly TreeBranch[]
  /** Notes apart, in log order. */
  readonly nodes: readonly TreeNode[]
}

type Bare = Omit<TreeNode, 'label'>

export interface TreeState {
  readonly nodes: Chain<Bare> | null
  readonly labels: Chain<{ readonly target: EventId; readonly label: string | null }> | null
  readonly open: OpenEnds<{ readonly type: string }>
  readonly head: EventId | null
}

const apply = (state: TreeState, event: Event): TreeState => {
  const members = membersOf(event)
  if (event.note === true) return event.type === 'label' ? relabel(state, members) : state
  return {
    ...state,
    nodes: push(state.nodes, bareNode(event, members)),
    open: advanceEnds(state.open, event, members, { type: event.type }),
    head: event.id,
  }
}

const relabel = (state: TreeState, members: Members): TreeState => {
  const target = stringOf(members.target)
  const label = members.label
  const isLabel = target !== null && (label === null || typeof label === 'string')
  return isLabel ? { ...state, labels: push(state.labels, { target, label }) } : state
}

/** The members shown as they stand, by type. */
const shown: Readonly<Record<string, readonly ('role' | 'name' | 'reason' | 'from')[]>> = {
  message: ['role'],
  branch: ['name'],
  custom: ['name'],
  checkpoint: ['reason'],
  head: ['reason', 'from'],
}

const bareNode = (event: Event, members: Members): Bare => {
  const { id, parent, at, type } = event
  const texts = (own(shown, type) ?? []).flatMap((name) => {
    const value = stringOf(members[name])
    return value === null ? [] : [[name, value] as const]
  })
  const calls = type === 'message' ? callsOf(members).map(({ name }) => name) : []
  return {
    id,
    parent,
    at,
    type,
    ...Object.fromEntries(texts),
    ...(calls.length > 0 ? { calls } : {}),
    text: lineOf(event, members),
  }
}

const lineOf = (event: Event, members: Members): string => {
  if (event.redacted === true) return '[redacted]'
  if (event.type === 'edit') return excerptOf(members.replacement)
  return excerptOf(members.content ?? members.summary ?? members.failed)
}

const view = ({ nodes, labels, open, head }: TreeState): TreeView => {
  const named = new Map(toArray(labels).map(({ target, label }) => [target, label]))
  const list = toArray(nodes).map((node) => ({ ...node, label: named.get(node.id) ?? null }))
  const tree = treeOf(list)
  if (tree === null) return { head: null, root: null, branches: [], nodes: [] }
  const diverged = new Set(divergedEnds(open, head).map(([id]) => id))
  const branches = branchesOf(tree).map((branch) => ({
    ...branch,
    updatedAt: tree.nodes.get(branch.leaf)?.at ?? '',
    diverged: diverged.has(branch.leaf),
  }))
  return { head: baseOf(tree, tree.head), root: tree.root, branches, nodes: list }
}

/** The skeleton of a session for drawing: its nodes, its branches, its head. */
export const tree: Projection<TreeState, TreeView> = {
  name: 'tree',
  version: 1,
  scope: 'session',
  initial: { nodes: null, labels: null, open: {}, head: null },
  apply,
  view,
}
