/** A record of a JSONL file. */
export interface JsonRecord {
  readonly kind: 'record'
  readonly line: number
  readonly value: unknown
  /** The record's own text; its hash names a record that has no id. */
  readonly text: string
  /** The text again, or `base64:` and its bytes, where parsing loses something of it. */
  readonly raw?: string
  /** What is odd about bytes that could be read all the same. */
  readonly fault?: string
  /** The lines after its first, where it stands on many. */
  readonly more?: readonly number[]
}

/** Bytes that hold no record. */
export interface JsonFault {
  readonly kind: 'fault'
  readonly line: number
  readonly reason: string
}
