import * as E from 'fp-ts/lib/Either.js'
import { InStoredForm, movedOut, storeValues } from '../events/blob.js'
import type { Draft } from '../events/draft.js'
import { Refused } from '../events/errors/index.js'
import type { EventId } from '../events/event.js'
import { encodeText, type Line } from '../events/line.js'
import type { Ports } from '../events/system.js'
import { advances } from './decide.js'

/** A draft's line, and the blobs that it names, by their SHA-256. */
export interface Sealed {
  readonly line: Line
  readonly blobs: ReadonlyMap<string, Buffer>
}

/** Makes lines of drafts: gives each the time and the parent that it lacks, and moves its large values out. */
export class Stamp {
  /** The last time given, in milliseconds and as it stands in the line. */
  #last = 0
  #lastAt = ''

  constructor(readonly ports: Pick<Ports, 'clock'>) {}

  /** `tailAt`: the newest time in the log, '' for none. `parent`: where a draft hangs that does not say; null for a root. */
  seal(draft: Draft, parent: EventId | null, tailAt: string): Sealed {
    const { type, at, parent: named, note: _note, ...payload } = draft
    const { members, blobs } = type === 'request' ? requestMembers(payload) : { members: payload, blobs: [] }
    const stored = storeValues(members)
    if (E.isLeft(stored)) throw stored.left
    const envelope = {
      parent: named ?? parent,
      at: at ?? this.#next(tailAt),
      type,
      note: !advances(draft),
    }
    return {
      line: encodeText(envelope, stored.right.text),
      blobs: new Map([...stored.right.blobs, ...blobs]),
    }
  }

  /** `max(clock, the session object's last + 1 ms, the log's last + 1 ms)`, so that no id comes twice (docs/FORMAT.md). */
  #next(tailAt: string): string {
    const lastInLog = tailAt === this.#lastAt || tailAt === '' ? this.#last : Date.parse(tailAt)
    const ms = Math.max(this.ports.clock.now(), this.#last + 1, lastInLog + 1)
    if (!(ms >= 0 && ms <= lastMs))
      throw new Refused(
        `no time is left after the log's last event (${tailAt})`,
        '',
        'give the draft an `at` of its own',
      )
    this.#last = ms
    this.#lastAt = new Date(ms).toISOString()
    return this.#lastAt
  }
}

/** What goes with many calls of a model and is long: once in a blob, however often a `request` names it. */
const requestMembers = (
  payload: Readonly<Record<string, unknown>>,
): { readonly members: Record<string, unknown>; readonly blobs: readonly (readonly [string, Buffer])[] } => {
  const members: Record<string, unknown> = { ...payload }
  const blobs: (readonly [string, Buffer])[] = []
  for (const name of ['tools', 'instructions']) {
    if (payload[name] === undefined || payload[name] === null) continue
    const moved = movedOut(payload[name])
    members[name] = new InStoredForm(moved.ref)
    blobs.push(...moved.blobs)
  }
  return { members, blobs }
}

/** The last time that a line can hold. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')
