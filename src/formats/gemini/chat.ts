import { sha256 } from '../../events/id.js'
import type { EventItem, Item } from '../format.js'
import type { JsonRecord } from '../jsonl.js'
import { textIn, titleOf } from '../members.js'
import { type Json, remainder } from '../remainder.js'
import type { Node, Origin, Thread } from '../thread.js'
import { byPlace, callsOf, saidCall } from './calls.js'
import { kindOf, saidSpeech, speechOf, timeOf } from './message.js'

/** A message as it stands in the chat now. */
interface Standing {
  readonly id: string
  /** The key of its first event here; also its group. */
  readonly key: string
  /** What it hangs on. */
  readonly before: Node | null
  hash: string
  content: string
  /** The event that holds its words. */
  readonly speech: Node
  /** Results by call: the event, and what it said; null for a call without one. */
  readonly calls: Map<string, { readonly node: Node; readonly said: string } | null>
}

const hashOf = (value: unknown): string => sha256(JSON.stringify(value) ?? '')

/** One chat: the messages that stand in it, in their order. What a rewind or a new list drops stays as a branch. */
export class Chat {
  #standing: Standing[] = []
  readonly #keys = new Set<string>()

  constructor(readonly thread: Thread) {}

  /** A message: a new one, or one that stands already and says more now. */
  message(record: JsonRecord): Item[] {
    const value = record.value as Json
    const id = textIn(value, 'id') ?? `message#${hashOf(value).slice(0, 16)}`
    const standing = this.#standing.find((one) => one.id === id)
    if (standing === undefined) return this.#add(record, id)
    if (standing.hash !== hashOf(value)) return this.#update(standing, record)
    this.thread.say('message stands in the file again, unchanged: left out', record.line)
    return []
  }

