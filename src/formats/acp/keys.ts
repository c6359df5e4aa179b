import { sha256 } from '../../events/id.js'

/**
 * Names what was said by its words, since the protocol seldom names it: a message that a load tells again has the name
 * that it had when it was live, here and in another trace of the same session.
 */
export class Keys {
  readonly #known = new Set<string>()
  #counts = new Map<string, number>()

  /** What follows is told again from the beginning. */
  again(): void {
    this.#counts = new Map()
  }

  /** The key of what is said next, and whether that was told already. */
  next(kind: string, said: unknown, id: string | null): { readonly key: string; readonly isKnown: boolean } {
    const base = id === null ? `${kind}#${sha256(JSON.stringify(said)).slice(0, 16)}` : `${kind}:${id}`
    const count = (this.#counts.get(base) ?? 0) + 1
    this.#counts.set(base, count)
    const key = count === 1 ? base : `${base}#${count}`
    const isKnown = this.#known.has(key)
    this.#known.add(key)
    return { key, isKnown }
  }
}
