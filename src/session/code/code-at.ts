import { blobRefs, resolveValues } from '../../events/blob.js'
import type { BlobRef } from '../../events/content.js'
import type { Event, EventId } from '../../events/event.js'
import type { CodeState } from '../../events/file-record.js'
import { codeStateOf, tellsOfFiles } from '../../projections/code-state.js'

/** The code state at an event, held so that nobody need walk for it again. */
export interface CodeAt {
  readonly at: EventId
  readonly state: CodeState
}

export type LoadBlob = (ref: BlobRef) => Promise<Buffer>

/** What of an event tells of files. */
const codeMembers = ['files', 'scan', 'unread', 'restore'] as const

/** An event that tells of files, with its lists, which may stand in blobs. */
export const withFiles = async (event: Event, load: LoadBlob): Promise<Event> => {
  const members = Object.fromEntries(
    codeMembers.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
  )
  return blobRefs(members).length === 0 ? event : { ...event, ...(await resolveValues(members, load)) }
}

/** The code state at the first of events given nearest first, up to the root. */
export const loadCode = async (events: AsyncIterable<Event>, load: LoadBlob): Promise<CodeState> => {
  const told: Event[] = []
  for await (const event of events) if (tellsOfFiles(event)) told.push(await withFiles(event, load))
  return codeStateOf(told.reverse())
}

/** The events of a path that tell of files, with their lists, first to last. */
export const filesAlong = async (path: readonly Event[], load: LoadBlob): Promise<readonly Event[]> => {
  const told: Event[] = []
  for (const event of path) if (tellsOfFiles(event)) told.push(await withFiles(event, load))
  return told
}
