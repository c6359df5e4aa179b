import type { EventItem, Item } from '../format.js'
import { countIn, listIn, objectIn, spokenText, textIn, titleOf } from '../members.js'
import { PromptTitle } from '../prompt-title.js'
import { RecentNodes } from '../recent.js'
import { isObject, type Json, remainder, sameJson } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { type Placing, Thread } from '../thread.js'
import { epoch } from '../time.js'
import { compactedEvent } from './compacted.js'
import { partsOf } from './content.js'
import { Replies } from './groups.js'
import { type Mapped, messageOf, type Outcome, saidItem, saidType } from './item.js'
import { sessionItem } from './meta.js'
import { outcomeOf } from './outcome.js'
import { type CodexRecord, kindOf, timeOf } from './record.js'
import { Spoken } from './spoken.js'
import { Turns } from './turns.js'
import { saidUsage, usageOf } from './usage.js'

/** One line on its way into items. */
interface Place {
  readonly thread: Thread
  readonly record: CodexRecord
  readonly key: string
}

/** Turns the lines of one rollout into items: a chain; a rollback goes back on it. */
export class Rollout {
  #thread: Thread | null = null
  #meta: CodexRecord | null = null
  #isBare = false
  #model: string | null = null
  #provider: string | null = null
  #total: unknown = null
  readonly #replies = new Replies()
  readonly #turns = new Turns()
  readonly #outcomes = new Map<string, Outcome>()
  readonly #spoken = new Spoken()
  readonly #naming = new PromptTitle()

  constructor(
    readonly source: string,
    readonly remarks: Remarks,
  ) {}

  get thread(): Thread | null {
    return this.#thread
  }

  take(record: CodexRecord): Item[] {
    const begun = this.#thread === null ? [this.#begin(record)] : []
    const thread = this.#thread as unknown as Thread
    if (record === this.#meta) return begun
    const at = timeOf(record)
    if (at === null) thread.say('record without a time, or with a malformed one: the one before it counts')
    thread.timeIs(at)
    const kind = kindOf(record)
    if (record.type === 'session_meta' && this.#meta !== null && sameJson(record.value, this.#meta.value)) {
      thread.say('session_meta stands in the file again, unchanged: left out', record.line)
      return begun
    }
    const key = thread.unused(`${kind}#${record.hash.slice(0, 16)}`)
    return [...begun, ...this.#carry({ thread, record, key })]
  }

  #begin(record: CodexRecord): Item {
    const at = timeOf(record)
    const item = sessionItem(this.source, record, at ?? epoch)
    this.#thread = new Thread(item.session, item.at, this.remarks, new RecentNodes())
    this.#isBare = record.isBare
    if (record.type === 'session_meta') {
      this.#meta = record
      this.#provider = textIn(record.payload, 'model_provider')
    } else this.#thread.say('file does not begin with its session_meta: Codex would not open it')
    if (at === null) this.#thread.say('session names no time: set to 1970-01-01')
    return item
  }

  #carry(place: Place): Item[] {
    const { type } = place.record
    if (type === 'response_item') return this.#item(place)
    if (type === 'event_msg') return this.#event(place)
    if (type === 'turn_context') return this.#context(place)
    if (type === 'compacted') return this.#compacted(place)
    return this.#custom(place)
  }

