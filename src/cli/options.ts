import { Usage } from './errors/usage.js'

/** The options of one command as they were given. Each getter checks what it gives. */
export class Options {
  constructor(private readonly given: Readonly<Record<string, unknown>>) {}

  flag(name: string): boolean {
    return this.given[name] === true
  }

  text(name: string): string | undefined {
    const value = this.given[name]
    return typeof value === 'string' ? value : undefined
  }

  /** A whole number from `least` up. */
  count(name: string, least = 0): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const count = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < least)
      throw new Usage(`--${dashed(name)} takes a whole number from ${least} up`, text, 'give a number')
    return count
  }
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
