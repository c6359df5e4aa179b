import type { Event, EventId } from '../events/event.js'

/** Where a tool looks; as in `Surroundings` of format.ts. */
interface Place {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What writes sessions in the form of other tools, whatever store they come from (docs/FORMATS.md, "Writing"). */

/** A session to be written. Its events are in their stored form: large values are blob references until `resolve`. */
export interface Outgoing {
  /** The id of its root event. */
  readonly id: EventId
  /** Every event in log order, the root first. */
  readonly events: readonly Event[]
  /** The caller's form of a value: blobs filled in, `$` keys restored, and secrets taken out where that is asked for. */
  readonly resolve: <T>(value: T) => Promise<T>
  /** Where the conversation stands: an event that is no note. */
  readonly head: EventId
  /** The branch to `head` alone is wanted: others are neither written nor counted as lost. */
  readonly only?: boolean
  /** The title that someone gave it; null: none. */
  readonly title: string | null
  /** Absolute paths. */
  readonly workspace: string
  readonly cwd: string
  /** The sessions that it started (sub-agents'), with those that they started. */
  readonly children: readonly Outgoing[]
}

/** Something that the target has no place for, or says otherwise. `text` is one line for a person, without the count. */
export interface Loss {
  /** What was lost, in one or two words: `branches`, `reasoning signatures`. The key of the table in docs/FORMATS.md. */
  readonly kind: string
  readonly count: number
  readonly text: string
}

/** A file to be made. `content` may be asked for once; its pieces are whole lines, in order. */
export interface WrittenFile {
  /** Relative to the folder that `Writer.folder` names, with `/`. */
  readonly name: string
  readonly content: () => AsyncIterable<string | Uint8Array>
  /**
   * Of a file that the tool's sessions share (an index): what it holds once this session is in it, from what it holds
   * now (null: there is none). Written whole, in place of the old one; `content` is not asked for. Throws a Tagged error
   * where what is there cannot be read, so that nothing is lost.
   */
  readonly merge?: (existing: string | null) => string | Promise<string>
}

/** A session in another tool's form. */
export interface Written {
  /** Its id in that tool. */
  readonly session: string
  /** The session's own file first. */
  readonly files: readonly WrittenFile[]
  /** Complete once the content of every file was read to its end. */
  readonly losses: () => readonly Loss[]
}

/** Writes sessions as one tool keeps them. The same session gives the same bytes, every time. */
export interface Writer {
  readonly write: (session: Outgoing) => Promise<Written>
  /** Where the tool looks for the sessions of a workspace: an absolute folder. */
  readonly folder: (place: Place, workspace: string) => string
  /** The program and its arguments that go on with a session, run in its workspace. */
  readonly resume: (session: string, workspace: string) => readonly string[]
}
