import type { EventId } from '../event.js'
import type { Line } from '../line.js'

const idAt = 7
const idLength = 32

/**
 * The nodes that a forward reader has seen, to tell whether a parent stands (INV-6). Nearly every line hangs on the one
 * before it, so ids are kept as bytes until some other one is asked for: a set of a million strings costs more than
 * reading and hashing them.
 */
export class Nodes {
  #last: EventId | null = null
  #kept = Buffer.allocUnsafeSlow(1024 * idLength)
  #count = 0
  readonly #set = new Set<EventId>()
  #inSet = 0

  add({ id, bytes }: Line): void {
    this.#last = id
    const end = this.#count * idLength
    if (end === this.#kept.length) this.#kept = Buffer.concat([this.#kept], this.#kept.length * 2)
    // So few bytes are copied faster one by one.
    for (let i = 0; i < idLength; i++) this.#kept[end + i] = bytes[idAt + i] as number
    this.#count++
  }

  has(id: EventId): boolean {
    if (id === this.#last) return true
    for (; this.#inSet < this.#count; this.#inSet++) {
      const at = this.#inSet * idLength
      this.#set.add(this.#kept.toString('latin1', at, at + idLength))
    }
    return this.#set.has(id)
  }
}
