import { createHash } from 'node:crypto'
import type { EventId } from '../../events/event.js'
import type { CallView, Entry, Piece } from './entry.js'

/** Shorter texts are shown again: a pointer would tell less than they do. */
const least = 240

/** Remembers what a report showed, and puts a pointer in the place of a text that comes again. */
export class Repeats {
  readonly #seen = new Map<string, EventId>()

  entry(entry: Entry): Entry {
    const pieces = this.#pieces(entry.id, entry.pieces)
    return entry.kind === 'mark'
      ? { ...entry, pieces }
      : { ...entry, pieces, calls: entry.calls.map(this.#call(entry.id)) }
  }

  #call(id: EventId): (call: CallView) => CallView {
    return (call) => ({
      ...call,
      pieces: this.#pieces(id, call.pieces),
      result:
        call.result === null
          ? null
          : { ...call.result, pieces: this.#pieces(call.result.id, call.result.pieces) },
    })
  }

  #pieces(id: EventId, pieces: readonly Piece[]): readonly Piece[] {
    return pieces.map((piece) => this.#piece(id, piece))
  }

  #piece(id: EventId, piece: Piece): Piece {
    if (piece.kind === 'repeat') return piece
    const text = piece.kind === 'image' ? piece.data : piece.text
    if (text.length < least) return piece
    const key = createHash('sha256').update(text).digest('base64').slice(0, 20)
    const of = this.#seen.get(key)
    if (of === undefined) {
      this.#seen.set(key, id)
      return piece
    }
    const label = piece.kind === 'image' ? piece.alt : piece.label
    return { kind: 'repeat', of, chars: text.length, ...(label === undefined ? {} : { label }) }
  }
}
