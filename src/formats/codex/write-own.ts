import { type Event, type EventId, noteTypes } from '../../events/event.js'
import { isObject, type Json, reunite } from '../remainder.js'
import type { Branch } from '../write/branches.js'
import { extraOf, isOwn, originIn } from '../write/own.js'
import type { Outgoing } from '../writer.js'
import { saidMeta } from './meta.js'
import { kindIn, recordOf } from './said.js'

/** Lines of a session that came from Codex itself: given back as they were. */

export const format = 'codex'
/** The version whose form new lines have. */
const version = '0.171.0'

/** Events that the reader or the importer makes beside a line's own. */
const isDerived = (event: Event): boolean => {
  const id = originIn(event, format)?.id ?? ''
  return (
    event.type === 'session' ||
    event.type === 'head' ||
    event.type === 'status' ||
    (event.type === 'title' && id.includes('#title:')) ||
    (event.type === 'edit' && id.includes('#edit:'))
  )
}

export const isLine = (event: Event): boolean => isOwn(event, format) && !isDerived(event)

/** The kind of line that an own event came from: `event_msg:token_count`. */
export const kindOf = (event: Event): string =>
  kindIn({ key: originIn(event, format)?.id ?? '', type: event.type, payload: event })

/** Every line of the source in its order, what was rolled back included. */
export const allLines = ({ events }: Outgoing): readonly Event[] => events.filter(isLine)

/** The lines of a branch up to `base`, with the notes on it. Nothing of it is rolled back, so no line says so. */
export const linesTo = (session: Outgoing, { path }: Branch, base: Event): readonly Event[] => {
  const end = path.findIndex(({ id }) => id === base.id)
  const kept = new Set<EventId>(path.slice(0, end + 1).map(({ id }) => id))
  return session.events.filter(
    (event) =>
      isLine(event) &&
      kept.has(noteTypes.has(event.type) ? (event.parent ?? '') : event.id) &&
      kindOf(event) !== 'event_msg:thread_rolled_back',
  )
}

/** How a file's own lines are given: as they stood, or in the form that new lines go with. */
export interface Manner {
  /** The file is from before lines had envelopes. */
  readonly isBare: boolean
  /** Lines are added, or left out: numbers of lines would be wrong, and lines need envelopes. */
  readonly isChanged: boolean
}

/** The record of a line; `event` is resolved. */
export const ownRecord = (event: Event, { isBare, isChanged }: Manner): Json => {
  const { origin: _origin, ...payload } = event
  const key = originIn(event, format)?.id ?? ''
  const from = { key, type: event.type, payload, extra: extraOf(event), at: event.at }
  const record = recordOf(from, isBare)
  if (!isChanged) return record
  if (isBare) return { timestamp: event.at, type: kindIn(from).split(':')[0], payload: record }
  const { ordinal: _ordinal, ...rest } = record
  return rest
}

/** The line as the source had it, where it was kept whole and still stands as it was. */
export const rawOf = ({ origin }: Event, { isBare, isChanged }: Manner): string | null => {
  const raw = isObject(origin) ? origin.raw : undefined
  return typeof raw === 'string' && !(isChanged && (isBare || raw.includes('"ordinal"'))) ? raw : null
}

/** What a file's first line says of it beside what the session's root does. */
export interface Heading {
  readonly id: string
  /** The file that it began as a part of. */
  readonly forkedFrom: string | null
  /** The file of the agent that started it, and how many stand above. */
  readonly startedBy: { readonly id: string; readonly depth: number } | null
}

/** The `session_meta` line. `root` is resolved. */
export const metaRecord = (session: Outgoing, root: Event, heading: Heading, manner: Manner): Json => {
  const { id, forkedFrom } = heading
  if (!isOwn(root, format)) return newMeta(session, root, heading)
  const { isBare, isChanged } = manner
  const version = isObject(root.agent) ? textOf(root.agent.version) : null
  const own = originIn(root, format)?.id ?? id
  const record = reunite(extraOf(root), saidMeta(own, textOf(root.cwd), version, root.at, isBare))
  if (!isChanged) return record
  const payload = isBare ? { ...newPayload(session, root, heading), ...record } : (record.payload as Json)
  const { history_mode: mode, ...rest } = payload
  const told = {
    ...rest,
    ...(mode === undefined || mode === 'paginated' ? {} : { history_mode: mode }),
    id,
    ...('session_id' in rest ? { session_id: id } : {}),
    ...(forkedFrom === null ? {} : { forked_from_id: forkedFrom }),
  }
  const { ordinal: _ordinal, ...line } = isBare ? {} : record
  return { timestamp: root.at, type: 'session_meta', ...line, payload: told }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const newMeta = (session: Outgoing, root: Event, heading: Heading): Json => ({
  timestamp: root.at,
  type: 'session_meta',
  payload: newPayload(session, root, heading),
})

/** Names no provider: Codex refuses to go on where it is not the one configured. */
const newPayload = (session: Outgoing, root: Event, { id, forkedFrom, startedBy }: Heading): Json => ({
  id,
  ...(forkedFrom === null ? {} : { forked_from_id: forkedFrom }),
  ...(startedBy === null ? {} : { parent_thread_id: startedBy.id }),
  timestamp: root.at,
  cwd: session.cwd,
  originator: 'coppice',
  cli_version: version,
  source: startedBy === null ? 'cli' : spawned(startedBy),
})

const spawned = ({ id, depth }: { readonly id: string; readonly depth: number }): Json => ({
  subagent: {
    thread_spawn: {
      parent_thread_id: id,
      depth,
      agent_path: null,
      agent_nickname: null,
      agent_role: null,
    },
  },
})
