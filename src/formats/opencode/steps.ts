import type { Json } from '../remainder.js'

/** A reply goes in steps, each a request of its own: what comes after a result is another message to the model. */
export class Steps {
  group: string
  #count = 1
  #isEmpty = true
  #hasCalled = false

  constructor(readonly message: string) {
    this.group = message
  }

  groupOf({ type }: Json): string {
    const isNext = type === 'step-start' ? !this.#isEmpty : this.#hasCalled && speaks.has(type)
    if (isNext) {
      this.group = `${this.message}#${++this.#count}`
      this.#hasCalled = false
    }
    this.#isEmpty = type === 'step-start'
    this.#hasCalled ||= type === 'tool'
    return this.group
  }
}

const speaks: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'file'])
