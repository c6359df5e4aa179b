/** One event that was placed. */
export interface Node {
  readonly key: string
  readonly parent: Node | null
  readonly depth: number
  readonly calls: readonly string[]
  readonly result: string | null
  /** No message: nothing in ZettCode's own file hangs on it, so that what names its parent continues after it. */
  readonly isAside: boolean
  /** A checkpoint: its version, and the last event that it covers. */
  readonly checkpoint: { readonly version: number; readonly through: Node } | null
}

export const isAbove = (ancestor: Node, node: Node | null): boolean => {
  let at = node
  while (at !== null && at.depth > ancestor.depth) at = at.parent
  return at === ancestor
}

/** The nearest checkpoint at or above. */
export const checkpointAbove = (node: Node | null): Node['checkpoint'] => {
  let at = node
  while (at !== null && at.checkpoint === null) at = at.parent
  return at?.checkpoint ?? null
}

/** The key of the nearest message: what a message on `node` names as its parent. */
export const messageAbove = (node: Node | null): string | null => {
  let at = node
  while (at?.isAside) at = at.parent
  return at?.key ?? null
}

/** Whether nothing but asides stands between a parent and the tip. */
export const continues = (parent: Node, tip: Node): boolean => {
  let at: Node | null = tip
  while (at !== null && at !== parent && at.isAside) at = at.parent
  return at === parent
}

/** The last event at or above `node` whose calls all have their results; null where none is left. */
export const settledAt = (node: Node): Node | null => {
  const results = new Set<string>()
  let at: Node | null = node
  for (; at !== null && at.result !== null; at = at.parent) results.add(at.result)
  return at?.calls.some((id) => !results.has(id)) ? at.parent : node
}
