import type { EventId } from '../events/event.js'
import type { Finding } from './find.js'
import type { Writer } from './writer.js'

/**
 * What a reader makes of a foreign store, in the order of its records. Every event has a `key` of its own within its
 * session: it becomes `origin.id`, by which a later import finds it again. Links are keys; the importer turns them into
 * ids. A record gives its own items, looking back but not ahead, so that importing a prefix and then the whole gives
 * what one import of the whole gives.
 */
export type Item = SessionItem | EventItem | MoveItem | RemarkItem | FailureItem

/** A session begins. `key` is the session's id in its own tool. */
export interface SessionItem {
  readonly kind: 'session'
  readonly session: string
  /** ISO 8601 UTC in milliseconds. */
  readonly at: string
  /** The absolute path the source names; null where it names none. */
  readonly workspace: string | null
  readonly cwd: string | null
  readonly agent?: unknown
  /** The session and the event that started this one (a sub-agent's); both already given. */
  readonly startedBy?: { readonly session: string; readonly event: string | null }
  readonly forkedFrom?: { readonly session: string; readonly event: string | null }
  /** What the session's own record holds beside that. */
  readonly extra?: unknown
  /** The source line that gave it, from 1. */
  readonly line?: number
}

export interface EventItem {
  readonly kind: 'event'
  readonly session: string
  readonly key: string
  /** The key of the event it hangs on; null for the session's root. */
  readonly parent: string | null
  readonly at: string
  readonly type: string
  /** The payload without `origin`, once the ids of other events can be asked for (null: no such key). */
  readonly payload: (idOf: (key: string) => EventId | null) => Record<string, unknown>
  /** Members of the source record that the payload does not say. */
  readonly extra?: unknown
  /**
   * The source line, where numbers, duplicate keys or bytes would not survive parsing; `base64:` and its bytes where it
   * is no valid UTF-8.
   */
  readonly raw?: string
  /** The source line that gave it, from 1; absent where a side file did. */
  readonly line?: number
}

/** The head moves to an event that was given earlier (a rewind, a resumed branch); nothing happens where it is there. */
export interface MoveItem {
  readonly kind: 'move'
  readonly session: string
  readonly key: string
  readonly to: string
  readonly at: string
  readonly reason: 'undo' | 'redo' | 'checkout' | 'branch'
  /** The source line that gave it, from 1. */
  readonly line?: number
}

/** Something that could not be carried, or was carried otherwise than one would think; counted where it repeats. */
export interface RemarkItem {
  readonly kind: 'remark'
  readonly session: string | null
  readonly text: string
  readonly count: number
  /** Source lines that no other item accounts for (a repeated record, say), from 1. */
  readonly lines?: readonly number[]
}

/** A part of the source that could not be read. `line` counts from 1. */
export interface FailureItem {
  readonly kind: 'failed'
  readonly line: number | null
  readonly reason: string
}

/** Where a reader looks, so that a test can point it at a folder. */
export interface Surroundings {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** One foreign format. */
export interface Format {
  /** As the command line names it: `claude`. */
  readonly name: string
  /** As people name it: `Claude Code`. */
  readonly title: string
  /** The folders where its tool keeps sessions, whether they exist or not. */
  readonly folders: (surroundings: Surroundings) => readonly string[]
  /** The sources (files) at or below a path; [] where there are none. */
  readonly find: (path: string) => Promise<readonly string[]>
  /** Which files below a folder are looked into, and which folders are entered, where it is not every folder's `.jsonl`. */
  readonly finding?: Finding
  /** Whether a file looks like one of this format, by its path and its first 64 KiB. */
  readonly detect: (path: string, start: string) => boolean
  /** Its tool takes records out of a source again (an undo that cuts the file): where it ends, the conversation stands. */
  readonly isCutByUndo?: true
  /**
   * What `read` looks at beside the source: files, and folders whose names it lists. Where neither these nor the source
   * changed, it would give the same again.
   */
  readonly beside: (source: string) => readonly string[]
  /** Reads one source; never rejects for what the source holds: that becomes `failed` items. */
  readonly read: (source: string) => AsyncIterable<Item>
  /** What writes sessions as its tool keeps them; absent where nothing does. */
  readonly writer?: Writer
}
