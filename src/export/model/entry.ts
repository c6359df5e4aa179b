import type { EventId } from '../../events/event.js'

/** How a text is to be read. */
export type TextKind =
  /** Markdown, as models write it. */
  | 'prose'
  /** As someone typed it. */
  | 'plain'
  /** What a tool gave. */
  | 'output'
  | 'reasoning'
  | 'refusal'
  | 'command'
  | 'diff'
  | 'json'
  | 'code'

/** One block of a report. Texts are redacted and visible, whole, and not yet escaped for any format. */
export type Piece =
  | {
      readonly kind: TextKind
      readonly text: string
      /** The text as it was written, where `text` is laid out otherwise. */
      readonly raw?: string
      readonly lang?: string
      readonly label?: string
    }
  /** A raster image; `data` is base64. */
  | { readonly kind: 'image'; readonly media: string; readonly data: string; readonly alt: string }
  /** A text that an earlier event of the report shows. */
  | { readonly kind: 'repeat'; readonly of: EventId; readonly chars: number; readonly label?: string }

/** A tool's result. */
export interface ResultView {
  readonly id: EventId
  readonly at: string
  readonly ok: boolean | null
  readonly durationMs: number | null
  readonly pieces: readonly Piece[]
}

/** A tool call with the result that answered it. */
export interface CallView {
  readonly id: string
  readonly name: string
  /** The call in one line: a path, a command, a pattern. */
  readonly about: string
  readonly pieces: readonly Piece[]
  /** The arguments as the model wrote them, where the pieces do not show them so; null else. */
  readonly raw: string | null
  /** Permission decisions and starts, in order. */
  readonly states: readonly string[]
  readonly result: ResultView | null
  /** The event of a result that stands elsewhere in the report. */
  readonly elsewhere: EventId | null
}

export type Speaker = 'user' | 'assistant' | 'system' | 'tool' | 'other'

/** Something that was said: a message, or an embedder's own event with content. */
export interface SaidEntry {
  readonly kind: 'said'
  readonly id: EventId
  readonly at: string
  readonly speaker: Speaker
  readonly heading: string
  /** What is known of it, a few words each: model, duration, tokens, money. */
  readonly facts: readonly string[]
  /** Goes on with the message before it (one group). */
  readonly continues: boolean
  readonly compacted: boolean
  readonly pieces: readonly Piece[]
  readonly calls: readonly CallView[]
}

/** Something that happened: a compaction, an edit, a checkpoint, a status, a decision. */
export interface MarkEntry {
  readonly kind: 'mark'
  readonly id: EventId
  readonly at: string
  readonly tone: 'quiet' | 'strong' | 'bad'
  readonly words: string
  /** The event that it speaks of, where the report may show it. */
  readonly target: EventId | null
  readonly pieces: readonly Piece[]
}

export type Entry = SaidEntry | MarkEntry
