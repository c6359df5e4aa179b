import { isUtf8 } from 'node:buffer'
import * as E from 'fp-ts/lib/Either.js'
import { bodyOffset, idLength, parentAt, timeLength, typeAtOf } from './envelope.js'
import type { Event, EventId } from './event.js'
import { idOfSealed, sha256 } from './id.js'

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
/** Where the text begins that the id is taken over. */
const sealedAt = 41
/** A root with a type of one letter and no payload. */
const shortest = 98
const quote = 0x22
const letterN = 0x6e
const comma = 0x2c
const openingBrace = 0x7b
const closingBrace = 0x7d
const noteMember = ',"note":true'
const noteBytes = Buffer.from(noteMember)
const bodyMember = Buffer.from(',"body":"')
/** Bytes of `,"body":"<64 hex>","redacted":true`, after which `kept` may stand. */
const tombstoneLength = 90

const tombstone = /^,"body":"([0-9a-f]{64})","redacted":true(?:,"kept":(\{.*\}))?\}$/s

/** Characters that some reader takes for a line end, or drops; JSON may hold them raw, our lines do not. */
const lineBreaking = ['\u2028', '\u2029', '\u0085', '\ufeff'] as const
const escapeBreaks = (json: string): string => {
  let text = json
  // Looking for each by itself is several times faster than a pattern of all.
  for (const char of lineBreaking)
    if (text.includes(char))
      text = text.replaceAll(char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text
}

/**
 * The payload's bytes as they stand in a line: the members of a JSON object, without its braces. Throws TypeError where
 * it is none (a `toJSON` may make anything of it).
 */
export const payloadText = (payload: object): string => {
  const json = JSON.stringify(payload)
  if (json?.charCodeAt(0) !== openingBrace) throw new TypeError('a payload is a JSON object')
  return escapeBreaks(json).slice(1, -1)
}

export interface Stamped {
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly note: boolean
}

/** Makes the line of an event and its id. */
export const encodeLine = (envelope: Stamped, payload: object): Line =>
  encodeText(envelope, payloadText(payload))

/** The same where the payload's text was made already. */
export const encodeText = (envelope: Stamped, text: string): Line => {
  const prefix = envelopeText(noId, envelope)
  // The id is taken over bytes that stand in the line: they are made once, and the id is written in its place.
  const bytes = Buffer.from(text === '' ? `${prefix}}` : `${prefix},${text}}`)
  const id = idOfSealed(`{${prefix.slice(sealedAt)},"body":"${bodyHash(bytes, prefix.length)}"}`)
  bytes.write(id, idAt, 'latin1')
  const { parent, at, type, note } = envelope
  return { id, parent, at, type, note, redacted: false, bytes, offset: -1 }
}
const noId = '0'.repeat(idLength)

/**
 * The line of a redacted event: the payload's hash in its place, and what the folds need of it, which is not proved. The
 * body of a `lost` event is nowhere: a check sum over all else in its line stands there, so that a flipped bit is told.
 * A session's root is never redacted.
 */
export const encodeTombstone = (id: EventId, envelope: Stamped, body: string, kept?: object): Line => {
  const { parent, at, type, note } = envelope
  if (type === 'session') throw new TypeError('a session event is never redacted')
  const rest = kept === undefined ? '}' : `,"kept":${escapeBreaks(JSON.stringify(kept))}}`
  const prefix = envelopeText(id, envelope)
  const sum = type === 'lost' ? lostSum(prefix, rest) : body
  const bytes = Buffer.from(`${prefix},"body":"${sum}","redacted":true${rest}`)
  return { id, parent, at, type, note, redacted: true, bytes, offset: -1 }
}

const lostSum = (prefix: string, rest: string): string => sha256(prefix + rest)

const envelopeText = (id: string, { parent, at, type, note }: Stamped): string =>
  `{"id":"${id}","parent":${parent === null ? 'null' : `"${parent}"`},"at":"${at}","type":"${type}"${note ? noteMember : ''}`

/** Why bytes are no line. `proof`: they look like one, but the hash says otherwise. */
export type NoLine = 'shape' | 'proof'

/**
 * Reads one line (without its newline) and proves its id (INV-5): the envelope literally, in its one spelling, and the
 * hash over it and the payload. A `lost` tombstone, which `repair` writes for a line whose bytes are gone, cannot prove
 * the id that its children name; it is held against its own check sum (see encodeTombstone).
 */
export const proveLine = (bytes: Buffer, offset: number): Line | NoLine => {
  const { length } = bytes
  if (length < shortest || bytes[length - 1] !== closingBrace) return 'shape'
  const typeEnd = bodyOffset(bytes)
  if (typeEnd < 0) return 'shape'
  const note = bytes[typeEnd + 2] === letterN && matches(bytes, typeEnd, noteBytes)
  const bodyAt = note ? typeEnd + noteBytes.length : typeEnd
  const redactedBody = tombstoneBody(bytes, bodyAt)
  if (redactedBody === undefined && !isPayloadAt(bytes, bodyAt)) return 'shape'
  const prefix = bytes.toString('latin1', 0, bodyAt)
  const isRoot = bytes[parentAt] !== quote
  const typeAt = typeAtOf(isRoot)
  const type = prefix.slice(typeAt, typeEnd - 1)
  if (redactedBody !== undefined && type === 'session') return 'shape'
  const body = redactedBody ?? bodyHash(bytes, bodyAt)
  const id = prefix.slice(idAt, idAt + idLength)
  const isProved =
    redactedBody !== undefined && type === 'lost'
      ? body === lostSum(prefix, bytes.toString('utf8', bodyAt + tombstoneLength))
      : idOfSealed(`{${prefix.slice(sealedAt)},"body":"${body}"}`) === id
  if (!isProved) return 'proof'
  return {
    id,
    parent: isRoot ? null : prefix.slice(parentAt + 1, parentAt + 1 + idLength),
    at: prefix.slice(typeAt - 10 - timeLength, typeAt - 10),
    type,
    note,
    redacted: redactedBody !== undefined,
    bytes,
    offset,
  }
}

/** A comma stands only before a payload. */
const isPayloadAt = (bytes: Buffer, at: number): boolean =>
  at === bytes.length - 1 || (bytes[at] === comma && at + 2 < bytes.length)

const bodyHash = (bytes: Buffer, bodyAt: number): string =>
  sha256(bytes.subarray(Math.min(bodyAt + 1, bytes.length - 1), bytes.length - 1))

const tombstoneBody = (bytes: Buffer, at: number): string | undefined => {
  if (!matches(bytes, at, bodyMember)) return undefined
  return tombstone.exec(bytes.toString('utf8', at))?.[1]
}

const matches = (bytes: Buffer, at: number, literal: Buffer): boolean => {
  if (bytes.length < at + literal.length) return false
  for (let i = 0; i < literal.length; i++) if (bytes[at + i] !== literal[i]) return false
  return true
}

const inTombstone = new Set(['id', 'parent', 'at', 'type', 'note', 'body', 'redacted', 'kept'])

/** The event of a proved line. Left: it is no JSON, or a repeated member contradicts the envelope. */
export const parseLine = (line: Line): E.Either<string, Event> => {
  const text = line.bytes.toString()
  // Bytes that are no UTF-8 are decoded to this character, which may also stand there in its own right.
  if (text.includes('\ufffd') && !isUtf8(line.bytes)) return E.left('the payload is no UTF-8')
  let event: Event
  try {
    event = JSON.parse(text) as Event
  } catch (error) {
    return E.left(`the payload is no JSON (${(error as Error).message})`)
  }
  const same =
    event.id === line.id &&
    event.parent === line.parent &&
    event.at === line.at &&
    event.type === line.type &&
    event.note === (line.note ? true : undefined)
  if (!same) return E.left('a repeated member contradicts the envelope')
  if (line.redacted) return tombstoneEvent(line, event)
  if (event.body !== undefined || event.redacted !== undefined || event.kept !== undefined)
    return E.left('the payload holds a reserved member')
  return E.right(event)
}

/** Nothing of a tombstone is proved but its envelope and body: it may hold no other member than `kept`. */
const tombstoneEvent = (line: Line, event: Event): E.Either<string, Event> => {
  const isWhole =
    Object.keys(event).every((member) => inTombstone.has(member)) &&
    event.redacted === true &&
    event.body === bodyOf(line)
  return isWhole ? E.right(event) : E.left('a redacted event holds more than its hash and what was kept')
}

/** The payload bytes' hash of a line, as its id was taken over it. */
export const bodyOf = (line: Line): string => {
  const start = envelopeText(line.id, line).length
  return tombstoneBody(line.bytes, start) ?? bodyHash(line.bytes, start)
}
