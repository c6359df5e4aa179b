import * as E from 'fp-ts/lib/Either.js'
import type { Event } from '../../src/events/event.js'
import { noteTypes } from '../../src/events/event.js'
import { encodeLine, parseLine } from '../../src/events/line.js'
import { timeAt } from '../support/logs.js'

/** Writes a log by hand: each event hangs on the one before, or where it is told. */
export class Script {
  readonly events: Event[] = []
  #head: string | null = null

  constructor(payload: object = { format: 1, nonce: '1', workspace: '/w', cwd: '/w' }) {
    this.add('session', payload)
  }

  /** Gives the event's id. A note does not move on. */
  add(type: string, payload: object, parent: string | null = this.#head): string {
    const note = noteTypes.has(type)
    const line = encodeLine({ parent, at: timeAt(this.events.length * 1000), type, note }, payload)
    const event = parseLine(line)
    if (E.isLeft(event)) throw new Error(event.left)
    this.events.push(event.right)
    if (!note) this.#head = line.id
    return line.id
  }

  user(content: unknown, more: object = {}): string {
    return this.add('message', { role: 'user', content, ...more })
  }

  assistant(content: unknown, more: object = {}): string {
    return this.add('message', { role: 'assistant', content, ...more })
  }

  /** An answer that calls one tool. */
  call(id: string, name: string, args: unknown, more: object = {}): string {
    const toolCalls = [{ id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }]
    return this.assistant(null, { toolCalls, ...more })
  }

  result(toolCallId: string, content: unknown, more: object = {}): string {
    return this.add('message', { role: 'tool', toolCallId, content, ...more })
  }

  /** Goes back to an event. */
  back(to: string, reason = 'undo'): string {
    return this.add('head', { to, from: this.#head, reason, row: {} }, to)
  }
}
