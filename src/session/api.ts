import type { Content, Usage } from '../events/content.js'
import type { Draft } from '../events/draft.js'
import type { Damage, LogLostTail } from '../events/errors/index.js'
import type { Event, EventId } from '../events/event.js'
import type { Lost } from '../events/file-log/repair.js'
import type { Line } from '../events/line.js'
import type { Durability, EventLog } from '../events/log.js'
import type { Divergence, SessionRow as IndexRow } from '../projections/session-index.js'
import type { Home } from './store/home.js'
import type { Presence } from './store/presence.js'

export type { Presence } from './store/presence.js'

/** How a session's conversation is read. */
export interface ReadView {
  /** The event at which to look; the head by default. Full id. */
  readonly at?: EventId
  /** Read past damage; what is skipped goes to `report`. */
  readonly salvage?: boolean
  readonly report?: (damage: Damage) => void
}

export interface Undone {
  /** Where the conversation now stands: the nearest event that is no `head` event. */
  readonly head: EventId
  /** The prompt that was taken back, whole. */
  readonly prompt: string
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
  append(
    drafts: Draft | readonly Draft[],
    options?: { readonly durability?: Durability },
  ): Promise<readonly Event[]>
  undo(target: EventId): Promise<Undone>
  redo(): Promise<EventId>
  checkout(event: EventId): Promise<EventId>
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

export interface NewSession {
  /** Absolute path; it is made real. */
  readonly workspace: string
  readonly cwd?: string
  readonly agent?: unknown
  readonly title?: string
  /** A system message to begin with. */
  readonly system?: string
  readonly startedBy?: { readonly session: EventId; readonly event: EventId }
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
  /** A new session that begins with the path to `at` (the head by default). */
  fork(
    name: string,
    at?: EventId,
  ): Promise<{ readonly session: EventId; readonly unknownTypes: readonly string[] }>
  /** Moves to the archive; refuses while another process holds it. */
  archive(name: string, why: 'archive' | 'delete' | 'prune'): Promise<SessionRef>
  archived(): Promise<readonly SessionRef[]>
  unarchive(name: string): Promise<SessionRef>
  /** Removes archived sessions for good, those moved there more than `olderThanMs` ago; the only way to lose bytes (INV-1). */
  purge(olderThanMs?: number): Promise<readonly SessionRef[]>
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
    options?: { readonly since?: string; readonly progress?: (done: number, total: number) => void },
  ): Promise<Verified>
  repair(name: string): Promise<SessionRepaired>
  close(): void
}
