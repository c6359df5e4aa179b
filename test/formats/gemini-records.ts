import type { EventItem, Item } from '../../src/formats/format.js'
import { byPlace, saidCall } from '../../src/formats/gemini/calls.js'
import { saidSpeech } from '../../src/formats/gemini/message.js'
import { isObject, type Json, reunite } from '../../src/formats/remainder.js'
import { eventsOf, payloadOf } from './check-items.js'

/** The message or record that an event came from, from the events alone. */
export const geminiRecord = (item: EventItem, items: readonly Item[]): Json => {
  const payload = payloadOf(item)
  if (item.type === 'custom') {
    const data = payload.data as Json
    const kind = String(payload.name).slice('gemini:'.length)
    const isRecord = ['$set', '$rewindTo', 'metadata', 'record', 'message'].includes(kind)
    return isRecord ? data : reunite(data, { id: item.key, timestamp: item.at, type: kind })
  }
  const events = eventsOf(items).filter(({ session }) => session === item.session)
  const calls = events.filter((event) => payloadOf(event).group === item.key && callIn(event) !== undefined)
  const said = calls.map((call) => {
    const result = events.find(({ key }) => key === `${call.key}#result`)
    return saidCall(payloadOf(call), result === undefined ? null : payloadOf(result), result?.at ?? null)
  })
  const told = {
    ...saidSpeech(payload, item.key, item.at),
    ...(said.length === 0 ? {} : { toolCalls: byPlace(said) }),
  }
  const record = reunite(item.extra as Json | undefined, told)
  const { toolCalls } = record
  return isObject(toolCalls) ? { ...record, toolCalls: Object.values(toolCalls) } : record
}

const callIn = (event: EventItem): unknown => payloadOf(event).toolCalls
