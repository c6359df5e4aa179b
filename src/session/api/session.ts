import type { CheckpointReason } from '../../checkpoints/take.js'
import type { Content, Usage } from '../../events/content.js'
import type { Draft } from '../../events/draft.js'
import type { Event, EventId } from '../../events/event.js'
import type { FileRecord, LeftOut } from '../../events/file-record.js'
import type { Durability } from '../../events/log.js'
import type { Divergence } from '../../projections/session-index.js'
import type { Presence } from '../store/presence.js'
import type { MoveOptions, MovePlan, MoveResult, Undone } from './moving.js'

/** A session held open for writing. */

export interface AppendOptions {
  readonly durability?: Durability
  /**
   * Before a user message, whether a hidden system message tells the model which tracked files someone else changed since
   * they were last recorded. True by default.
   */
  readonly notice?: boolean
}

export interface CompactInput {
  readonly summary: Content
  /** Last event covered; everything up to the head (or to before an open call) by default. */
  readonly through?: EventId
  readonly trigger?: string
  readonly model?: string
  readonly prompt?: string
  readonly usage?: Usage
  readonly tokensBefore?: number
  readonly tokensAfter?: number
}

export interface Compacted {
  readonly id: EventId
  readonly through: EventId
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** What a checkpoint came to. */
export interface CheckpointTaken {
  /** Its event; null where nothing had changed since the last one, and none was written. */
  readonly id: EventId | null
  readonly commit: string | null
  /** Records that differ from what was known before. */
  readonly files: readonly FileRecord[]
  /** Why it could not be taken; it is in the log all the same. Null where it was. */
  readonly failed: string | null
  /** Paths that were asked for and are in no checkpoint, and why. */
  readonly refused: readonly LeftOut[]
  /** Tracked paths that could not be read: their last records stand. */
  readonly unread: readonly LeftOut[]
}

/**
 * One session held open. Its *position* is where its next event hangs; its head is the log's. Every method that writes
 * resolves when the events are on disk (INV-2) and rejects with a tagged error; several calls may be under way at once.
 */
export interface Session {
  readonly id: EventId
  readonly workspace: string
  /** Where the next event will hang. */
  readonly position: EventId
  /** The last head-advancing event of the log, as far as this object has read. */
  readonly head: EventId
  /** Ends that other writers made and that nobody left on purpose, as far as this object has read (INV-7). */
  readonly diverged: readonly Divergence[]
  /** Others that hold it open for writing, as found at opening. */
  readonly others: readonly Presence[]

  /** Appends drafts in order, each on its predecessor; gives every event written, `recovered` and `head` included. */
  append(drafts: Draft | readonly Draft[], options?: AppendOptions): Promise<readonly Event[]>
  /** Goes back to just before a user message. Rejects with RestoreConflict where files changed since: nothing is done then. */
  undo(target: EventId, options?: MoveOptions): Promise<Undone>
  /** Takes back the newest undo that was not yet redone, code too where that undo moved it. */
  redo(options?: Omit<MoveOptions, 'what'>): Promise<MoveResult>
  /** Moves the head to any node; `what` is the conversation alone by default. */
  checkout(event: EventId, options?: MoveOptions): Promise<MoveResult>
  /** What these would do. Change nothing. */
  planUndo(target: EventId, options?: MoveOptions): Promise<MovePlan>
  planRedo(options?: Omit<MoveOptions, 'what'>): Promise<MovePlan>
  planCheckout(event: EventId, options?: MoveOptions): Promise<MovePlan>
  /**
   * For tools: says which files a call is about to change, and has changed (relative paths to the workspace). Their bytes
   * are in the store when this resolves. What cannot be recorded is told, in the log too, and never rejects.
   */
  beforeEdit(paths: readonly string[], options?: { readonly toolCallId?: string }): Promise<CheckpointTaken>
  afterEdit(paths: readonly string[], options?: { readonly toolCallId?: string }): Promise<CheckpointTaken>
  /** Records files as they are; without paths every tracked one. `reason` is `manual` by default. */
  checkpoint(
    paths?: readonly string[],
    options?: { readonly reason?: CheckpointReason },
  ): Promise<CheckpointTaken>
  /** Begins a named branch at `at` (the position by default). */
  branch(name: string, at?: EventId): Promise<EventId>
  label(event: EventId, label: string | null): Promise<void>
  title(title: string, by?: 'user' | 'auto' | 'import'): Promise<boolean>
  compact(input: CompactInput): Promise<Compacted>
  edit(target: EventId, replacement: Content | null): Promise<EventId>

  /** Reads what other writers appended since, and folds it. */
  refresh(): Promise<void>
  close(): void
}
