import type { EventItem, Item } from '../format.js'
import { isFiniteNumber, textIn, titleOf } from '../members.js'
import { isObject, remainder } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { coverable, isAbove, Thread } from '../thread.js'
import { epoch, normalTime } from '../time.js'
import { contentOf, saidContent } from './blocks.js'
import {
  custom,
  from,
  messageItems,
  note,
  type Place,
  type Placed,
  saidOf,
  title,
  usageNote,
} from './entries.js'
import { type Entry, isOwnId, saidEnvelope } from './entry.js'
import { sessionItem } from './header.js'
import { messageOf, usageOf } from './message.js'
import { customSpeech, summarySpeech } from './own.js'

/** Turns the entries of one file into items: a tree by `parentId`, a chain where entries have none (version 1). */
export class Branches {
  #thread: Thread | null = null
  #header: Entry | null = null
  readonly #placed = new Map<string, Placed>()
  readonly #hashes = new Map<string, string>()
  readonly #awaited = new Set<string>()
  /** Every entry in the order of the file, the header among them: version 1 names them by their place. */
  readonly #order: Placed[] = []

  constructor(
    readonly source: string,
    readonly remarks: Remarks,
  ) {}

  take(entry: Entry): Item[] {
    const begun = this.#thread === null ? [this.#begin(entry)] : []
    const thread = this.#thread as unknown as Thread
    if (entry === this.#header) {
      this.#order.push(null)
      return begun
    }
    const at = normalTime(entry.value.timestamp)
    if (at === null) thread.say('entry without a time, or with a malformed one: the one before it counts')
    thread.timeIs(at)
    const items = this.#repeated(thread, entry) ?? this.#carry(thread, entry)
    this.#order.push(thread.tip)
    return [...begun, ...items]
  }

