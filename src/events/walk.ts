import type { EventId } from './event.js'
import type { Line } from './line.js'
import type { EventLog, ReadOptions } from './log.js'
import { onceEach, pathTo, treeOf } from './tree.js'

/** An event on a path, and the notes that hang on it, first to last. */
export interface Step {
  readonly line: Line
  readonly notes: readonly Line[]
}

/**
 * From an event up to the root, nearest first: compares ids line by line from the log's end and gives only lines on the
 * path (INV-11: it reads no further than the caller goes). `leaf` null: the head. Ends early where the caller returns.
 *
 * Where the way breaks off, one forward pass says what is wrong (INV-4), or finds what a reader from the end could not.
 */
export async function* walkBack(
  log: EventLog,
  session: EventId,
  leaf: EventId | null,
  options: ReadOptions = {},
): AsyncGenerator<Step> {
  const notes = new Map<EventId, Line[]>()
  let wanted = leaf
  let given = 0
  for await (const batch of log.readBackward(session, options)) {
    for (const line of batch) {
      if (line.note) {
        stash(notes, line)
      } else if (wanted === null || line.id === wanted) {
        yield { line, notes: onceEach(notes.get(line.id) ?? []).toReversed() }
        given++
        if (line.parent === null) return
        wanted = line.parent
      }
    }
  }
  yield* walkForward(log, session, leaf, given, options)
}

const stash = (notes: Map<EventId, Line[]>, note: Line): void => {
  if (note.parent === null) return
  const held = notes.get(note.parent)
  if (held === undefined) notes.set(note.parent, [note])
  else held.push(note)
}

/** The rest of a path (after the first `given` steps) by one forward pass, which rejects at damage. */
async function* walkForward(
  log: EventLog,
  session: EventId,
  leaf: EventId | null,
  given: number,
  options: ReadOptions,
): AsyncGenerator<Step> {
  const lines: Line[] = []
  for await (const batch of log.readForward(session, options)) lines.push(...batch)
  const tree = treeOf(lines)
  if (tree === null) return
  const notes = new Map<EventId, Line[]>()
  for (const line of lines) if (line.note) stash(notes, line)
  const path = pathTo(tree, leaf ?? tree.head).toReversed()
  for (const line of path.slice(given)) yield { line, notes: onceEach(notes.get(line.id) ?? []) }
}
