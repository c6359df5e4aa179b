/**
 * Which items are one reply of the model: Codex writes a line for each, and no id of the reply. A reply ends with the
 * user's words, with its turn, or with the results of its calls once the model speaks again.
 */
export class Replies {
  #group: string | null = null
  #hasUsage = false
  #hasResults = false
  readonly #calls = new Set<string>()

  /** The user, what speaks in their name, or a turn that begins. */
  end(): void {
    this.#group = null
  }

  results(): void {
    this.#hasResults = true
  }

  /** The group of what the model says now; `key` names one that begins. */
  speak(key: string, calls: readonly string[] = []): string {
    const repeats = calls.some((call) => this.#calls.has(call))
    return this.#group === null || this.#hasResults || repeats
      ? this.#begin(key, calls)
      : this.#go(this.#group, calls)
  }

  /** The group whose cost is told now: older versions tell it before the reply, newer ones after. */
  cost(key: string): string {
    const isNext = this.#hasResults && this.#hasUsage
    const group = this.#group === null || isNext ? this.#begin(key, []) : this.#group
    this.#hasUsage = true
    return group
  }

  #begin(key: string, calls: readonly string[]): string {
    this.#group = key
    this.#hasUsage = false
    this.#hasResults = false
    this.#calls.clear()
    return this.#go(key, calls)
  }

  #go(group: string, calls: readonly string[]): string {
    for (const call of calls) this.#calls.add(call)
    return group
  }
}
