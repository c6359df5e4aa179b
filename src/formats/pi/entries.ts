import type { EventItem, Item } from '../format.js'
import { textIn, titleOf } from '../members.js'
import { isObject, type Json, remainder } from '../remainder.js'
import type { Node, Placing, Thread } from '../thread.js'
import { type Entry, saidEnvelope } from './entry.js'
import { messageOf, saidMessage, usageOf } from './message.js'
import { commandSpeech, customSpeech, type Speech, summarySpeech } from './own.js'

/** Entries as items, each by itself. */

/** An entry that was read: its event, or for a note the event that it hangs on. */
export type Placed = Node | null

/** An entry on its way into items. */
export interface Place {
  readonly thread: Thread
  readonly entry: Entry
  readonly on: Placed
  readonly key: string
}

export const from = ({ line, raw }: Entry): Pick<Placing, 'line' | 'raw'> => ({ line, raw })

/** What a writer gives of an entry before its own members. */
export const saidOf = ({ thread, entry, on, key }: Place): Json => ({
  type: entry.type,
  ...saidEnvelope(key, on?.key ?? null, thread.at),
})

export const messageItems = (place: Place): Item[] => {
  const { thread, entry, on, key } = place
  const message = isObject(entry.value.message) ? entry.value.message : {}
  const mapped = messageOf(message, key, thread.at)
  if (mapped === null) return ownMessage(place, message)
  const { payload, calls, results, isTurn } = mapped
  const said = { ...saidOf(place), message: saidMessage(payload, thread.at) }
  const item = thread.append({
    ...from(entry),
    key,
    on,
    type: 'message',
    payload,
    calls,
    results,
    isTurn,
    extra: remainder(entry.value, said),
  })
  return [item, ...statusItems(place, payload, message)]
}

const statusItems = ({ thread, entry, key }: Place, payload: Json, message: Json): Item[] => {
  const { line } = entry
  if (payload.stop === 'error')
    return thread.status(key, 'failed', line, textIn(message, 'errorMessage') ?? undefined)
  if (payload.stop === 'aborted') return thread.status(key, 'interrupted', line)
  const isDone = payload.stop === 'stop' || payload.stop === 'length'
  return isDone ? thread.status(key, 'completed', line) : []
}

/** Roles of Pi's own, which Pi gives to the model as the user's words. */
const ownMessage = (place: Place, message: Json): Item[] => {
  const role = typeof message.role === 'string' ? message.role : 'unknown'
  const speech =
    role === 'bashExecution'
      ? commandSpeech(message)
      : role === 'branchSummary' || role === 'compactionSummary'
        ? summarySpeech(message)
        : role === 'custom' || role === 'hookMessage'
          ? customSpeech(message)
          : null
  const told = { message: { role, ...speech?.said } }
  return custom(place, `message:${role}`, speech === null ? null : { content: speech.content, said: told })
}

/** An entry of Pi's own, kept whole; with `speech` the model reads it. */
export const custom = (place: Place, kind: string, speech: Speech | null, why = ''): Item[] => {
  const { thread, entry, on, key } = place
  thread.say(`${kind} entry kept as a custom event${speech === null ? '' : ' that the model reads'}${why}`)
  const data = remainder(entry.value, { ...saidOf(place), ...speech?.said }) ?? {}
  const payload = { name: `pi:${kind}`, data, ...(speech === null ? {} : { content: speech.content }) }
  return [thread.append({ ...from(entry), key, on, type: 'custom', payload })]
}

/** In Pi a note is an entry like any other, and the leaf is the last entry: the head goes to where the note hangs. */
export const note = (
  place: Place,
  type: string,
  members: Json,
  payload: EventItem['payload'] | Record<string, unknown>,
): Item[] => {
  const { thread, entry, on, key } = place
  const moves = on === null ? [] : thread.moveTo(on, `${key}#move`, 'checkout', entry.line)
  thread.stand(on)
  const extra = remainder(entry.value, { ...saidOf(place), ...members })
  return [...moves, thread.annotate({ ...from(entry), key, type, payload, extra }, on)]
}

/** `session_info`: the name that its user gave the session. */
export const title = (place: Place): Item[] => {
  const name = place.entry.value.name
  const text = typeof name === 'string' ? titleOf(name) : ''
  if (text === '') return custom(place, 'session_info', null)
  if (text !== (name as string).trim()) place.thread.say('title longer than 200 characters was cut')
  return note(place, 'title', { name: text }, { title: text, by: 'import' })
}

const purposes = new Set(['title', 'compaction', 'aside'])

/** `usage`: costs outside a message. */
export const usageNote = (place: Place): Item[] => {
  const { value } = place.entry
  const usage = usageOf(value.usage)
  if (usage === undefined) return custom(place, 'usage', null)
  const kind = typeof value.kind === 'string' && purposes.has(value.kind) ? value.kind : 'aside'
  const model = textIn(value, 'model')
  const payload = { for: kind, usage, ...(model === null ? {} : { model }) }
  return note(place, 'usage', { kind, model: model ?? undefined }, payload)
}
