import type { Event, EventId } from '../events/event.js'
import { own, without } from './members.js'

/**
 * The ends of the tree once `head` events are taken as the nodes they point at: their count is that of `branchesOf`.
 * The newest stands apart, so that a conversation that goes on costs nothing whatever the count of branches.
 */
export interface Leaves {
  readonly newest: EventId | null
  readonly others: Readonly<Record<EventId, true>>
  /** For each `head` event that points at a leaf: that leaf. */
  readonly bases: Readonly<Record<EventId, EventId>>
}

export const noLeaves: Leaves = { newest: null, others: {}, bases: {} }

const isLeaf = ({ newest, others }: Leaves, id: EventId): boolean => id === newest || own(others, id) === true

/** The leaves after an event that is no note. */
export const nextLeaves = (leaves: Leaves, event: Event): Leaves => {
  const base = event.parent === null ? null : (own(leaves.bases, event.parent) ?? event.parent)
  const isAtLeaf = base !== null && isLeaf(leaves, base)
  if (event.type === 'head')
    return isAtLeaf ? { ...leaves, bases: { ...leaves.bases, [event.id]: base } } : leaves
  if (leaves.newest === event.id) return leaves
  const bases = isAtLeaf ? withoutBase(leaves.bases, base) : leaves.bases
  if (leaves.newest === null || leaves.newest === base) return { ...leaves, newest: event.id, bases }
  const others = {
    ...(isAtLeaf ? without(leaves.others, base) : leaves.others),
    [leaves.newest]: true as const,
  }
  return { newest: event.id, others, bases }
}

/** A node that has a child is never a leaf again, so nobody will ask for the `head` events that point at it. */
const withoutBase = (bases: Leaves['bases'], base: EventId): Leaves['bases'] => {
  const rest = Object.entries(bases).filter(([, leaf]) => leaf !== base)
  return rest.length === Object.keys(bases).length ? bases : Object.fromEntries(rest)
}

export const countLeaves = ({ newest, others }: Leaves): number =>
  (newest === null ? 0 : 1) + Object.keys(others).length
