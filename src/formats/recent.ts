/**
 * How many records back a reader looks for what a record names: at least so many, at most twice as many. What it holds
 * of a source is bounded by that, however long the source is.
 */
export const reach = 16_384

/** A map that forgets what was put into it longest ago. */
export class Recent<V> {
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  constructor(readonly limit = reach) {}

  get(key: string): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  has(key: string): boolean {
    return this.#young.has(key) || this.#old.has(key)
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.limit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}

/** What hangs on another: it keeps all above it in memory, until the links end. */
interface Hanging {
  parent: object | null
}

/** The nodes of a tree in order. Those that are too far above are forgotten: their links end, so that nothing holds them. */
export class RecentNodes<N extends Hanging> {
  #young: N[] = []
  #old: N[] = []
  #hasForgotten = false

  constructor(readonly limit = reach) {}

  /** Whether there was more than what is still known. */
  get hasForgotten(): boolean {
    return this.#hasForgotten
  }

  push(node: N): void {
    if (this.#young.length >= this.limit) {
      for (const old of this.#old) old.parent = null
      this.#hasForgotten ||= this.#old.length > 0
      this.#old = this.#young
      this.#young = []
    }
    this.#young.push(node)
  }

  *[Symbol.iterator](): Generator<N> {
    yield* this.#old
    yield* this.#young
  }
}
