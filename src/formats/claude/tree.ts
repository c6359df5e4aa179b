/** Lines that belong together: one message of the model with the results of its calls, or a prompt and what follows it. */
export interface Unit {
  /** `message.id` of the model's message; null for anything else. */
  readonly message: string | null
  /** `order` of its last line that says something to or from the model, results not counted. */
  lastSpeech: number
  /** Its last event: a unit is one line, whatever Claude Code's parents say. */
  tail: Node | null
}

/** One event that was placed. */
export interface Node {
  /** The event's key: what the next one hangs on. */
  readonly key: string
  /** The line's `uuid`; null for a line without one, and for all but the last event of a line. */
  readonly uuid: string | null
  /** null too where it stands too far above to be known. */
  parent: Node | null
  readonly order: number
  readonly depth: number
  readonly unit: Unit
  readonly calls: readonly string[]
  readonly results: readonly string[]
  /** Of a compaction: the last event that it covers. */
  readonly through?: Node
}

/** How a line joins what is there already. */
export type Joining =
  /** Says nothing to the model: progress, hooks, snapshots. */
  | { readonly as: 'aside' }
  | { readonly as: 'result' }
  | { readonly as: 'assistant'; readonly message: string | null }
  | { readonly as: 'turn' }

/**
 * Where a line hangs that names `parent`. Claude Code writes parallel calls, their results and hook progress as forks
 * that nobody made: where nothing but such lines stands after the parent in its unit, the line continues the unit.
 * Anything else is a branch.
 */
export const placeUnder = (parent: Node, joining: Joining): Node => {
  const { unit } = parent
  const isSameTurn =
    joining.as === 'aside' ||
    joining.as === 'result' ||
    (joining.as === 'assistant' && joining.message !== null && joining.message === unit.message)
  return isSameTurn || parent.order >= unit.lastSpeech ? (unit.tail ?? parent) : parent
}

/** The unit of a line that hangs on `parent`. */
export const unitFor = (parent: Node | null, joining: Joining): Unit => {
  if (parent !== null && (joining.as === 'aside' || joining.as === 'result')) return parent.unit
  if (joining.as !== 'assistant') return { message: null, lastSpeech: 0, tail: null }
  if (parent !== null && joining.message !== null && parent.unit.message === joining.message)
    return parent.unit
  return { message: joining.message, lastSpeech: 0, tail: null }
}

/** The `uuid` that a line on `parent` would name. */
export const uuidAbove = (parent: Node | null): string | null => {
  let node = parent
  while (node !== null && node.uuid === null) node = node.parent
  return node?.uuid ?? null
}

/** Whether `ancestor` lies on the path to `node`, itself included. */
export const isAbove = (ancestor: Node, node: Node | null): boolean => {
  let at = node
  while (at !== null && at.order > ancestor.order) at = at.parent
  return at === ancestor
}

/** The last event at or above `node` before which no call of its turn waits for a result; null where none is left. */
export const settledAt = (node: Node): Node | null => {
  const results = new Set<string>()
  let isOpen = false
  let first = node
  for (let at: Node | null = node; at !== null && at.unit === node.unit; at = at.parent) {
    for (const id of at.results) results.add(id)
    if (at.calls.some((id) => !results.has(id))) isOpen = true
    first = at
  }
  return isOpen ? first.parent : node
}
