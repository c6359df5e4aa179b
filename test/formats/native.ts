import { type Event, noteTypes } from '../../src/events/event.js'
import type { Json } from '../../src/formats/remainder.js'
import type { Outgoing, Written } from '../../src/formats/writer.js'
import { idFor } from './check-items.js'
import { titleOf } from './round-trip.js'

/** Events for tests of writers: each hangs on the one before, unless it names another by its name. */
export interface Native extends Json {
  readonly name: string
  readonly on?: string
  /** The name that a `branch` event gives. */
  readonly branch?: string
}

const second = (i: number): string => new Date(Date.UTC(2026, 11, 1, 10, 0, i)).toISOString()

/** The id of the event of a name. */
export const idAt = (name: string): string => idFor(`native ${name}`)

const eventOf = ({ name, on, branch, ...said }: Native, before: string, i: number): Event => {
  const members: Json = branch === undefined ? said : { ...said, name: branch }
  const type = typeof members.type === 'string' ? members.type : 'message'
  const note = noteTypes.has(type) ? { note: true as const } : {}
  return {
    id: idAt(name),
    parent: on === undefined ? before : idAt(on),
    at: second(i),
    ...members,
    type,
    ...note,
  }
}

/** What comes after the events of a session, on its head unless the first says otherwise. */
export const goingOn = (session: Outgoing, more: readonly Native[]): Outgoing => {
  let before = session.head
  const added = more.map((one, i) => {
    const event = eventOf(one, before, i)
    if (event.note !== true) before = event.id
    return event
  })
  const events = [...session.events, ...added]
  return { ...session, events, head: before, title: titleOf(events) }
}

/** A session of Coppice's own. */
export const native = (more: readonly Native[], members: Partial<Outgoing> = {}): Outgoing => {
  const root = { id: idAt('root'), parent: null, at: second(0), type: 'session', format: 1, nonce: 'n' }
  const begun: Outgoing = {
    id: root.id,
    events: [root],
    resolve: async (value) => value,
    head: root.id,
    title: null,
    workspace: '/home/u/tea',
    cwd: '/home/u/tea',
    children: [],
  }
  return { ...goingOn(begun, more), ...members }
}

/** The records of each file that is one session's. */
export const recordsOf = async ({ files }: Written): Promise<readonly (readonly Json[])[]> => {
  const found: Json[][] = []
  for (const { content, merge } of files) {
    if (merge !== undefined) continue
    const pieces: Buffer[] = []
    for await (const piece of content()) pieces.push(Buffer.from(piece))
    const text = Buffer.concat(pieces).toString()
    if (!text.endsWith('\n')) throw new Error('the file does not end in a newline')
    found.push(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    )
  }
  return found
}
