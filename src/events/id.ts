import { hash } from 'node:crypto'
import type { EventId } from './event.js'

/** SHA-256 in hex: what names a body, a blob, a gap. */
export const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex')

/** The members of an envelope as the id is taken over them, in the spelling of the line. */
export interface Sealed {
  readonly parent: string | null
  readonly at: string
  readonly type: string
  readonly note: boolean
  readonly body: string
}

/**
 * The id of an event (INV-5): the first 32 hex digits of SHA-256 over the envelope without `id`, and the payload's
 * hash. No canonical JSON: what is hashed is what is stored. `at` and `type` hold no character that JSON would escape.
 */
export const eventId = ({ parent, at, type, note, body }: Sealed): string =>
  idOfSealed(
    `{"parent":${parent === null ? 'null' : `"${parent}"`},"at":"${at}","type":"${type}",${note ? '"note":true,' : ''}"body":"${body}"}`,
  )

/** The id of what it is taken over, as text. */
export const idOfSealed = (sealed: string): EventId => sha256(sealed).slice(0, 32)
