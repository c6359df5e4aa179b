import { isUtf8 } from 'node:buffer'
import * as E from 'fp-ts/lib/Either.js'
import type { Event, EventId } from './event.js'
import { eventId, sha256 } from './id.js'

/** A line that proved its id: the envelope read from fixed offsets, the payload not yet parsed. */
export interface Line {
  readonly id: EventId
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly note: boolean
  /** The payload was replaced by its hash. */
  readonly redacted: boolean
  /** The UTF-8 of the line without its newline. */
  readonly bytes: Buffer
  /** Where the line begins in its log, in bytes. */
  readonly offset: number
}

const idAt = 7
const parentAt = 50
const lineStart = Buffer.from('{"id":"')
const afterId = Buffer.from('","parent":')
const idLength = 32
const timeLength = 24
const hex32 = /^[0-9a-f]{32}$/
const typeSyntax = /^[a-z][a-z0-9_.-]*$/
const timeSyntax = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const noteMember = ',"note":true'
const tombstone = /^,"body":"([0-9a-f]{64})","redacted":true(?:,"kept":(\{.*\}))?\}$/s

/** Characters that some reader takes for a line end, or drops; JSON may hold them raw, our lines do not. */
const lineBreaking = /[\u2028\u2029\u0085\ufeff]/
const everyLineBreaking = new RegExp(lineBreaking, 'g')
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The payload's bytes as they stand in a line: the members of a JSON object, without its braces. */
export const payloadText = (payload: object): string => {
  const json = JSON.stringify(payload)
  const text = lineBreaking.test(json) ? json.replace(everyLineBreaking, escaped) : json
  return text.slice(1, -1)
}

export interface Stamped {
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly note: boolean
}

/** Makes the line of an event and its id. */
export const encodeLine = (envelope: Stamped, payload: object): Line => {
  const text = payloadText(payload)
  const body = sha256(text)
  const id = eventId({ ...envelope, body })
  const { parent, at, type, note } = envelope
  const bytes = Buffer.from(`${envelopeText(id, envelope)}${text === '' ? '' : ','}${text}}`)
  return { id, parent, at, type, note, redacted: false, bytes, offset: -1 }
}

/** The line of a redacted event: the payload's hash in its place, and what the folds need of it. */
export const encodeTombstone = (id: EventId, envelope: Stamped, body: string, kept?: object): Line => {
  const rest = kept === undefined ? '' : `,"kept":${JSON.stringify(kept).replace(everyLineBreaking, escaped)}`
  const { parent, at, type, note } = envelope
  const bytes = Buffer.from(`${envelopeText(id, envelope)},"body":"${body}","redacted":true${rest}}`)
  return { id, parent, at, type, note, redacted: true, bytes, offset: -1 }
}

const envelopeText = (id: string, { parent, at, type, note }: Stamped): string =>
  `{"id":"${id}","parent":${parent === null ? 'null' : `"${parent}"`},"at":"${at}","type":"${type}"${note ? noteMember : ''}`

/** Why bytes are no line. `proof`: they look like one, but the hash says otherwise. */
export type NoLine = 'shape' | 'proof'

/**
 * Reads one line (without its newline) and proves its id (INV-5). A `lost` tombstone, which `repair` writes for a line
 * whose bytes are gone, cannot prove itself and is let through: `verify` holds it against the `repaired` note.
 */
export const proveLine = (bytes: Buffer, offset: number): Line | NoLine => {
  const { length } = bytes
  if (length < 100 || bytes[length - 1] !== 0x7d || !matches(bytes, 0, lineStart)) return 'shape'
  if (!matches(bytes, idAt + idLength, afterId)) return 'shape'
  const id = bytes.toString('latin1', idAt, idAt + idLength)
  const isRoot = bytes[parentAt] === 0x6e
  const parent = isRoot ? null : bytes.toString('latin1', parentAt + 1, parentAt + 1 + idLength)
  const parentEnd = parentAt + (isRoot ? 4 : idLength + 2)
  const at = bytes.toString('latin1', parentEnd + 7, parentEnd + 7 + timeLength)
  const typeAt = parentEnd + 7 + timeLength + 10
  const typeEnd = bytes.indexOf(0x22, typeAt)
  if (typeEnd < 0 || typeEnd - typeAt > 200) return 'shape'
  const type = bytes.toString('latin1', typeAt, typeEnd)
  let bodyAt = typeEnd + 1
  const note = bytes.toString('latin1', bodyAt, bodyAt + noteMember.length) === noteMember
  if (note) bodyAt += noteMember.length
  const envelope = { parent, at, type, note }
  // One comparison covers every literal between the members.
  if (bytes.toString('latin1', 0, bodyAt) !== envelopeText(id, envelope)) return 'shape'
  if (
    !hex32.test(id) ||
    !(parent === null || hex32.test(parent)) ||
    !typeSyntax.test(type) ||
    !timeSyntax.test(at)
  )
    return 'shape'
  const redactedBody = tombstoneBody(bytes, bodyAt)
  if (redactedBody === undefined && bytes[bodyAt] !== 0x2c && bodyAt !== length - 1) return 'shape'
  const body = redactedBody ?? sha256(bytes.subarray(Math.min(bodyAt + 1, length - 1), length - 1))
  const proved = eventId({ ...envelope, body }) === id || (redactedBody !== undefined && type === 'lost')
  return proved ? { ...envelope, id, redacted: redactedBody !== undefined, bytes, offset } : 'proof'
}

const bodyMember = Buffer.from(',"body":"')

const tombstoneBody = (bytes: Buffer, at: number): string | undefined => {
  if (!matches(bytes, at, bodyMember)) return undefined
  return tombstone.exec(bytes.toString('utf8', at))?.[1]
}

const matches = (bytes: Buffer, at: number, literal: Buffer): boolean => {
  if (bytes.length < at + literal.length) return false
  for (let i = 0; i < literal.length; i++) if (bytes[at + i] !== literal[i]) return false
  return true
}

const reservedInPayload = ['body', 'redacted', 'kept'] as const

/** The event of a proved line. Left: it is no JSON, or a repeated member contradicts the envelope. */
export const parseLine = (line: Line): E.Either<string, Event> => {
  if (!isUtf8(line.bytes)) return E.left('the payload is no UTF-8')
  let event: Event
  try {
    event = JSON.parse(line.bytes.toString('utf8')) as Event
  } catch (error) {
    return E.left(`the payload is no JSON (${(error as Error).message})`)
  }
  const same =
    event.id === line.id &&
    event.parent === line.parent &&
    event.at === line.at &&
    event.type === line.type &&
    (event.note === true) === line.note
  if (!same) return E.left('a repeated member contradicts the envelope')
  if (!line.redacted && reservedInPayload.some((member) => Object.hasOwn(event, member)))
    return E.left('the payload holds a reserved member')
  return E.right(event)
}

/** The payload bytes' hash of a line, as its id was taken over it. */
export const bodyOf = (line: Line): string => {
  const start = envelopeText(line.id, line).length
  return (
    tombstoneBody(line.bytes, start) ??
    sha256(line.bytes.subarray(Math.min(start + 1, line.bytes.length - 1), line.bytes.length - 1))
  )
}
