import { type Event, type EventId, noteTypes } from '../events/event.js'
import { treeOf } from '../events/tree.js'
import { LogWriter } from './log-writer.js'
import { at, isRole, makers } from './payloads.js'
import type { Step } from './step.js'

/** What one writer did: the event, and where that writer stood before it. */
export interface Deed {
  readonly writer: 0 | 1
  readonly stoodAt: EventId
  readonly event: Event
  /** The writer chose to leave where it stood. */
  readonly left: boolean
}

export interface History {
  readonly log: LogWriter
  readonly events: readonly Event[]
  readonly deeds: readonly Deed[]
}

/** Plays steps: two writers on one log, each with a position of its own. */
export const historyOf = (steps: readonly Step[]): History => {
  const pair = new TwoWriters()
  for (const step of steps) pair.take(step)
  return { log: pair.log, events: pair.log.events, deeds: pair.deeds }
}

type Reason = 'undo' | 'redo' | 'checkout' | 'branch'

class TwoWriters {
  readonly log = new LogWriter()
  readonly deeds: Deed[] = []
  readonly #positions: [EventId, EventId]
  readonly #open: Set<EventId>

  constructor() {
    const { id } = this.log.root()
    this.#positions = [id, id]
    this.#open = new Set([id])
  }

  take(step: Step): void {
    const { kind, writer } = step
    const path = this.log.path(this.#positions[writer])
    if (kind === 'follow') this.#positions[writer] = this.log.head ?? this.#positions[writer]
    else if (kind === 'undo' || kind === 'redo' || kind === 'checkout') this.#move(step, path)
    else this.#write(step, path)
  }

  #write(step: Step, path: readonly Event[]): void {
    const written = makers[step.kind]?.(step, path) ?? null
    if (written === null) return
    const { type, payload, on } = written
    if (noteTypes.has(type)) this.log.write(type, payload, { parent: on ?? null })
    else this.#append(step, type, payload)
  }

  #append(step: Step, type: string, payload: object): void {
    const stoodAt = this.#positions[step.writer]
    if (!this.#open.has(stoodAt)) this.#head(step, 'branch', stoodAt, stoodAt, false)
    const parent = this.#positions[step.writer]
    this.#advance(step, this.log.write(type, payload, { parent }), parent, false)
  }

  #head(step: Step, reason: Reason, to: EventId, from: EventId, left: boolean): void {
    this.#advance(step, this.log.move(reason, to, from), from, left)
  }

  #advance({ writer }: Step, event: Event, stoodAt: EventId, left: boolean): void {
    if (left) this.#open.delete(stoodAt)
    this.#open.delete(event.parent ?? '')
    this.#open.add(event.id)
    this.#positions[writer] = event.id
    this.deeds.push({ writer, stoodAt, event, left })
  }

  #move(step: Step, path: readonly Event[]): void {
    const from = this.#positions[step.writer]
    const to = targetOf(step, path, this.log)
    if (to !== null && to !== from) this.#head(step, step.kind as Reason, to, from, true)
  }
}

const targetOf = ({ kind, pick }: Step, path: readonly Event[], log: LogWriter): EventId | null => {
  const last = path.at(-1)
  if (kind === 'redo') return last?.type === 'head' && last.reason === 'undo' ? (last.from as EventId) : null
  const prompts = path.filter((event) => isRole(event, 'user'))
  if (kind === 'undo') return at(prompts, pick)?.parent ?? null
  return at([...(treeOf(log.events)?.nodes.keys() ?? [])], pick) ?? null
}
