import type { Entry } from '../model/entry.js'
import { plural } from '../model/quantity.js'
import { entry } from './entries.js'
import { shown } from './escape.js'

/** So many records in a row that say the same are one fold; fewer stand open. */
const least = 4
/** A fold is built at once, so it ends here and the next begins. */
const mostRecords = 200
const mostChars = 500_000

/**
 * Markup of entries, in which a row of quiet records that say the same is one fold: what an importer keeps of another
 * agent's bookkeeping comes by the dozen, and would stand in the way of what was said.
 */
export class Runs {
  #words = ''
  #held: string[] = []
  #chars = 0

  /** Takes one entry; gives what is ready, an item for each entry or fold. */
  take(item: Entry): readonly string[] {
    const words = item.kind === 'mark' && item.tone === 'quiet' && item.target === null ? item.words : null
    const markup = entry(item)
    if (words === null) return [...this.flush(), markup]
    const isFull = this.#held.length >= mostRecords || this.#chars >= mostChars
    const ready = words !== this.#words || isFull ? this.flush() : []
    this.#words = words
    this.#held.push(markup)
    this.#chars += markup.length
    return ready
  }

  flush(): readonly string[] {
    const held = this.#held
    this.#held = []
    this.#chars = 0
    if (held.length < least) return held
    const summary = `<summary>${plural(held.length, 'record')} of ${shown(this.#words)}</summary>`
    return [`<details class="rn">${summary}${held.join('')}</details>\n`]
  }
}
