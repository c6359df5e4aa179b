import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { BlobRef } from './content.js'
import type {
  Damage,
  Damaged,
  Locked,
  LocksUnsupported,
  LogLostTail,
  Moved,
  NotFound,
  StaleTail,
  StoreUnusable,
  SyncFailed,
  WriteFailed,
} from './errors/index.js'
import type { EventId } from './event.js'
import type { Line } from './line.js'

/** What an append wrote: every line in order, a `recovered` note of the log's own included, and the log's new last event. */
export interface Appended {
  readonly lines: readonly Line[]
  readonly tail: EventId
}

export type AppendError =
  | StaleTail
  | Locked
  | LocksUnsupported
  | Moved
  | Damaged
  | LogLostTail
  | NotFound
  | StoreUnusable
  | SyncFailed
  | WriteFailed

/** `sync`: on disk when the append resolves (INV-2). `none`: in the page cache; survives a kill, not a power cut. */
export type Durability = 'sync' | 'none'

export interface ReadOptions {
  /** Read past damage; what is skipped goes to `report`. Otherwise reading rejects with Damaged (INV-4). */
  readonly salvage?: boolean
  /**
   * Read as the next append will leave the log: lines after an unclosed gap that hang on what it lost are no events. For
   * who is about to append; every other reader stops at such a gap, since those lines may have been acknowledged.
   */
  readonly closeGaps?: boolean
  /** Told of every torn tail, unclosed gap and skipped damage. */
  readonly report?: (damage: Damage) => void
  /** Begin at this byte, which must be the start of a line. Links to earlier events are then taken on trust. */
  readonly from?: number
  /** About how much to read at once (bytes), for who wants but a line or two. */
  readonly chunk?: number
}

/** Which file (or row) a log is, and how far it goes: what a saved fold is held against. */
export interface LogStamp {
  /** Bytes in all. */
  readonly bytes: number
  /** Changes when the log is another one at the same name (device and inode). */
  readonly identity: string
  /** Milliseconds; changes when the log was written to. */
  readonly modified: number
}

/**
 * The one storage port: append-only logs of lines, each the log of one session. Iterables reject with the tagged
 * errors; every line they yield has proved its hash.
 */
export interface EventLog {
  /** Makes a session of its first lines and the blobs they name, whole or not at all. Its id is the first line's. StaleTail where it is there already. */
  create(
    lines: readonly Line[],
    durability?: Durability,
    blobs?: ReadonlyMap<string, Buffer>,
  ): TaskEither<AppendError, Appended>
  /** Appends where the log's last event is `expectedTail`; else StaleTail with what it is. Lines are in order, parents first. */
  append(
    session: EventId,
    expectedTail: EventId,
    lines: readonly Line[],
    durability?: Durability,
  ): TaskEither<AppendError, Appended>
  /** First to last, in batches, in one pass with bounded memory. */
  readForward(session: EventId, options?: ReadOptions): AsyncIterable<readonly Line[]>
  /**
   * Last to first, in batches, reading only as far as the caller goes: the reverse of `readForward`, but that links are
   * the caller's to check and that damage stops it only where it meets it. `from` is of no account here.
   */
  readBackward(session: EventId, options?: ReadOptions): AsyncIterable<readonly Line[]>
  /** Every session that has a folder, hidden by no index (INV-8). */
  sessions(): readonly EventId[]
  /** null where there is no such session. */
  stamp(session: EventId): LogStamp | null
  /** Lines after the event `after` (absent: from now on), as they come, until `signal` aborts. Follows a replaced file. */
  watch(
    session: EventId,
    options: { readonly after?: EventId; readonly signal: AbortSignal },
  ): AsyncIterable<readonly Line[]>
  readonly blobs: BlobStore
  /** Lets go of open files. */
  close(): void
}

/** Values kept outside the lines, by the SHA-256 of their bytes. */
export interface BlobStore {
  /** Stores and syncs, folder entry included; a blob that is there already costs a look. Moved: no such session. */
  put(
    session: EventId,
    blobs: ReadonlyMap<string, Buffer>,
    durability?: Durability,
  ): TaskEither<AppendError, void>
  /** Reads and proves; rejects with NotFound or Damaged. */
  get(session: EventId, ref: BlobRef): Promise<Buffer>
  /** The names of the blobs that a session holds. */
  list(session: EventId): readonly string[]
}
