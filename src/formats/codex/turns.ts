import type { Node } from '../thread.js'

/** The user's turns on the branch: where each began, so that a rollback finds its way. */
export class Turns {
  #turns: (Node | null)[] = []
  /** Where the turn stands that `task_started` began; undefined outside one. */
  #started: Node | null | undefined
  #hasPrompt = false

  start(tip: Node | null): void {
    this.#started = tip
    this.#hasPrompt = false
  }

  end(): void {
    this.#started = undefined
  }

  /** The user spoke; `before` is what stood there. What they say within a turn that runs belongs to it. */
  prompt(before: Node | null): void {
    if (this.#started !== undefined && this.#hasPrompt) return
    this.#turns.push(this.#started === undefined ? before : this.#started)
    this.#hasPrompt = true
  }

  /** Drops the last turns; where they began, undefined where there are none. */
  back(count: number): Node | null | undefined {
    const kept = Math.max(0, this.#turns.length - count)
    const before = count > 0 ? this.#turns[kept] : undefined
    this.#turns = this.#turns.slice(0, kept)
    this.end()
    return before
  }
}