  /** The line that a writer gives of what an event says, in the file's own manner. */
  #said({ thread, record }: Place, payload: Json): Json {
    return this.#isBare ? payload : { timestamp: thread.at, type: record.type, payload }
  }

  #from({ record }: Place): Pick<Placing, 'line' | 'raw'> {
    return { line: record.line, raw: record.raw }
  }

  #custom(place: Place, why = ''): Item[] {
    const { thread, record, key } = place
    const kind = kindOf(record)
    thread.say(`${kind} record kept as a custom event${why}`)
    const detail = kind.slice(record.type.length + 1)
    const said = this.#said(place, detail === '' ? {} : { type: detail })
    const payload = { name: `codex:${kind}`, data: remainder(record.value, said) ?? {} }
    return [thread.append({ ...this.#from(place), key, type: 'custom', payload })]
  }

  #item(place: Place): Item[] {
    const { record, key } = place
    const mapped = messageOf(record.payload, key, (call) => this.#outcomes.get(call))
    if (mapped === null) return this.#custom(place)
    const { payload, results } = mapped
    // A later call may have the same id: this was told of one.
    for (const call of results) this.#outcomes.delete(call)
    if (payload.role === 'user' && this.#spoken.isRepeated(payload.content, 'item'))
      return this.#custom(place, ': an event before it says the same')
    const said = saidItem(payload, textIn(record.payload, 'type') ?? saidType(payload))
    return [this.#message(place, mapped, said), ...this.#promptTitle(place, payload)]
  }

  #promptTitle(place: Place, { role, visible, content }: Json): Item[] {
    const title = role === 'user' && visible !== false ? this.#naming.of(spokenText(content)) : null
    if (title === null) return []
    const { thread, record, key } = place
    const payload = { title, by: 'auto' }
    return [thread.annotate({ line: record.line, key: `${key}#title:prompt`, type: 'title', payload })]
  }

  #message({ thread, record, key }: Place, mapped: Mapped, said: Json): EventItem {
    const { payload, calls, results } = mapped
    const { role } = payload
    const isPrompt = role === 'user' && payload.visible !== false
    if (isPrompt) this.#turns.prompt(thread.tip)
    if (role === 'user' || role === 'system') this.#replies.end()
    if (role === 'tool') this.#replies.results()
    if (role === 'assistant') this.#spoken.clear()
    const item = thread.append({
      ...this.#from({ thread, record, key }),
      key,
      type: 'message',
      payload: role === 'assistant' ? this.#replied(payload, this.#replies.speak(key, calls)) : payload,
      calls,
      results,
      isTurn: isPrompt,
      extra: remainder(record.value, this.#said({ thread, record, key }, said)),
    })
    if (thread.tip !== null) this.#spoken.add(payload, thread.tip)
    return item
  }

  #replied(payload: Json, group: string): Json {
    return {
      ...payload,
      ...(this.#model === null ? {} : { model: this.#model }),
      ...(this.#provider === null ? {} : { provider: this.#provider }),
      group,
    }
  }

  #event(place: Place): Item[] {
    const { thread, record, key } = place
    const { payload, line } = record
    const outcome = outcomeOf(payload)
    if (outcome !== null) this.#outcomes.set(outcome.call, outcome)
    switch (textIn(payload, 'type')) {
      case 'user_message':
        return this.#userMessage(place)
      case 'agent_message':
      case 'agent_reasoning':
        this.#replies.speak(key)
        return this.#custom(place, ': a response item says the same')
      case 'token_count':
      case 'turn.completed':
        return this.#cost(place)
      case 'task_started':
        this.#turns.start(thread.tip)
        this.#replies.end()
        return this.#custom(place)
      case 'task_complete':
        this.#turns.end()
        return [...this.#custom(place), ...thread.status(key, 'completed', line)]
      case 'turn_aborted':
        this.#turns.end()
        return [...this.#custom(place), ...thread.status(key, 'interrupted', line)]
      case 'error':
      case 'stream_error':
        return [...this.#custom(place), ...thread.status(key, 'failed', line, reasonIn(payload))]
      case 'thread_rolled_back':
        return this.#rolledBack(place)
      case 'thread_name_updated':
        return this.#named(place)
    }
    return this.#custom(place)
  }

  /** The user's words: nearly always told again after their response item; older and foreign files tell them here alone. */
  #userMessage(place: Place): Item[] {
    const { payload } = place.record
    const text = textIn(payload, 'message')
    if (text === null || this.#spoken.isRepeated(text, 'event'))
      return this.#custom(place, ': a response item says the same')
    const images = listIn(payload, 'images').map((url) => ({ type: 'input_image', image_url: url }))
    const content =
      images.length === 0 ? text : partsOf([{ type: 'input_text', text }, ...images], 'input_text')
    const mapped = { payload: { role: 'user', content }, calls: [], results: [] }
    const said = { type: 'user_message', message: text }
    return [this.#message(place, mapped, said), ...this.#promptTitle(place, mapped.payload)]
  }

  /** What a reply cost: an event of the reply's group. The same totals again are no new cost. */
  #cost(place: Place): Item[] {
    const { thread, record, key } = place
    const info = objectIn(record.payload, 'info')
    const isTokens = textIn(record.payload, 'type') === 'token_count'
    const usage = usageOf(isTokens ? info.last_token_usage : record.payload.usage)
    const total = info.total_token_usage
    if (usage === undefined || (isObject(total) && sameJson(total, this.#total))) return this.#custom(place)
    this.#total = total
    const told = saidUsage(usage)
    const said = isTokens
      ? { type: 'token_count', info: { last_token_usage: told } }
      : { type: 'turn.completed', usage: told }
    return [
      thread.append({
        ...this.#from(place),
        key,
        type: 'message',
        payload: this.#replied({ role: 'assistant', content: null, usage }, this.#replies.cost(key)),
        extra: remainder(record.value, this.#said(place, said)),
      }),
    ]
  }

  /** The last turns are undone: the head goes back to before them. */
  #rolledBack(place: Place): Item[] {
    const { thread, record, key } = place
    const before = this.#turns.back(countIn(record.payload, 'num_turns') ?? 0)
    this.#replies.end()
    if (before === undefined) return this.#custom(place, ': there is no turn before it')
    const moves = before === null ? [] : thread.moveTo(before, `${key}#move`, 'undo', record.line)
    thread.stand(before)
    return [...moves, ...this.#custom(place)]
  }

  #named(place: Place): Item[] {
    const { thread, record, key } = place
    const name = textIn(record.payload, 'thread_name')
    const title = name === null ? '' : titleOf(name)
    if (title === '') return this.#custom(place)
    this.#naming.named()
    const said = { type: 'thread_name_updated', thread_name: title }
    const extra = remainder(record.value, this.#said(place, said))
    const payload = { title, by: 'import' }
    return [thread.annotate({ ...this.#from(place), key, type: 'title', payload, extra })]
  }

  /** What goes with every request of a turn. */
  #context(place: Place): Item[] {
    const { thread, record, key } = place
    const { model, ...params } = record.payload
    if (typeof model !== 'string' || record.isBare) return this.#custom(place)
    this.#model = model
    const payload = {
      model,
      ...(this.#provider === null ? {} : { provider: this.#provider }),
      params,
    }
    const extra = remainder(record.value, this.#said(place, record.payload))
    return [thread.annotate({ ...this.#from(place), key, type: 'request', payload, extra })]
  }

  #compacted(place: Place): Item[] {
    const { thread, record, key } = place
    this.#replies.end()
    const event = compactedEvent(record.payload, thread.tip, this.#spoken)
    if (event.through === null) {
      thread.say('compaction that covers nothing kept as a custom event that the model reads')
      const data = remainder(record.value, this.#said(place, event.said)) ?? {}
      const payload = { name: 'codex:compacted', data, content: event.summary }
      return [thread.append({ ...this.#from(place), key, type: 'custom', payload })]
    }
    const { through } = event
    return [
      thread.append({
        ...this.#from(place),
        key,
        type: 'compaction',
        payload: (idOf) => event.payload(idOf, through),
        through,
        extra: remainder(record.value, this.#said(place, event.said)),
      }),
    ]
  }
}

const reasonIn = (payload: Json): string | undefined =>
  textIn(payload, 'message') ?? textIn(objectIn(payload, 'error'), 'message') ?? undefined
