import type { EventItem, Item } from '../../src/formats/format.js'
import { saidEnd } from '../../src/formats/opencode/info.js'
import { saidReply, saidSpoken, spokenOf } from '../../src/formats/opencode/parts.js'
import { type Json, reunite } from '../../src/formats/remainder.js'
import { eventsOf, payloadOf } from './check-items.js'

/** The records of messages (by id) and parts (by `<message>/<part>`) that events came from, from the events alone. */
export const opencodeRecords = (items: readonly Item[]): Map<string, Json> => {
  const records = new Map<string, Json>()
  const events = eventsOf(items)
  const results = new Map(events.filter(({ key }) => key.endsWith('#result')).map((one) => [one.key, one]))
  for (const item of events) {
    const payload = payloadOf(item)
    const [key = '', kind] = item.key.split('#')
    if (kind === 'result' || kind === 'status' || kind === 'cleared' || item.type === 'title') continue
    const name = String(payload.name ?? '')
    if (key.includes('/'))
      records.set(key, partRecord(item, key, payload, name, results.get(`${key}#result`)))
    else if (name.startsWith('opencode:revert')) continue
    else if (payload.role === 'assistant') records.set(key, replyRecord(item, key, payload))
    else wholeRecord(item, key, payload).forEach(([at, value]) => void records.set(at, value))
  }
  return records
}

const base = (item: EventItem, id: string): Json => ({
  id,
  sessionID: item.session,
  time: { created: Date.parse(item.at) },
})

const partRecord = (
  item: EventItem,
  key: string,
  payload: Json,
  name: string,
  result: EventItem | undefined,
): Json => {
  const envelope = { sessionID: item.session, messageID: key.slice(0, key.indexOf('/')) }
  if (item.type === 'custom')
    return reunite(payload.data as Json, { ...envelope, type: name.slice('opencode:part:'.length) })
  const told = saidReply(payload, result === undefined ? null : payloadOf(result))
  return reunite(item.extra as Json | undefined, { ...envelope, ...told })
}

const replyRecord = (item: EventItem, key: string, payload: Json): Json => {
  const said = saidEnd(payload)
  const time = { ...(base(item, key).time as Json), ...((said.time ?? {}) as Json) }
  return reunite(item.extra as Json | undefined, { ...base(item, key), role: 'assistant', ...said, time })
}

/** Events that hold a message with all its parts. */
const wholeRecord = (item: EventItem, key: string, payload: Json): [string, Json][] => {
  const data = (item.type === 'custom' ? payload.data : item.extra) as { info: Json; parts: Json[] }
  const role = payload.role === 'user' ? { role: 'user' } : {}
  const isUnfinished = payload.name === 'opencode:unfinished'
  const info = isUnfinished ? data.info : reunite(data.info, { ...base(item, key), ...role })
  const content = payload.content
  const told = (Array.isArray(content) ? content : [{ type: 'text', text: content }]) as Json[]
  let next = 0
  const parts = data.parts.map((part): [string, Json] => {
    const isWhole = item.type !== 'message' || spokenOf(part) !== null || 'type' in part
    const spoken = isWhole
      ? part
      : reunite(part, { sessionID: item.session, messageID: key, ...saidSpoken(told[next++] ?? {}) })
    return [`${key}/${String(spoken.id)}`, spoken]
  })
  return [[key, info], ...parts]
}
