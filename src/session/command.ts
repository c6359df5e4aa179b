import type { CheckpointReason, Taken } from '../checkpoints/take.js'
import type { Draft } from '../events/draft.js'
import type { EventId } from '../events/event.js'

/** What can be asked of a session. Facts that lie outside its state (a row elsewhere in the tree) come with it. */
export type Command =
  | {
      readonly do: 'append'
      readonly drafts: readonly Draft[]
      /** Whether the model is told what others changed, before a user message. */
      readonly notice?: boolean
    }
  | ({ readonly do: 'checkpoint' } & CheckpointCommand)
  | { readonly do: 'undo'; readonly target: EventId }
  /** `undone`: what stands at the end that the newest undo left, for the words of a refusal. */
  | { readonly do: 'redo'; readonly undone?: EventId }
  | { readonly do: 'checkout'; readonly to: EventId }
  | { readonly do: 'branch'; readonly name: string; readonly at?: EventId }
  | { readonly do: 'title'; readonly title: string; readonly by: 'user' | 'auto' | 'import' }
  | { readonly do: 'label'; readonly target: EventId; readonly label: string | null }
  | { readonly do: 'compact'; readonly compaction: CompactionDraft }
  | { readonly do: 'edit'; readonly target: EventId; readonly replacement: unknown }

export interface CheckpointCommand {
  readonly reason: CheckpointReason
  /** Left out: every tracked file, and where the whole workspace is tracked, all of that. */
  readonly paths?: readonly string[]
  readonly toolCallId?: string
  readonly notice?: boolean
  /** Told what it came to, with each time that it is taken: the last counts. */
  readonly told?: (taken: Taken) => void
}

/** A compaction without `through` covers everything up to the position, or up to before a call that is still open. */
export interface CompactionDraft {
  readonly through?: EventId
  readonly [member: string]: unknown
}
