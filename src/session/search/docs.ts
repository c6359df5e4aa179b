import * as E from 'fp-ts/lib/Either.js'
import type { BlobRef } from '../../events/content.js'
import { type Damage, Damaged, NotFound } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { eventsOf } from '../../events/event-of.js'
import { type Line, parseLine } from '../../events/line.js'
import type { EventLog } from '../../events/log.js'
import { isSearched, roleOf, textsOf } from './texts.js'

/** What a search looks at of one event. */
export interface Doc {
  readonly event: EventId
  readonly at: string
  readonly type: string
  /** Of a message; null for titles, summaries and the like. */
  readonly role: string | null
  /** Where its line begins in the log, in bytes. */
  readonly offset: number
  readonly texts: readonly string[]
}

export interface DocsRead {
  /** The batch's searched events. */
  readonly docs: readonly Doc[]
  /** Of all the batch's lines: where a later read may go on is the last one's place. */
  readonly first: Line
  readonly last: Line
}

/**
 * The searched events of a log, first to last, read past damage (INV-4: what was skipped goes to `report`). `from`: the
 * start of a line. Rejects with the log's tagged errors where nothing can be read.
 */
export async function* docsIn(
  log: EventLog,
  session: EventId,
  { from = 0, report }: { readonly from?: number; readonly report: (damage: Damage) => void },
): AsyncGenerator<DocsRead> {
  for await (const lines of log.readForward(session, { salvage: true, from, report })) {
    const docs: Doc[] = []
    for (const line of lines) {
      const doc = isSearched(line.type) ? await docOf(log, session, line, report) : null
      if (doc !== null) docs.push(doc)
    }
    yield { docs, first: lines[0] as Line, last: lines[lines.length - 1] as Line }
  }
}

/** Null where the line, which proves itself, is no JSON; that is told. */
export const docOf = async (
  log: EventLog,
  session: EventId,
  line: Line,
  report: (damage: Damage) => void,
): Promise<Doc | null> => {
  const parsed = parseLine(line)
  if (E.isLeft(parsed)) {
    eventsOf([line], session, { salvage: true, report })
    return null
  }
  const event = parsed.right
  const texts = await textsOf(event, (ref) => loadBlob(log, session, ref, report))
  return { event: line.id, at: line.at, type: line.type, role: roleOf(event), offset: line.offset, texts }
}

const loadBlob = async (
  log: EventLog,
  session: EventId,
  ref: BlobRef,
  report: (damage: Damage) => void,
): Promise<Buffer | null> => {
  try {
    return await log.blobs.get(session, ref)
  } catch (error) {
    const isMissing = error instanceof NotFound
    if (!isMissing && !(error instanceof Damaged)) throw error
    const detail = `blob ${ref.$blob} is ${isMissing ? 'missing' : 'damaged'}`
    report({ kind: 'blob', line: 0, offset: 0, bytes: ref.bytes, detail })
    return null
  }
}
