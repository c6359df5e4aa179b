import type { Event } from '../../events/event.js'
import { eventsOf } from '../../events/event-of.js'
import type { ReportSource } from '../../export/source.js'
import { type Redactor, redactor } from '../../secrets.js'
import type { ReadView, SessionReader } from '../../session/api.js'
import { messageOf } from '../exit.js'

export interface SessionSource {
  readonly source: ReportSource
  /** What was taken out, by kind; empty where nothing is redacted. */
  readonly counts: ReadonlyMap<string, number>
  /** What could not be shown, and why. */
  readonly failures: ReadonlySet<string>
}

export interface SourceOptions {
  readonly view: ReadView
  readonly isRedacted: boolean
  /** Told of each batch of events that was read. */
  readonly read: (events: number) => void
}

/** A session as reports read it: pass by pass, nothing of it held. */
export const sessionSource = async (
  reader: SessionReader,
  { view, isRedacted, read }: SourceOptions,
): Promise<SessionSource> => {
  // Titles are looked at once more than texts: a redactor of their own, so that nothing is counted twice.
  const [texts, titles] = isRedacted ? [await redactor(), await redactor()] : [null, null]
  const failures = new Set<string>()
  return {
    counts: texts?.counts ?? new Map(),
    failures,
    source: {
      events: () => eventsIn(reader, view, read),
      resolve: (value) => reader.resolved(value, view),
      redact: redactWith(texts),
      redactAgain: redactWith(titles),
      changes: async (from, to) => {
        try {
          return await reader.diff(from, to, view)
        } catch (error) {
          failures.add(`code changes could not be read: ${messageOf(error)}`)
          return []
        }
      },
    },
  }
}

const redactWith = (used: Redactor | null): ReportSource['redact'] =>
  used === null ? (value) => Promise.resolve(value) : (value) => used.redactValue(value)

async function* eventsIn(
  reader: SessionReader,
  view: ReadView,
  read: (events: number) => void,
): AsyncGenerator<readonly Event[]> {
  // What hangs on lost lines is bridged over them, which takes the whole log at once.
  if (view.salvage === true) {
    const events = await reader.events(view)
    read(events.length)
    yield events
    return
  }
  for await (const lines of reader.log.readForward(reader.id, view)) {
    const events = eventsOf(lines, reader.id, view)
    read(events.length)
    yield events
  }
}
