import { codeState } from './code-state.js'
import { compactions } from './compactions.js'
import { context } from './context.js'
import { messages } from './messages.js'
import type { Projection } from './projection.js'
import { redoTargets } from './redo-targets.js'
import { sessionIndex } from './session-index.js'
import { tree } from './tree.js'
import { undoTargets } from './undo-targets.js'
import { usage } from './usage.js'

/** Every projection by its name. */
export const projections = {
  messages,
  context,
  sessionIndex,
  compactions,
  codeState,
  undoTargets,
  redoTargets,
  usage,
  tree,
} as const

export type ProjectionName = keyof typeof projections

export const isProjectionName = (name: string): name is ProjectionName => Object.hasOwn(projections, name)

/** A projection whose state nobody looks into: for whoever takes its name from outside. */
export const projectionNamed = (name: ProjectionName): Projection<unknown, unknown> =>
  projections[name] as Projection<unknown, unknown>
