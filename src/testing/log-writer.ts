import * as E from 'fp-ts/lib/Either.js'
import { type Event, type EventId, noteTypes } from '../events/event.js'
import { encodeLine, encodeTombstone, type Line, parseLine } from '../events/line.js'
import { pathTo, treeOf } from '../events/tree.js'
import { rowOf } from '../projections/row.js'

const begin = Date.parse('2026-12-01T09:00:00.000Z')

/** Writes events with real ids into an array: each hangs on the last unless told otherwise, a second after it. */
export class LogWriter {
  readonly events: Event[] = []
  readonly #byId = new Map<EventId, Event>()

  /** The last head-advancing event. */
  head: EventId | null = null

  write(
    type: string,
    payload: object = {},
    options: { parent?: EventId | null; redacted?: true; kept?: object } = {},
  ): Event {
    const at = new Date(begin + this.events.length * 1000).toISOString()
    const note = noteTypes.has(type)
    const envelope = { parent: options.parent === undefined ? this.head : options.parent, at, type, note }
    const line = encodeLine(envelope, payload)
    const event = parsed(
      options.redacted === true ? encodeTombstone(line.id, envelope, '0'.repeat(64), options.kept) : line,
    )
    this.events.push(event)
    if (!this.#byId.has(event.id)) this.#byId.set(event.id, event)
    if (!note) this.head = event.id
    return event
  }

  root(payload: object = {}): Event {
    return this.write(
      'session',
      { format: 1, nonce: '00', workspace: '/w', cwd: '/w', ...payload },
      { parent: null },
    )
  }

  message(role: string, content: unknown, more: object = {}, parent?: EventId): Event {
    return this.write('message', { role, content, ...more }, parent === undefined ? {} : { parent })
  }

  /** Moves the head: a `head` event on `to`, with the row there. */
  move(
    reason: 'undo' | 'redo' | 'checkout' | 'branch',
    to: EventId,
    from: EventId | null = this.head,
  ): Event {
    return this.write('head', { to, from, reason, row: rowOf(this.path(to)) }, { parent: to })
  }

  /** The events from the root to `leaf`, notes apart. */
  path(leaf: EventId | null = this.head): readonly Event[] {
    const tree = treeOf(this.events)
    return tree === null || leaf === null ? [] : pathTo(tree, leaf)
  }

  event(id: EventId): Event | undefined {
    return this.#byId.get(id)
  }
}

const parsed = (line: Line): Event => {
  const event = parseLine(line)
  if (E.isLeft(event)) throw new Error(event.left)
  return event.right
}
