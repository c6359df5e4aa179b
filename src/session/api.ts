import type { FileDiff } from '../checkpoints/diff.js'
import type { Collected } from '../checkpoints/objects/collect.js'
import type { PlanEntry } from '../checkpoints/plan-entry.js'
import type { CheckpointReason } from '../checkpoints/take.js'
import type { Content, Usage } from '../events/content.js'
import type { Draft } from '../events/draft.js'
import type { Damage, LogLostTail, Tagged } from '../events/errors/index.js'
import type { Event, EventId } from '../events/event.js'
import type { Lost } from '../events/file-log/repair.js'
import type { FileRecord, LeftOut } from '../events/file-record.js'
import type { Line } from '../events/line.js'
import type { Durability, EventLog } from '../events/log.js'
import type { Divergence, SessionRow as IndexRow } from '../projections/session-index.js'
import type { OldCopy, Redacted, RedactOptions } from './redact/redacted.js'
import type { Home } from './store/home.js'
import type { Presence } from './store/presence.js'

export type { Elsewhere, Found, OldCopy, Redacted, RedactOptions } from './redact/redacted.js'
export type { Presence } from './store/presence.js'

/** How a session's conversation is read. */
export interface ReadView {
  /** The event at which to look; the head by default. Full id. */
  readonly at?: EventId
  /** Read past damage; what is skipped goes to `report`. */
  readonly salvage?: boolean
  readonly report?: (damage: Damage) => void
}

export interface AppendOptions {
  readonly durability?: Durability
  /**
   * Before a user message, whether a hidden system message tells the model which tracked files someone else changed since
   * they were last recorded. True by default.
   */
  readonly notice?: boolean
}

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

/** A session's row in the index, as `list --json` prints it: texts resolved, times in ISO 8601. */
export interface SessionRow
  extends Omit<
    IndexRow,
    | 'workspace'
    | 'firstPrompt'
    | 'lastAssistant'
    | 'lastReasoning'
    | 'lastRefusal'
    | 'head'
    | 'tail'
    | 'tailAt'
  > {
  readonly workspace: string
  /** Of the log. */
  readonly bytes: number
  readonly lastAssistant: string | null
  readonly lastReasoning: string | null
  readonly lastRefusal: string | null
  /** Sessions that this one started (sub-agents'). */
  readonly children: readonly EventId[]
  /** Why the log could not be folded, where it could not: the session is listed all the same (INV-8). */
  readonly problem: string | null
  /** What kind of problem it is, as `verify` names it: a kind of damage, `lost-tail`, `newer-format`, or an error's tag. */
  readonly problemKind: string | null
}

export interface ListOptions {
  /** Real path; every workspace where absent. */
  readonly workspace?: string
  readonly sub?: boolean
  readonly status?: string
  /** In titles and first prompts, ignoring case. */
  readonly search?: string
  readonly limit?: number
}

/** What is searched for, and where. */
export interface SearchOptions {
  /** Found as it stands within texts, but for case, composition (NFC), and how white space is made. Not white space alone. */
  readonly text: string
  /** Real path; every workspace where absent. */
  readonly workspace?: string
  /** Only in messages of this role. */
  readonly role?: string
  readonly limit?: number
  /** Reads the logs without the index, which changes nothing but the time it takes. */
  readonly scan?: boolean
  /** While the index takes in logs that are new or grew. */
  readonly progress?: (done: number, total: number) => void
  /** Told what of a session could not be read, and of its torn tail; the rest is searched. */
  readonly report?: (problem: SearchProblem) => void
}

export type SearchProblem = { readonly session: EventId } & (
  | { readonly damage: Damage }
  | { readonly error: Error }
)

/** An event that holds the text: a message, or a title, label, branch, summary, edit or an embedder's own, with `role` null. */
export interface SearchHit {
  readonly session: EventId
  readonly workspace: string
  readonly event: EventId
  readonly at: string
  readonly type: string
  /** Of a message. */
  readonly role: string | null
  /** The first hit in it with what stands around it, on one line. */
  readonly excerpt: string
  /** Where in the excerpt the hit stands: from, and to (exclusive), in UTF-16 units. */
  readonly match: readonly [number, number]
}

export interface Verified {
  readonly sessions: number
  readonly events: number
  readonly bytes: number
  readonly problems: readonly Problem[]
  readonly diverged: readonly { readonly session: EventId; readonly ends: readonly EventId[] }[]
  readonly redacted: number
}

export interface Problem {
  readonly session: string
  readonly kind: string
  readonly line: number | null
  readonly offset: number | null
  readonly detail: string
}

