import { sha256 } from '../../events/id.js'
import { textIn } from '../members.js'
import type { ObjectRecord } from '../records.js'
import { isObject, type Json } from '../remainder.js'

/** One line of a session file. */
export interface Entry {
  readonly line: number
  readonly raw: string | undefined
  readonly value: Json
  readonly type: string
  /** `id`, which entries have since version 2. */
  readonly id: string | null
  /** SHA-256 of the line's text. */
  readonly hash: string
}

export const entryOf = ({ line, value, text, raw }: ObjectRecord): Entry => ({
  line,
  raw,
  value,
  type: textIn(value, 'type') ?? 'untyped',
  id: textIn(value, 'id'),
  hash: sha256(text),
})

/** Whether a value that stands between damaged bytes is a line, not a piece of one. */
export const looksLikeEntry = (value: unknown): boolean =>
  isObject(value) && typeof value.type === 'string' && typeof value.timestamp === 'string'

/** Whether a key is an entry's own id: a `#` marks those that Coppice made. */
export const isOwnId = (key: string): boolean => !key.includes('#')

/** What every entry says beside its own members, as a writer gives it. `parent`: the key of the event above. */
export const saidEnvelope = (key: string, parent: string | null, at: string): Json =>
  isOwnId(key) ? { id: key, parentId: parent, timestamp: at } : { timestamp: at }
