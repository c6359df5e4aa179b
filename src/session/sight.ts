import { advancesHead, type Event, type EventId } from '../events/event.js'
import { eventOf } from '../events/event-of.js'
import type { Line } from '../events/line.js'
import type { EventLog, ReadOptions } from '../events/log.js'
import { walkBack } from '../events/walk.js'
import { findLine, findWritten } from './lookup.js'

/** Who is about to append reads the log as that append will leave it. */
export const toAppend: ReadOptions = { closeGaps: true }

/** The log as the session that writes to it sees it: events that wait to be appended stand after the log's own. */
export class Sight {
  readonly #waiting = new Map<EventId, Event>()

  constructor(
    readonly log: EventLog,
    readonly session: EventId,
  ) {}

  add(event: Event): void {
    this.#waiting.set(event.id, event)
  }
  remove(lines: readonly Line[]): void {
    for (const { id } of lines) this.#waiting.delete(id)
  }
  clear(): void {
    this.#waiting.clear()
  }

  /** What kind of event an id names; null where it names none. */
  async kindOf(id: EventId): Promise<{ readonly type: string; readonly note: boolean } | null> {
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) return { type: waiting.type, note: !advancesHead(waiting) }
    return findLine(this.log, this.session, id, toAppend)
  }

  /** From an event up to the root, nearest first. */
  async *walk(leaf: EventId): AsyncGenerator<Event> {
    let at = leaf
    for (let event = this.#waiting.get(at); event !== undefined; event = this.#waiting.get(at)) {
      yield event
      if (event.parent === null) return
      at = event.parent
    }
    for await (const { line } of walkBack(this.log, this.session, at, toAppend))
      yield eventOf(line, this.session)
  }

  /** The event that a line would write again; null where it is new. */
  async written(line: Line): Promise<Event | null> {
    const waiting = this.#waiting.get(line.id)
    if (waiting !== undefined) return waiting
    if (line.parent !== null && this.#waiting.has(line.parent)) return null
    const found = await findWritten(this.log, this.session, line, toAppend)
    return found === null ? null : eventOf(found, this.session)
  }
}