  #add(record: JsonRecord, id: string): Item[] {
    const { thread } = this
    const value = record.value as Json
    const key = this.#keys.has(id) ? thread.unused(`${id}#${hashOf(value).slice(0, 16)}`) : thread.unused(id)
    this.#keys.add(id)
    const before = thread.tip
    this.#timeIs(value)
    const { items, calls, speech } = this.#events(record, key)
    const content = hashOf(speechOf(value, key).content)
    this.#standing.push({ id, key, before, hash: hashOf(value), content, speech, calls })
    return items
  }

  #timeIs(value: Json): void {
    const at = timeOf(value)
    if (at === null)
      this.thread.say('message without a time, or with a malformed one: the one before it counts')
    this.thread.timeIs(at)
  }

  #events(record: JsonRecord, key: string): { items: Item[]; calls: Standing['calls']; speech: Node } {
    const { thread } = this
    const value = record.value as Json
    const from: Origin = { line: record.line, raw: record.raw }
    const calls: Standing['calls'] = new Map()
    const kind = kindOf(value)
    const type = textIn(value, 'type') ?? textIn(value, 'role') ?? 'untyped'
    if (kind === 'other') {
      const data = remainder(value, { id: key, timestamp: thread.at, type }) ?? {}
      thread.say(`${type} message kept as a custom event`)
      const item = thread.append({ ...from, key, type: 'custom', payload: { name: `gemini:${type}`, data } })
      return { items: [item, ...this.#status(key, value, record.line)], calls, speech: thread.tip as Node }
    }
    const payload = speechOf(value, key)
    const told = callsOf(value, key)
    const said = {
      ...saidSpeech(payload, key, thread.at),
      ...(told.length === 0
        ? {}
        : {
            toolCalls: byPlace(told.map((call) => saidCall(call.payload, call.result, call.at ?? thread.at))),
          }),
    }
    const compared = { ...value, ...('toolCalls' in value ? { toolCalls: byPlace(value.toolCalls) } : {}) }
    const extra = remainder(compared, said)
    const item = thread.append({
      ...from,
      key,
      type: 'message',
      payload,
      isTurn: kind === 'user',
      extra,
    })
    const speech = thread.tip as Node
    const more = this.#calls(value, key, calls, record.line)
    const isDone = kind === 'gemini' && told.length === 0
    const status = isDone ? thread.status(key, 'completed', record.line) : []
    return { items: [item, ...more, ...status], calls, speech }
  }

  /** Calls that are new, then results that are; a result that says something else now is an edit. */
  #calls(value: Json, key: string, calls: Standing['calls'], line: number): EventItem[] {
    const { thread } = this
    const told = callsOf(value, key)
    const items: EventItem[] = []
    for (const { id, payload } of told) {
      if (calls.has(id)) continue
      calls.set(id, null)
      items.push(
        thread.append({ key: thread.unused(`${key}#${id}`), type: 'message', payload, calls: [id], line }),
      )
    }
    for (const { id, result, at } of told) {
      if (result === null) continue
      const known = calls.get(id)
      const said = hashOf(result)
      if (known?.said === said) continue
      const place = { line, at: at ?? thread.at }
      if (known === undefined || known === null) {
        const name = thread.unused(`${key}#${id}#result`)
        items.push(thread.append({ ...place, key: name, type: 'message', payload: result, results: [id] }))
        calls.set(id, { node: thread.tip as Node, said })
      } else {
        items.push(this.#edit(known.node, result.content, said, line))
        calls.set(id, { node: known.node, said })
      }
    }
    return items
  }

  #edit(target: Node, replacement: unknown, said: string, line: number, extra?: Json): EventItem {
    const key = this.thread.unused(`${target.key}#${said.slice(0, 16)}`)
    const payload: EventItem['payload'] = (idOf) => ({ target: idOf(target.key), replacement })
    return this.thread.append({ key, type: 'edit', payload, line, extra })
  }

  /** A message that is written again: what it says more is added, what it says otherwise is an edit. */
  #update(standing: Standing, record: JsonRecord): Item[] {
    const { thread } = this
    const value = record.value as Json
    const hash = hashOf(value)
    const { line, raw } = record
    standing.hash = hash
    this.#timeIs(value)
    const payload = speechOf(value, standing.key)
    const items: EventItem[] = []
    const content = hashOf(payload.content)
    const isSpoken = kindOf(value) !== 'other'
    if (isSpoken && content !== standing.content) {
      standing.content = content
      items.push(this.#edit(standing.speech, payload.content, content, line))
      thread.say('message is written again with another content: kept as an edit of the first')
    }
    if (isSpoken) items.push(...this.#calls(value, standing.key, standing.calls, line))
    const key = thread.unused(`${standing.key}#${hash.slice(0, 16)}`)
    const usage = payload.usage
    const rest = usage === undefined || !isSpoken ? {} : { usage }
    // The record itself stands once more, in its message's group, so that what it costs now counts.
    thread.say('message is written again: what it says more is added to it')
    const again =
      kindOf(value) === 'gemini'
        ? { type: 'message', payload: { ...withoutWords(payload), ...rest }, extra: value }
        : { type: 'custom', payload: { name: 'gemini:message', data: value } }
    items.push(thread.append({ key, line, raw, ...again }))
    return items
  }

  #status(key: string, value: Json, line: number): EventItem[] {
    if (value.type === 'error')
      return this.thread.status(key, 'failed', line, textIn(value, 'content') ?? undefined)
    const isCancelled = value.type === 'info' && value.content === 'Request cancelled.'
    return isCancelled ? this.thread.status(key, 'interrupted', line) : []
  }

  /** Drops a message and all after it; an id that does not stand in the chat drops everything, as in Gemini. */
  rewind(id: string, key: string, line: number): Item[] {
    const place = this.#standing.findIndex((one) => one.id === id)
    if (place === -1) this.thread.say('rewind to a message that does not stand in the chat: all were dropped')
    return this.#dropFrom(Math.max(0, place), key, line)
  }

  #dropFrom(place: number, key: string, line: number): Item[] {
    const dropped = this.#standing[place]
    if (dropped === undefined) return []
    const { before } = dropped
    const moves = before === null ? [] : this.thread.moveTo(before, `${key}#move`, 'undo', line)
    this.thread.stand(before)
    this.#standing = this.#standing.slice(0, place)
    return moves
  }

  /** A new list of messages: the same ones that say something else are edited, other ones are a branch. */
  replace(records: readonly JsonRecord[], key: string, line: number): Item[] {
    const ids = records.map(({ value }) => textIn(value as Json, 'id'))
    const isSame = ids.length === this.#standing.length && ids.every((id, i) => id === this.#standing[i]?.id)
    if (isSame)
      return records.flatMap((record, i) => {
        const standing = this.#standing[i] as Standing
        return standing.hash === hashOf(record.value) ? [] : this.#update(standing, record)
      })
    const differs = (i: number): boolean =>
      ids[i] !== this.#standing[i]?.id || this.#standing[i]?.hash !== hashOf(records[i]?.value)
    let kept = 0
    while (kept < Math.min(ids.length, this.#standing.length) && !differs(kept)) kept++
    this.thread.say('list of messages is replaced: what it drops stays as a branch')
    const moves = this.#dropFrom(kept, key, line)
    return [...moves, ...records.slice(kept).flatMap((record) => this.#add(record, this.#idOf(record)))]
  }

  #idOf({ value }: JsonRecord): string {
    return textIn(value as Json, 'id') ?? `message#${hashOf(value).slice(0, 16)}`
  }

  /** What is Gemini's own, kept whole. */
  own(kind: string, data: Json, key: string, from: Origin): EventItem {
    this.thread.say(`${kind} record kept as a custom event`)
    return this.thread.append({ ...from, key, type: 'custom', payload: { name: `gemini:${kind}`, data } })
  }

  /** The summary that Gemini writes of a session: its title, which anything may replace. */
  title(summary: unknown, line?: number): EventItem[] {
    const title = typeof summary === 'string' ? titleOf(summary) : ''
    if (title === '') return []
    if (title !== summary) this.thread.say('title was trimmed, or cut to 200 characters')
    const key = this.thread.unused(`${this.thread.session}#title:${sha256(title).slice(0, 16)}`)
    return [this.thread.annotate({ key, type: 'title', payload: { title, by: 'auto' }, line })]
  }
}

const withoutWords = ({ role, group, model }: Json): Json => ({
  role,
  content: null,
  group,
  ...(model === undefined ? {} : { model }),
})
