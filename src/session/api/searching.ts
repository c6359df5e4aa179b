import type { Damage } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'

/** Search over all conversations. */

/** What is searched for, and where. */
export interface SearchOptions {
  /** Found as it stands within texts, but for case, composition (NFC), and how white space is made. Not white space alone. */
  readonly text: string
  /** Real path; every workspace where absent. */
  readonly workspace?: string
  /** Only in messages of this role. */
  readonly role?: string
  readonly limit?: number
  /** Reads the logs without the index, which changes nothing but the time it takes. */
  readonly scan?: boolean
  /** While the index takes in logs that are new or grew. */
  readonly progress?: (done: number, total: number) => void
  /** Told what of a session could not be read, and of its torn tail; the rest is searched. */
  readonly report?: (problem: SearchProblem) => void
}

export type SearchProblem = { readonly session: EventId } & (
  | { readonly damage: Damage }
  | { readonly error: Error }
)

/** An event that holds the text: a message, or a title, label, branch, summary, edit or an embedder's own, with `role` null. */
export interface SearchHit {
  readonly session: EventId
  readonly workspace: string
  readonly event: EventId
  readonly at: string
  readonly type: string
  /** Of a message. */
  readonly role: string | null
  /** The first hit in it with what stands around it, on one line. */
  readonly excerpt: string
  /** Where in the excerpt the hit stands: from, and to (exclusive), in UTF-16 units. */
  readonly match: readonly [number, number]
}
