import type { Event } from '../../events/event.js'
import { parsedJson } from '../members.js'
import { isObject, type Json, reunite } from '../remainder.js'
import { extraOf, isOwn, originIn } from '../write/own.js'
import { saidMessage, summaryPrefix } from './message.js'
import { isWrapped, nameIn, wrapResult } from './result.js'

/** Lines of a session that came from Deep Code itself: given back as they were. */

export const format = 'deepcode'

export const keyOf = (event: Event): string => originIn(event, format)?.id ?? ''

/** Whether a line of its own stands for it; what the index said, and what changed in place, has none. */
export const isLine = (event: Event): boolean =>
  isOwn(event, format) &&
  (event.type === 'message' ||
    event.type === 'compaction' ||
    (event.type === 'custom' && String(event.name).startsWith('deepcode:')))

export const isOrphan = (event: Event): boolean =>
  event.type === 'custom' && event.name === 'deepcode:summary' && isOwn(event, format)

/** The line that an event came from, before anything changed in it; the event is resolved. `session`: as its root names it. */
export const ownRecord = (event: Event, session: string): Json => {
  const extra = extraOf(event)
  if (event.type === 'custom') {
    const data = isObject(event.data) ? event.data : undefined
    return event.name === 'deepcode:summary' ? reunite(data, { content: event.content }) : (data ?? {})
  }
  if (event.type === 'compaction') {
    const { covered: _covered, after: _after, ...rest } = extra ?? {}
    return 'content' in rest ? rest : { ...rest, content: `${summaryPrefix}${String(event.summary)}` }
  }
  const { origin: _origin, ...payload } = event
  const missing = extra?.['-']
  const lacksTime = Array.isArray(missing) && missing.includes('createTime')
  const created = lacksTime ? undefined : (extra?.createTime ?? event.at)
  const place = { key: keyOf(event), session, at: event.at }
  return reunite(extra, saidMessage(withForm(payload, extra), place, created))
}

/** A result that was taken out of Deep Code's form goes back into it. */
const withForm = (payload: Json, extra: Json | undefined): Json =>
  payload.role === 'tool' && isWrapped(extra?.meta)
    ? { ...payload, content: wrapResult(String(payload.content), nameIn(extra?.meta), payload.ok !== false) }
    : payload

/** What a summary covers: the keys of messages, and when each was marked. */
export const coveredBy = (compaction: Event): ReadonlyMap<string, unknown> => {
  const covered = extraOf(compaction)?.covered
  return new Map(
    (Array.isArray(covered) ? (covered as unknown[]) : [])
      .filter(isObject)
      .map(({ id, updateTime }) => [String(id), updateTime]),
  )
}

/** The key of the line that stands before a summary's; null: the last one that it covers. */
export const lineBefore = (compaction: Event): string | null => {
  const after = extraOf(compaction)?.after
  return typeof after === 'string' ? after : null
}

/** A commit of the code before a prompt, and when the prompt was marked with it. */
export interface Commit {
  readonly hash: string
  readonly updateTime: unknown
}

/** By the key of the prompt; the last one counts. */
export const commitsIn = (events: readonly Event[]): ReadonlyMap<string, Commit> =>
  new Map(
    events.flatMap((event) => {
      const extra = event.type === 'checkpoint' && isOwn(event, format) ? extraOf(event) : undefined
      const hash = extra?.checkpointHash
      if (typeof hash !== 'string') return []
      const key = keyOf(event).slice(0, -`#checkpoint:${hash}`.length)
      return [[key, { hash, updateTime: extra?.updateTime }] as const]
    }),
  )

/** The source line, where it was kept whole and says what `record` says of all that changes. */
export const rawOf = ({ origin }: Event, record: Json): string | null => {
  const raw = isObject(origin) ? origin.raw : undefined
  if (typeof raw !== 'string') return null
  const text = raw.startsWith('base64:') ? Buffer.from(raw.slice(7), 'base64').toString() : raw
  const value = parsedJson(text)
  const isSame = isObject(value) && changing.every((name) => (value[name] ?? null) === (record[name] ?? null))
  return isSame ? raw : null
}
const changing = ['sessionId', 'compacted', 'checkpointHash', 'updateTime'] as const