  #begin(entry: Entry): Item {
    const at = normalTime(entry.value.timestamp)
    const item = sessionItem(this.source, entry, at ?? epoch)
    this.#thread = new Thread(item.session, item.at, this.remarks)
    if (entry.type === 'session') this.#header = entry
    else this.#thread.say('file does not begin with its header: Pi would not open it')
    if (at === null) this.#thread.say('session names no time: set to 1970-01-01')
    return item
  }

  /** An id that stands twice: in Pi the last one counts. null: its first time. */
  #repeated(thread: Thread, entry: Entry): Item[] | null {
    const { id, hash, line } = entry
    const name = entry.type === 'session' ? 'session#header' : id
    if (name === null) return null
    const before = this.#hashes.get(name) ?? (entry.type === 'session' ? this.#header?.hash : undefined)
    this.#hashes.set(name, hash)
    if (before === undefined) return null
    if (before === hash) {
      thread.say('entry stands in the file again, unchanged: left out', line)
      return []
    }
    const key = thread.unused(`${name}#${hash.slice(0, 16)}`)
    const target = id === null ? undefined : this.#placed.get(id)
    const mapped = isObject(entry.value.message) ? messageOf(entry.value.message, key, thread.at) : null
    const replacement = mapped?.payload.content ?? null
    if (!target || target.key !== id || replacement === null) {
      thread.say('entry repeats the id of another: kept beside it as a custom event')
      const payload = { name: `pi:repeated:${entry.type}`, data: entry.value }
      return [thread.append({ ...from(entry), key, type: 'custom', payload })]
    }
    thread.say('entry repeats the id of another with another content: kept as an edit of the first')
    const payload: EventItem['payload'] = (idOf) => ({ target: idOf(target.key), replacement })
    return [thread.append({ ...from(entry), key, type: 'edit', payload, extra: entry.value })]
  }

  #carry(thread: Thread, entry: Entry): Item[] {
    const { id, type, hash } = entry
    if (id !== null && this.#awaited.delete(id))
      thread.say('entry stands after one that names it as its parent')
    const on = this.#parentOf(thread, entry)
    const key =
      id !== null && isOwnId(id) && !this.#placed.has(id) ? id : thread.unused(`${type}#${hash.slice(0, 16)}`)
    const place: Place = { thread, entry, on, key }
    const items = this.#itemsOf(place)
    if (id !== null) this.#placed.set(id, thread.tip)
    return items
  }

  /** Looks back only; whatever cannot be found there is bridged to the entry before. */
  #parentOf(thread: Thread, { value, id }: Entry): Placed {
    const parent = value.parentId
    if (parent === undefined) return thread.tip
    if (parent === null || parent === this.#header?.id) return null
    const found = typeof parent === 'string' ? this.#placed.get(parent) : undefined
    if (found !== undefined) return found
    if (parent === id) thread.say('entry names itself as its parent: hung on the one before')
    else {
      if (typeof parent === 'string') this.#awaited.add(parent)
      thread.say('entry names a parent that does not stand before it: hung on the one before')
    }
    return thread.tip
  }

  #itemsOf(place: Place): Item[] {
    const { value, type } = place.entry
    switch (type) {
      case 'message':
        return messageItems(place)
      case 'compaction':
        return this.#compaction(place)
      case 'branch_summary':
        return custom(place, type, summarySpeech(value))
      case 'custom_message':
        return custom(place, type, customSpeech(value))
      case 'context_edit':
        return this.#edit(place)
      case 'label':
        return this.#label(place)
      case 'session_info':
        return title(place)
      case 'usage':
        return usageNote(place)
    }
    return custom(
      place,
      type,
      null,
      known.has(type) ? undefined : ': this version of Coppice does not know it',
    )
  }

  /** The cut: all before the first entry that is kept. Where that is not on the branch, Pi keeps nothing before it. */
  #compaction(place: Place): Item[] {
    const { thread, entry, on, key } = place
    const { value } = entry
    const named = textIn(value, 'firstKeptEntryId')
    const index = value.firstKeptEntryIndex
    const kept =
      named !== null ? this.#placed.get(named) : this.#order[typeof index === 'number' ? index : -1]
    const isOnPath = kept !== undefined && kept !== null && isAbove(kept, on)
    if (!isOnPath)
      thread.say('compaction whose first kept entry is not on its branch: nothing before it is kept')
    // A note stands for the event that it hangs on, which was before it.
    const upTo = !isOnPath ? on : kept.key === named || named === null ? kept.parent : kept
    const through = coverable(upTo, on)
    const summary = value.summary
    if (through === null || typeof summary !== 'string') {
      return custom(place, 'compaction', summarySpeech(value), ': it covers nothing that is in the file')
    }
    if (through !== upTo)
      thread.say('compaction cut elsewhere: it would leave an open call, or an earlier cut')
    const usage = usageOf(value.usage)
    const { tokensBefore } = value
    const members = {
      summary,
      ...(isFiniteNumber(tokensBefore) ? { tokensBefore } : {}),
      ...(usage === undefined ? {} : { usage }),
    }
    const said = {
      type: 'compaction',
      ...saidEnvelope(key, on?.key ?? null, thread.at),
      summary,
      tokensBefore,
    }
    return [
      thread.append({
        ...from(entry),
        key,
        on,
        type: 'compaction',
        payload: (idOf) => ({ ...members, through: idOf(through.key) }),
        through,
        extra: remainder(value, said),
      }),
    ]
  }

  /** `context_edit`: what the model sees of an entry from here on. */
  #edit(place: Place): Item[] {
    const { thread, entry, on, key } = place
    const { targetId, replacement } = entry.value
    const target = typeof targetId === 'string' ? this.#placed.get(targetId) : undefined
    const content = isObject(replacement) ? contentOf(replacement.content) : null
    if (!target || target.key !== targetId || (replacement !== null && content === null)) {
      return custom(place, 'context_edit', null, ': its target or content cannot be told')
    }
    const told = content === null ? null : { content: saidContent(content) }
    const said = { ...saidOf(place), targetId, replacement: told }
    const payload: EventItem['payload'] = (idOf) => ({ target: idOf(target.key), replacement: content })
    return [
      thread.append({ ...from(entry), key, on, type: 'edit', payload, extra: remainder(entry.value, said) }),
    ]
  }

  #label(place: Place): Item[] {
    const { thread, entry } = place
    const { targetId, label } = entry.value
    const target = typeof targetId === 'string' ? this.#placed.get(targetId) : undefined
    const text = typeof label === 'string' ? titleOf(label) : ''
    if (!target) {
      return custom(place, 'label', null, ': its target does not stand before it')
    }
    if (target.key !== targetId)
      thread.say('label of an entry that is a note here: set on what that hangs on')
    const said = { targetId: target.key, label: text === '' ? undefined : text }
    return note(place, 'label', said, (idOf) => ({
      target: idOf(target.key),
      label: text === '' ? null : text,
    }))
  }
}

/** Types whose entries are events of Pi's own as a matter of course. */
const known = new Set(['model_change', 'thinking_level_change', 'custom', 'session'])
