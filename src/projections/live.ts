import type { Event, EventId } from '../events/event.js'
import type { Projection } from './projection.js'
import { fold } from './replay.js'

/**
 * A projection kept up to date event by event. A branch projection follows the head: when the head jumps to another
 * path, `path` must give that path's events with their notes, in log order.
 */
export class Live<S, V> {
  #state: S
  #leaf: EventId | null = null
  readonly #onPath = new Set<EventId>()

  constructor(
    readonly projection: Projection<S, V>,
    readonly path: (leaf: EventId) => readonly Event[],
  ) {
    this.#state = projection.initial
  }

  get state(): S {
    return this.#state
  }

  view(): V {
    return this.projection.view(this.#state)
  }

  apply(event: Event): void {
    if (this.projection.scope === 'session') this.#state = this.projection.apply(this.#state, event)
    else if (event.note === true) this.#note(event)
    else if (event.parent === this.#leaf) this.#advance(event)
    else this.#jump(event)
  }

  #note(event: Event): void {
    if (event.parent !== null && this.#onPath.has(event.parent))
      this.#state = this.projection.apply(this.#state, event)
  }

  #advance(event: Event): void {
    this.#state = this.projection.apply(this.#state, event)
    this.#leaf = event.id
    this.#onPath.add(event.id)
  }

  /** The head moved to another path (INV-3: the state is what a replay of that path gives). */
  #jump(event: Event): void {
    const events = this.path(event.id)
    this.#state = fold(this.projection, events)
    this.#leaf = event.id
    this.#onPath.clear()
    for (const { id, note } of events) if (note !== true) this.#onPath.add(id)
  }
}
