import { statuses } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { EventItem, Item } from '../format.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** Where the notes of an index entry hang. */
export interface Place {
  readonly session: string
  readonly tip: string | null
  readonly at: string
}

const known: ReadonlySet<string> = new Set(statuses)

/**
 * What the index says of the session, as notes on its last message: each is named by what it says, so that a later
 * import adds one only where it changed. The rest of the entry (usage per model, plan mode, the newest reply) stands in
 * the status note's `extra`: Deep Code counts tokens by session, not by message.
 */
export const entryNotes = (entry: Json, firstPrompt: string | null, place: Place): Item[] => {
  const { session } = place
  const at = normalTime(entry.updateTime) ?? place.at
  const note = (key: string, type: string, payload: Record<string, unknown>, extra?: Json): EventItem => ({
    kind: 'event',
    session,
    key: `${session}#${key}`,
    parent: place.tip,
    at,
    type,
    payload: () => payload,
    ...(extra === undefined ? {} : { extra }),
  })
  const {
    id: _id,
    summary,
    status,
    failReason,
    askPermissions,
    processes,
    updateTime: _updated,
    ...rest
  } = entry
  const name = typeof status === 'string' && known.has(status) ? status : 'pending'
  const reason = typeof failReason === 'string' ? { reason: failReason } : {}
  const asks = askPermissions === undefined ? {} : { asks: askPermissions }
  const unknown = name === status ? {} : { status }
  const given = typeof summary === 'string' ? [...summary.trim()].slice(0, 200).join('').trim() : ''
  const isNamed = given !== '' && summary !== derivedTitle(firstPrompt)
  return [
    ...(isNamed
      ? [
          note(
            `title:${hash(given)}`,
            'title',
            { title: given, by: 'import' },
            summary === given ? undefined : { summary },
          ),
        ]
      : []),
    ...processNotes(processes).map(({ key, payload, extra }) => note(key, 'process', payload, extra)),
    note(
      `status:${hash([name, reason, asks, rest, processes])}`,
      'status',
      { status: name, ...reason, ...asks },
      { ...rest, ...unknown },
    ),
  ]
}

const hash = (value: unknown): string => sha256(JSON.stringify(value)).slice(0, 16)

/** How Deep Code names a session that nobody renamed: 100 UTF-16 units of the first prompt. */
export const derivedTitle = (prompt: string | null): string =>
  prompt === null || prompt === '' ? '[Image Prompt]' : prompt.slice(0, 100)

interface ProcessNote {
  readonly key: string
  readonly payload: Record<string, unknown>
  readonly extra: Json
}

/** Processes that the entry still tracks; an older form holds their start time alone. */
const processNotes = (processes: unknown): ProcessNote[] =>
  Object.entries(isObject(processes) ? processes : {}).flatMap(([pid, given]) => {
    const process: Json = isObject(given) ? given : { startTime: given, command: 'Running process...' }
    const startedAt = normalTime(process.startTime)
    const deadline = normalTime(process.deadlineAt)
    const command = process.command
    if (!/^\d+$/.test(pid) || startedAt === null) return []
    const payload = {
      pid: Number(pid),
      startedAt,
      command: typeof command === 'string' ? command : '',
      state: 'started',
      ...(deadline === null ? {} : { deadline }),
    }
    return [{ key: `process:${pid}:${startedAt}`, payload, extra: process }]
  })
