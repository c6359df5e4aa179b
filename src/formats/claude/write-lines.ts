import { isObject, type Json } from '../remainder.js'
import type { CallNames } from '../write/call-names.js'
import { uuid4 } from '../write/ids.js'
import type { Losses } from '../write/losses.js'
import { newLine } from '../write/whole.js'
import type { Outgoing } from '../writer.js'

/** A line to be written; what it holds is made when it is asked for. */
export type Making = () => Promise<string | Uint8Array>

/** What writes the steps of a session's branches, those that they share once. */
export interface Scribe {
  readonly session: Outgoing
  readonly format: string
  /** Members that every line repeats, `sessionId` among them. */
  readonly repeated: Json
  readonly losses: Losses
  readonly calls: CallNames
  readonly lines: Making[]
  /** The line that each follows, by `uuid`: a branch that comes to one goes on below it. */
  readonly placed: Map<string, string | null>
}

const uuidOf = ({ repeated }: Scribe, parent: string | null, key: string): string =>
  uuid4(`${String(repeated.sessionId)}\n${parent ?? ''}\n${key}`)

/** Adds a line of the chain, unless another branch did. `record` gives what it says. */
export const add = (
  scribe: Scribe,
  key: string,
  at: string,
  parentUuid: string | null,
  record: () => Promise<Json>,
  /** The line that it follows, where that is not its parent. */
  after = parentUuid,
): string => {
  const uuid = uuidOf(scribe, after, key)
  if (scribe.placed.has(uuid)) return uuid
  scribe.placed.set(uuid, after)
  scribe.lines.push(async () =>
    newLine({ parentUuid, ...scribe.repeated, ...(await record()), uuid, timestamp: at }, scribe.losses, key),
  )
  return uuid
}

/** Whether content says nothing, as far as its structure tells. */
export const isNothing = (content: unknown): boolean =>
  content === undefined ||
  content === null ||
  content === '' ||
  (Array.isArray(content) &&
    content.every((part) => isObject(part) && part.type === 'text' && part.text === ''))
