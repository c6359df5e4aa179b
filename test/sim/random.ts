import type { Random } from '../../src/events/ports.js'

/** Pseudo-random numbers from a seed (splitmix32): the same seed gives the same numbers on every machine. */
export class Seeded implements Random {
  #state: number

  constructor(...seeds: readonly number[]) {
    this.#state = 0x9e3779b9
    for (const seed of seeds) {
      this.#state = (this.#state ^ Math.trunc(seed)) >>> 0
      this.#state = (this.next32() ^ Math.trunc(seed / 2 ** 32)) >>> 0
    }
  }

  next32(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let z = this.#state
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }

  /** 0 to `count` - 1. */
  below(count: number): number {
    return count <= 1 ? 0 : this.next32() % count
  }

  /** `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1)
  }

  chance(share: number): boolean {
    return this.next32() < share * 2 ** 32
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  hex(bytes: number): string {
    let text = ''
    while (text.length < bytes * 2) text += this.next32().toString(16).padStart(8, '0')
    return text.slice(0, bytes * 2)
  }
}
