import { sha256 } from '../../events/id.js'

/** Ids that other tools accept, derived from ours: the same session gives the same bytes every time. */

const grouped = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')

const variant = (digit: string): string => '89ab'[Number.parseInt(digit, 16) % 4] as string

/** A UUID of the random form (version 4), named by a text. */
export const uuid4 = (text: string): string => {
  const hex = sha256(text)
  return grouped(`${hex.slice(0, 12)}4${hex.slice(13, 16)}${variant(hex[16] as string)}${hex.slice(17, 32)}`)
}

/** A UUID of the time-ordered form (version 7), for a time in ISO 8601 and named by a text. */
export const uuid7 = (at: string, text: string): string => {
  const hex = sha256(text)
  const ms = Math.max(0, Date.parse(at) || 0)
    .toString(16)
    .padStart(12, '0')
  return grouped(`${ms}7${hex.slice(13, 16)}${variant(hex[16] as string)}${hex.slice(17, 32)}`)
}

/** The first free one of: the first `digits` hex digits of the text's hash, then those of the text with a number. */
export class HexIds {
  readonly #taken: Set<string>

  constructor(
    readonly digits: number,
    taken: Iterable<string> = [],
  ) {
    this.#taken = new Set(taken)
  }

  take(text: string, again = 0): string {
    const id = sha256(again === 0 ? text : `${text}#${again}`).slice(0, this.digits)
    if (this.#taken.has(id)) return this.take(text, again + 1)
    this.#taken.add(id)
    return id
  }
}
