import { foldShown, foldText, mayHold, placeInShown, shownText } from './fold.js'

/** A hit's surroundings on one line, and where in it the hit stands (UTF-16 places, `to` exclusive). */
export interface Excerpt {
  readonly excerpt: string
  readonly from: number
  readonly to: number
}

/** How much is shown before the hit, of the hit, and in all (UTF-16 units). */
const before = 60
const mostOfHit = 120
const inAll = 200

/** Finds a text in others, ignoring case and how white space is made. */
export class Finder {
  /** As it is compared. */
  readonly folded: string

  readonly #longest: string

  constructor(text: string) {
    this.folded = foldText(text)
    this.#longest = this.folded.split(' ').reduce((a, b) => (b.length > a.length ? b : a))
  }

  /** The first of the texts that holds it, with what stands around it; null where none does. */
  find(texts: readonly string[]): Excerpt | null {
    for (const text of texts) {
      if (!mayHold(text, this.#longest)) continue
      const shown = shownText(text)
      const folded = foldShown(shown)
      const at = folded.indexOf(this.folded)
      if (at < 0) continue
      const { from, to } = placeInShown(shown, at, at + this.folded.length, folded.length)
      return excerptAt(shown, from, to)
    }
    return null
  }
}

const excerptAt = (shown: string, from: number, to: number): Excerpt => {
  const start = wordStart(shown, whole(shown, Math.max(0, from - before)), from)
  const hitEnd = to - from > mostOfHit ? whole(shown, from + mostOfHit) : to
  const end = Math.max(hitEnd, whole(shown, Math.min(shown.length, start + inAll)))
  const head = start > 0 ? '…' : ''
  const tail = end < shown.length ? '…' : ''
  const excerpt = `${head}${shown.slice(start, end)}${tail}`
  return { excerpt, from: head.length + from - start, to: head.length + hitEnd - start }
}

/** A place that is no half of a pair. */
const whole = (text: string, at: number): number =>
  isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at - 1 : at
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** An excerpt does not begin inside a word, where a blank comes soon. */
const wordStart = (shown: string, start: number, from: number): number => {
  if (start === 0) return 0
  const blank = shown.indexOf(' ', start - 1)
  return blank >= 0 && blank < Math.min(from, start + 20) ? blank + 1 : start
}
