import type { FileDiff } from '../../checkpoints/diff.js'
import type { Damage, LogLostTail } from '../../events/errors/index.js'
import type { Event, EventId } from '../../events/event.js'
import type { FileRecord, LeftOut } from '../../events/file-record.js'
import type { Line } from '../../events/line.js'
import type { EventLog } from '../../events/log.js'
import type { Transcript } from '../../projections/messages.js'
import type { AnthropicRequest, OpenAIMessage, PlainMessage } from '../../projections/shapes.js'
import type { TreeView } from '../../projections/tree.js'
import type { UndoTarget } from '../../projections/undo-targets.js'
import type { SessionRow } from './listing.js'

/** A session that is only read. */

/** How a session's conversation is read. */
export interface ReadView {
  /** The event at which to look; the head by default. Full id. */
  readonly at?: EventId
  /** Read past damage; what is skipped goes to `report`. */
  readonly salvage?: boolean
  readonly report?: (damage: Damage) => void
}

/** A prompt that can be taken back, as `undo --list` shows it. */
export interface UndoPoint extends Omit<UndoTarget, 'text'> {
  /** The whole prompt; '' where it has no text. */
  readonly text: string
}

/** One checkpoint, as `checkpoints --json` prints it. */
export interface CheckpointRow {
  readonly id: EventId
  readonly at: string
  readonly reason: string
  readonly toolCallId: string | null
  readonly commit: string | null
  readonly failed: string | null
  /** The records it holds: what differed from before it. */
  readonly files: readonly FileRecord[]
  /** Tracked paths that could not be read then, by tree path: their last records stand. */
  readonly unread: readonly LeftOut[]
}

export type ContextFormat = 'openai' | 'anthropic' | 'plain'
export type ContextShape = readonly OpenAIMessage[] | AnthropicRequest | readonly PlainMessage[]

/** Reading one session without holding it open for writing: nothing is locked, nothing is written. */
export interface SessionReader {
  readonly id: EventId
  readonly workspace: string
  readonly log: EventLog
  /** The last head-advancing event. */
  head(): Promise<EventId>
  /** The full id of an event named by a unique prefix (4 characters or more), `@`, `@^`, a label, or a branch name. Rejects: NotFound, Ambiguous. */
  resolve(name: string, view?: ReadView): Promise<EventId>
  /**
   * The event that the index knew as the log's last, where it is nowhere in it: the log lost acknowledged events. Looks
   * only where the file changed since, unless `mustLook`. Null where all is there, or no index says so.
   */
  lostTail(mustLook?: boolean): Promise<LogLostTail | null>
  /** Every event in log order. */
  events(view?: ReadView): Promise<readonly Event[]>
  /** Every line, last first: for `log`. */
  backward(view?: ReadView): AsyncIterable<readonly Line[]>
  /** The path to `at` with the notes on it, in log order, down from the root. */
  path(view?: ReadView): Promise<readonly Event[]>
  /** The messages a person sees along the branch, blobs resolved; with `all` the hidden ones too. */
  messages(view?: ReadView & { readonly all?: boolean }): Promise<Transcript>
  /**
   * What the model gets at `at`, in the shape of a provider (OpenAI's by default): reads the log only back to what the last
   * compaction left (INV-11).
   */
  context(view?: ReadView & { readonly format?: 'openai' }): Promise<readonly OpenAIMessage[]>
  context(view: ReadView & { readonly format: 'anthropic' }): Promise<AnthropicRequest>
  context(view: ReadView & { readonly format: 'plain' }): Promise<readonly PlainMessage[]>
  context(view: ReadView & { readonly format?: ContextFormat }): Promise<ContextShape>
  /** The prompts that can be taken back, first to last; with `all` those before the last compaction, too. */
  undoTargets(options?: { readonly all?: boolean }): Promise<readonly UndoPoint[]>
  /** The checkpoints on the path to `at`, and those that failed, first to last. */
  checkpoints(view?: ReadView): Promise<readonly CheckpointRow[]>
  /** The code difference between two nodes, one entry a file. */
  diff(from: EventId, to: EventId, view?: ReadView): Promise<readonly FileDiff[]>
  /** Every branch, and every node that is shown. */
  tree(view?: ReadView): Promise<TreeView>
  row(): Promise<SessionRow>
  /** Whether the fold saved in the index equals a fold of the log up to where it was saved (INV-3, INV-8); null where none is saved. */
  savedAgrees(): Promise<boolean | null>
  /** The caller's form of a stored event: blobs filled in, `$` keys restored. */
  resolved<T>(value: T, view?: ReadView): Promise<T>
}
