import { sha256 } from '../../events/id.js'

/**
 * Names what was said by its words, since the protocol seldom names it: a message that a load tells again has the name
 * that it had when it was live, here and in another trace of the same session.
 */
export class Keys {
  readonly #known = new Set<string>()
  /** What follows is told again from the beginning; null: it is live. */
  #told: Map<string, number> | null = null

  again(): void {
    this.#told = new Map()
  }

  live(): void {
    this.#told = null
  }

  /** The key of what is said next, and whether that was told already. */
  next(kind: string, said: unknown, id: string | null): { readonly key: string; readonly isKnown: boolean } {
    const base = id === null ? `${kind}#${sha256(JSON.stringify(said)).slice(0, 16)}` : `${kind}:${id}`
    let count = (this.#told?.get(base) ?? 0) + 1
    while (this.#told === null && this.#known.has(keyOf(base, count))) count++
    this.#told?.set(base, count)
    const key = keyOf(base, count)
    const isKnown = this.#known.has(key)
    this.#known.add(key)
    return { key, isKnown }
  }
}

const keyOf = (base: string, count: number): string => (count === 1 ? base : `${base}#${count}`)
