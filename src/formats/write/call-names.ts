import type { EventId } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { Losses } from './losses.js'

/** Ids of calls and names of tools as a model's provider takes them: letters, digits, `_` and `-`; each id once. */
export class CallNames {
  readonly #given = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** `longest`: how many characters it takes. */
  constructor(
    readonly losses: Losses,
    readonly longest: number,
  ) {}

  /** A call that stands in the file as it is. */
  keep(caller: EventId, call: string): void {
    this.#given.set(`${caller} ${call}`, call)
    this.#taken.add(call)
  }

  /** The id of the call that the message of `caller` makes. */
  idOf(caller: EventId, call: string): string {
    const key = `${caller} ${call}`
    const known = this.#given.get(key)
    if (known !== undefined) return known
    const id = this.#free(this.#plain(call) || 'call', key)
    if (id !== call) this.losses.add('call ids', key)
    this.#given.set(key, id)
    this.#taken.add(id)
    return id
  }

  toolOf(name: string): string {
    const given = this.#plain(name) || 'tool'
    if (given !== name) this.losses.add('tool names', name)
    return given
  }

  #plain(text: string): string {
    return text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, this.longest)
  }

  #free(id: string, key: string): string {
    return this.#taken.has(id) ? `${id.slice(0, this.longest - 17)}_${sha256(key).slice(0, 16)}` : id
  }
}
