import { type Chain, push, toArray } from '../events/chain.js'
import { advancesHead, type Event, type EventId, is } from '../events/event.js'
import { callsOf, isPrompt, membersOf, stringOf } from '../projections/members.js'
import { isContextNeutral } from '../projections/redo-targets.js'
import { isLasting } from './keep.js'

/** What a decision needs to know of an event on the branch. */
export interface BranchNode {
  readonly id: EventId
  readonly parent: EventId | null
  readonly type: string
  readonly role: string | null
  readonly isPrompt: boolean
  /** Calls that it makes. */
  readonly calls: readonly string[]
  /** The call whose result it is. */
  readonly result: string | null
  /** A compaction's last covered event. */
  readonly through: EventId | null
  /** An undo's or redo's old head. */
  readonly from: EventId | null
  readonly reason: string | null
  /** Whether a `head` event moved the code too. */
  readonly movesCode: boolean
  /** Whether it leaves what the model sees as it is. */
  readonly isNeutral: boolean
  /** The event itself, where the next compaction may have to keep what it says. */
  readonly lasting: Event | null
}

/** The branch from some event down to the position, first to last. */
export interface Branch {
  readonly nodes: Chain<BranchNode> | null
  /** Whether it goes up to the root; else it begins at or above the last compaction's `through`. */
  readonly isWhole: boolean
}

export const nodeOf = (event: Event): BranchNode => {
  const members = membersOf(event)
  return {
    id: event.id,
    parent: event.parent,
    type: event.type,
    role: stringOf(members.role),
    isPrompt: isPrompt(event, members),
    calls: event.type === 'message' ? callsOf(members).map(({ id }) => id) : [],
    result: event.type === 'message' && members.role === 'tool' ? stringOf(members.toolCallId) : null,
    through: event.type === 'compaction' ? stringOf(members.through) : null,
    from: is(event, 'head') ? stringOf(members.from) : null,
    reason: event.type === 'head' ? stringOf(members.reason) : null,
    movesCode: event.type === 'head' && members.restore !== undefined,
    isNeutral: isContextNeutral(event, members),
    lasting: isLasting(event) ? event : null,
  }
}

export const extend = (branch: Branch, event: Event): Branch =>
  advancesHead(event) ? { ...branch, nodes: push(branch.nodes, nodeOf(event)) } : branch

/** First to last. */
export const nodesOf = (branch: Branch): readonly BranchNode[] => toArray(branch.nodes)

/** The message that made a call: the nearest above, since providers use call ids again. */
export const callerOf = (nodes: readonly BranchNode[], callId: string): BranchNode | undefined =>
  nodes.findLast(({ calls }) => calls.includes(callId))

/** Where the newest compaction on the branch cuts: the index of its `through`; -1 without one. */
export const cutOf = (nodes: readonly BranchNode[]): number => {
  const through = nodes.findLast((node) => node.through !== null)?.through
  return through === undefined ? -1 : nodes.findIndex(({ id }) => id === through)
}

/** The index of the first call at or before `end` whose result does not stand at or before it; -1 where all do. */
export const firstOpenCall = (nodes: readonly BranchNode[], from: number, end: number): number => {
  const open = new Map<string, number>()
  for (let i = Math.max(0, from); i <= end; i++) {
    const node = nodes[i] as BranchNode
    for (const call of node.calls) open.set(call, i)
    if (node.result !== null) open.delete(node.result)
  }
  return open.size === 0 ? -1 : Math.min(...open.values())
}
