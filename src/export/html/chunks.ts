/** Entries in one chunk: the browser lays out and paints a chunk when it comes near the window. */
const mostEntries = 24
const mostChars = 64_000
/** What is built at once when the page opens; the rest is built as it comes near, so that a long page lays out no more than a short one. */
const builtEntries = 120
const builtChars = 400_000

/**
 * Entries of a page in chunks. The first are elements. The others stand in `noscript`: a reader without script sees them
 * as they are, for one with script they are a text until the page's script builds them.
 */
export class Chunks {
  #entries = 0
  #chars = 0
  #pending: string[] = []
  #pendingChars = 0
  #isLate: boolean

  constructor(isLate: boolean) {
    this.#isLate = isLate
  }

  /** Takes one entry; gives what is ready. */
  add(markup: string): string {
    this.#pending.push(markup)
    this.#pendingChars += markup.length
    return this.#pending.length >= mostEntries || this.#pendingChars >= mostChars ? this.flush() : ''
  }

  flush(): string {
    if (this.#pending.length === 0) return ''
    const markup = this.#pending.join('')
    const isLate = this.#isLate || this.#entries > builtEntries || this.#chars > builtChars
    this.#entries += this.#pending.length
    this.#chars += markup.length
    this.#pending = []
    this.#pendingChars = 0
    return isLate ? `<div class="c"><noscript>${markup}</noscript></div>` : `<div class="c">${markup}</div>`
  }
}
