import type { Tagged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import type { Redacted, RedactOptions } from '../redact/redacted.js'
import type { Home } from '../store/home.js'
import type { SessionRepaired, Verified } from './checking.js'
import type { ListOptions, SessionRef, SessionRow } from './listing.js'
import type { SessionReader } from './reading.js'
import type { SearchHit, SearchOptions } from './searching.js'
import type { Session } from './session.js'
import type { Freed, Purged, Use } from './space.js'

/** The store: a folder of sessions, by workspace. */

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
