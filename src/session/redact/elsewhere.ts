import { Tagged } from '../../events/errors/index.js'
import type { Event, EventId } from '../../events/event.js'
import { eventsOf } from '../../events/event-of.js'
import { isSessionId } from '../../events/file-log/file-log.js'
import type { EventLog } from '../../events/log.js'
import { recordOf, stringOf } from '../../projections/members.js'
import type { Home } from '../store/home.js'
import { workspaceLayout } from '../store/layout.js'
import { type Place, placesIn } from '../store/places.js'
import type { Elsewhere } from './redacted.js'

/** What tells an event of another session for a copy of one of these: their ids, and where they came from. */
export const marksOf = (events: readonly Event[]): ReadonlySet<string> =>
  new Set(events.flatMap((event) => [event.id, `coppice ${event.id}`, ...(originOf(event) ?? [])]))

const originOf = (event: Event): readonly [string] | null => {
  const origin = recordOf(event.redacted === true ? recordOf(event.kept)?.origin : event.origin)
  const id = stringOf(origin?.id)
  return id === null ? null : [`${stringOf(origin?.format)} ${id}`]
}

/** Looks through every other log of the store, archived ones too. One that cannot be read is read as far as it can be. */
export const findElsewhere = async (
  home: Home,
  own: { readonly place: Place; readonly id: EventId },
  marks: ReadonlySet<string>,
): Promise<readonly Elsewhere[]> => {
  const found: Elsewhere[] = []
  for (const place of placesIn(home)) {
    const { archive } = workspaceLayout(place.folder)
    for (const [folder, archived] of [
      [place.folder, false],
      [archive, true],
    ] as const) {
      for (const session of home.ports.fs.readDir(folder).filter(isSessionId)) {
        if (session === own.id && folder === own.place.folder) continue
        const events = await copiesIn(home.log(folder), session, marks)
        if (events.length > 0) found.push({ session, workspace: place.path, archived, events })
      }
    }
  }
  return found
}

const copiesIn = async (
  log: EventLog,
  session: EventId,
  marks: ReadonlySet<string>,
): Promise<readonly EventId[]> => {
  const found: EventId[] = []
  try {
    for await (const batch of log.readForward(session, { salvage: true })) {
      const lines = batch.filter(
        (line) => !line.redacted && (marks.has(line.id) || line.bytes.includes('"origin"')),
      )
      for (const event of eventsOf(lines, session, { salvage: true })) {
        const origin = originOf(event)?.[0]
        if (marks.has(event.id) || (origin !== undefined && marks.has(origin))) found.push(event.id)
      }
    }
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
  }
  return found
}
