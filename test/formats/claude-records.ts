import { blockOf, blocksOf, type Spoken } from '../../src/formats/claude/blocks.js'
import { saidUsage } from '../../src/formats/claude/usage.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { type Json, reunite } from '../../src/formats/remainder.js'
import { eventsOf, payloadOf } from './check-items.js'

/** Gives the records back from items alone, by line: what a writer will do. */
export const recordsOf = (items: readonly Item[]): Map<number, Json> => {
  const repeated = new Map(
    items.flatMap((item) =>
      item.kind === 'session' ? [[item.session, (item.extra ?? {}) as Json] as const] : [],
    ),
  )
  const byKey = new Map(eventsOf(items).map((item) => [`${item.session} ${item.key}`, item]))
  const above = (item: EventItem): string | null => {
    let key = item.parent
    while (key?.includes('#'))
      key =
        standsFor(byKey.get(`${item.session} ${key}`)) ?? byKey.get(`${item.session} ${key}`)?.parent ?? null
    return key
  }
  /** A result among several carries its line's uuid before `#`; the last of its line stands for it. */
  const standsFor = (item: EventItem | undefined): string | null => {
    if (item === undefined || item.type !== 'message') return null
    const uuid = item.key.split('#')[0] ?? ''
    const ofLine = eventsOf(items).filter((other) => other.line === item.line && other.type === 'message')
    return ofLine[ofLine.length - 1] === item && !['user', 'assistant'].includes(uuid) ? uuid : null
  }
  const lines = new Map<number, EventItem[]>()
  for (const item of eventsOf(items)) {
    if (/#(status|title)$/.test(item.key) || item.type === 'edit' || item.line === undefined) continue
    lines.set(item.line, [...(lines.get(item.line) ?? []), item])
  }
  const records = new Map<number, Json>()
  for (const [line, events] of lines) {
    const first = events[0]!
    const last = events[events.length - 1]!
    const session = repeated.get(last.session) ?? {}
    if (String(payloadOf(last).name).startsWith('claude:repeated'))
      records.set(line, payloadOf(last).data as Json)
    else records.set(line, recordOf(events, last, session, above(first)))
  }
  return records
}

const recordOf = (
  events: readonly EventItem[],
  last: EventItem,
  repeated: Json,
  parentUuid: string | null,
): Json => {
  const payload = payloadOf(last)
  const [uuid = '', rest] = last.key.split('#')
  const isChained = rest === undefined || (payload.role === 'tool' && !uuid.startsWith('user'))
  const envelope = isChained
    ? { ...repeated, uuid, parentUuid, timestamp: last.at }
    : last.type === 'message'
      ? repeated
      : { sessionId: repeated.sessionId }
  const extra = last.extra as Json | undefined
  if (last.type === 'title') {
    const isUsers = payload.by === 'import'
    const name = uuid === 'summary' ? {} : { [isUsers ? 'customTitle' : 'aiTitle']: payload.title }
    return reunite(extra, {
      ...(uuid === 'summary' ? {} : envelope),
      type: isUsers ? 'custom-title' : 'ai-title',
      ...name,
    })
  }
  if (last.type === 'custom') {
    const type = (payload.name as string).split(':')[1]
    const said = ['file-history-snapshot', 'summary'].includes(type ?? '') && !isChained ? {} : envelope
    return reunite(payload.data as Json, { ...said, type })
  }
  if (last.type === 'compaction') {
    const said = {
      type: 'user',
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: 'user', content: saidContent(payload.summary) },
    }
    return reunite(extra, { ...envelope, ...said })
  }
  if (payload.role === 'assistant')
    return reunite(extra, { ...envelope, type: 'assistant', message: saidAssistant(payload, extra) })
  const results = events.map(payloadOf).filter(({ role }) => role === 'tool')
  const text = payload.role === 'user' ? saidContent(payload.content) : []
  const content = results.length === 0 ? text : [...results.map(saidResult), ...(text as unknown[])]
  return reunite(extra, { ...envelope, type: 'user', message: { role: 'user', content } })
}

const saidContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part) => blockOf(part as Json)) : content

const saidResult = (payload: Record<string, unknown>): Json => ({
  type: 'tool_result',
  ...(payload.toolCallId === undefined ? {} : { tool_use_id: payload.toolCallId }),
  ...(payload.content === null ? {} : { content: saidContent(payload.content) }),
  ...(payload.ok === undefined ? {} : { is_error: payload.ok === false }),
})

const saidAssistant = (payload: Record<string, unknown>, extra: Json | undefined): Json => {
  const kept = (extra?.message as Json | undefined)?.content
  return {
    type: 'message',
    role: 'assistant',
    content: kept === undefined ? blocksOf(payload as unknown as Spoken) : undefined,
    stop_reason: payload.stop ?? null,
    stop_sequence: null,
    ...(payload.group === undefined ? {} : { id: payload.group }),
    ...(payload.model === undefined ? {} : { model: payload.model }),
    ...(payload.usage === undefined
      ? {}
      : { usage: saidUsage(payload.usage as Parameters<typeof saidUsage>[0]) }),
  }
}
