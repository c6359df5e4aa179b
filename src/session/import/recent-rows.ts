import type { EventId } from '../../events/event.js'
import type { Row } from '../../projections/row.js'

/** What rows may take in memory, roughly (bytes): a row holds texts, and a source may have a million of them. */
const mostBytes = 8 * 1024 * 1024
/** Of a row beside its texts. */
const rowBytes = 256

/** The rows of the events that came last. */
export class RecentRows {
  readonly #rows = new Map<EventId, Row>()
  #bytes = 0

  get(id: EventId): Row | undefined {
    return this.#rows.get(id)
  }

  /** `above`: the row that it came of, with which it mostly shares its texts. */
  set(id: EventId, row: Row, above: Row | undefined): void {
    this.#rows.set(id, row)
    this.#bytes += row === above ? 0 : rowBytes + lengthOf(row)
    if (this.#bytes > mostBytes) this.#forget()
  }

  /** The older half; those that go on share what the last of them holds. */
  #forget(): void {
    const ids = [...this.#rows.keys()]
    for (const id of ids.slice(0, Math.ceil(ids.length / 2))) this.#rows.delete(id)
    this.#bytes = Math.floor(this.#bytes / 2)
  }
}

const lengthOf = ({ lastAssistant, lastReasoning, lastTool }: Row): number =>
  sizeOf(lastAssistant) + sizeOf(lastReasoning) + sizeOf(lastTool?.arguments)

const sizeOf = (text: unknown): number => (typeof text === 'string' ? text.length : rowBytes)