export interface SessionRepaired {
  /** Events in the new log that stood in the old one. */
  readonly kept: number
  readonly lost: readonly Lost[]
  /** The event that the index knew as the log's last, where it is not in the new log: acknowledged events were lost. */
  readonly lostTail: EventId | null
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

/** What a session takes on disk, in bytes. */
export interface SessionUse {
  readonly session: EventId
  readonly workspace: string
  readonly archived: boolean
  readonly log: number
  readonly blobs: number
  /** How many checkpoints, what their branch leads to, and what no other session's does. */
  readonly checkpoints: number
  readonly code: number
  readonly ownCode: number
}

export interface Use {
  readonly sessions: readonly SessionUse[]
  /** By workspace: its checkpoints' objects, and those that no session leads to (`gc` frees them). */
  readonly workspaces: readonly WorkspaceUse[]
  readonly caches: number
}

export interface WorkspaceUse {
  readonly workspace: string
  readonly code: number
  readonly unreached: number
  /** Why its checkpoints cannot be read (then both are 0, and so is the code of its sessions); null where they can. */
  readonly why: string | null
}

/** What was freed in one workspace, in bytes; with `dryRun` what would be. */
export interface Freed extends Collected {
  readonly workspace: string
}

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
  messages(view?: ReadView & { readonly all?: boolean }): Promise<unknown>
  /** What the model gets at `at`: reads the log only back to what the last compaction left (INV-11). */
  context(view?: ReadView & { readonly format?: 'openai' | 'anthropic' | 'plain' }): Promise<unknown>
  undoTargets(options?: { readonly all?: boolean }): Promise<readonly unknown[]>
  /** The checkpoints on the path to `at`, and those that failed, first to last. */
  checkpoints(view?: ReadView): Promise<readonly CheckpointRow[]>
  /** The code difference between two nodes, one entry a file. */
  diff(from: EventId, to: EventId, view?: ReadView): Promise<readonly FileDiff[]>
  tree(view?: ReadView): Promise<unknown>
  row(): Promise<SessionRow>
  /** Whether the fold saved in the index equals a fold of the log up to where it was saved (INV-3, INV-8); null where none is saved. */
  savedAgrees(): Promise<boolean | null>
  /** The caller's form of a stored event: blobs filled in, `$` keys restored. */
  resolved<T>(value: T, view?: ReadView): Promise<T>
}

export interface SessionRef {
  readonly id: EventId
  readonly workspace: string
  /** The workspace's folder name in the store. */
  readonly key: string
}

/** What left the archive for good: sessions, and logs that `repair` and `redact` replaced. */
export interface Purged {
  readonly sessions: readonly SessionRef[]
  readonly copies: readonly OldCopy[]
}

export interface NewSession {
  /** Absolute path; it is made real. */
  readonly workspace: string
  readonly cwd?: string
  readonly agent?: unknown
  readonly title?: string
  /** A system message to begin with. */
  readonly system?: string
  readonly startedBy?: { readonly session: EventId; readonly event: EventId }
  /** What of the code is tracked: files that tools name (the default), or the whole workspace under the ignore rules. */
  readonly track?: 'edits' | 'workspace'
}

/** A folder of sessions, by workspace. */
export interface Store {
  readonly path: string
  /** What is behind it: for importers and other work on whole stores. */
  readonly home: Home
  create(input: NewSession): Promise<Session>
  /** By a unique prefix of its id, 4 characters or more, over the whole store. Rejects: NotFound, Ambiguous. */
  find(name: string): Promise<SessionRef>
  open(name: string): Promise<Session>
  reader(name: string): Promise<SessionReader>
  list(options?: ListOptions): Promise<readonly SessionRow[]>
  /** The events that hold a text, newest first, as they are found: on every branch, hidden messages too. */
  search(options: SearchOptions): AsyncIterable<SearchHit>
  /** A new session that begins with the path to `at` (the head by default). */
  fork(
    name: string,
    at?: EventId,
  ): Promise<{ readonly session: EventId; readonly unknownTypes: readonly string[] }>
  /** Moves to the archive; refuses while another process holds it. */
  archive(name: string, why: 'archive' | 'delete' | 'prune'): Promise<SessionRef>
  archived(): Promise<readonly SessionRef[]>
  unarchive(name: string): Promise<SessionRef>
  /** Removes for good what went to the archive more than `olderThanMs` ago; the only way to lose bytes (INV-1). */
  purge(olderThanMs?: number): Promise<Purged>
  /** All but the newest `keep` of a workspace (or of each, where absent) go to the archive. */
  prune(
    keep: number,
    options: {
      readonly workspace?: string
      readonly dryRun?: boolean
      /** Told of each that would have gone, and why it stays. */
      readonly skipped?: (session: SessionRef, why: string) => void
    },
  ): Promise<readonly SessionRef[]>
  relocate(from: string, to: string): Promise<number>
  /** Paths that are gone, whose repository is the one at `path`: where its sessions may have been (`relocate`). */
  movedFrom(path: string): Promise<readonly string[]>
  hasWorkspace(path: string): boolean
  reindex(names?: readonly string[]): Promise<number>
  verify(
    names?: readonly string[],
    options?: {
      readonly since?: string
      /** In bytes of the logs. */
      readonly progress?: (done: number, total: number) => void
    },
  ): Promise<Verified>
  repair(name: string): Promise<SessionRepaired>
  /**
   * Replaces payloads by tombstones; refuses while someone holds the session open. The old log goes to the archive, where
   * only `purge` removes it (docs/SECRETS.md).
   */
  redact(name: string, options: RedactOptions): Promise<Redacted>
  /** A value with the secrets put back that went to this store's vault when it was written (`redact: 'write'`). */
  reveal<Value>(value: Value): Value
  /** What takes space; the whole store's where no session is named. */
  use(names?: readonly string[]): Promise<Use>
  /** Frees what no session's checkpoints lead to, and packs the rest, in the workspaces of the named sessions, or in all. */
  collect(
    names?: readonly string[],
    options?: {
      readonly dryRun?: boolean
      readonly progress?: (done: number, total: number) => void
      readonly failed?: (workspace: string, error: Tagged) => void
    },
  ): Promise<readonly Freed[]>
  close(): void
}
