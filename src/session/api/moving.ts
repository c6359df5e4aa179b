import type { PlanEntry } from '../../checkpoints/plan-entry.js'
import type { EventId } from '../../events/event.js'

/** Moves of the conversation, of the code, or of both. */

/** How the conversation, the code, or both go to another node (docs/CHECKPOINTS.md). */
export interface MoveOptions {
  /** What goes: both by default, which is the conversation alone where no code is tracked. */
  readonly what?: 'conversation' | 'code' | 'both'
  /** A file that others changed since: nothing is done (RestoreConflict), it is restored too, or it is left. */
  readonly onConflict?: 'stop' | 'force' | 'keep'
  /** Files outside the workspace too. */
  readonly outside?: boolean
}

/** What a move would do. */
export interface MovePlan {
  /** One entry a tracked file; `[]` where no code goes. */
  readonly entries: readonly PlanEntry[]
  /** Where the conversation would stand: the nearest event that is no `head` event. */
  readonly head: EventId
}

export interface MoveResult {
  /** Where the conversation now stands: the nearest event that is no `head` event. */
  readonly head: EventId
  /** What was done with each tracked file; `[]` where no code went. */
  readonly files: readonly PlanEntry[]
}

export interface Undone extends MoveResult {
  /** The prompt that was taken back, whole. */
  readonly prompt: string
}
