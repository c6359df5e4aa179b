import type { Json } from '../remainder.js'

/** A session as OpenCode keeps it, whether in files, in an export, or in its database. */
export interface StoredSession {
  readonly info: Json
  readonly messages: readonly StoredMessage[]
  /** The line of the source that it begins on, from 1; absent in a database. */
  readonly line?: number | undefined
}

export interface StoredMessage {
  readonly info: Json
  readonly parts: readonly Json[]
  readonly line?: number | undefined
  /** The record's text, where parsing loses something of it. */
  readonly raw?: string | undefined
}
