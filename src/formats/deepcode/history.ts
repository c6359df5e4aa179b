import type { EventId } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { EventItem, Item } from '../format.js'
import type { JsonRecord } from '../jsonl.js'
import { isObject, type Json, remainder } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { epoch, normalTime } from '../time.js'
import type { Indexed } from './index-file.js'
import { checkpointOf, messageOf, summaryPrefix } from './message.js'

/** A summary that waits for its place: Deep Code puts it before messages that were there already when it was made. */
interface Summary {
  readonly key: string
  readonly at: string
  readonly value: Json
  readonly record: JsonRecord
  readonly covered: readonly Covered[]
  /** The last message that it stands after for the model: system messages that stay may follow what it covers. */
  readonly through: string
  /** The key of the line before it, where that is not the last one that it covers. */
  readonly after: string | null
}

/** A message that a summary stands for, and when it was marked as such. */
interface Covered {
  readonly id: string
  readonly updateTime: unknown
}

/** What a system message, or an earlier summary, still tells the model after a compaction. */
interface Kept {
  readonly key: string
  readonly content: unknown
}

/** Turns the lines of one session's file into items: a chain in file order. */
export class History {
  #tip: string | null = null
  /** The key of the last line. */
  #line: string | null = null
  #at: string | null = null
  readonly #hashes = new Map<string, string>()
  #compacted: Covered[] = []
  #hasCompactedSystem = false
  /** The last line, if it and those back to what the next summary covers are system messages, which it does not cover. */
  #staying: string | null = null
  #kept: Kept[] = []
  #waiting: Summary[] = []

  constructor(
    readonly session: string,
    readonly index: Indexed,
    readonly remarks: Remarks,
  ) {}

  get tip(): string | null {
    return this.#tip
  }

  get at(): string {
    return this.#at ?? epoch
  }

  take(record: JsonRecord): Item[] {
    if (!isObject(record.value))
      return [{ kind: 'failed', line: record.line, reason: 'not a message: should be a JSON object' }]
    const { value } = record
    const begun = this.#at === null ? [this.#begin(record, value)] : []
    const at = this.#timeOf(value)
    const key = this.#keyOf(record, value)
    if (key === null) return begun
    const due = isSummary(value) ? [] : this.#placeSummaries(at)
    const carried = this.#carry(record, value, key, at)
    this.#line = key
    return [...begun, ...due, ...carried]
  }

  /** Summaries with nothing after them, and old messages that no summary stands for. */
  end(): Item[] {
    const items = this.#placeSummaries(null)
    for (const { id, updateTime } of this.#compacted) {
      this.remarks.add(
        this.session,
        'message is marked as compacted, but no summary stands for it: hidden from the model by an edit',
      )
      const payload: EventItem['payload'] = (idOf) => ({ target: idOf(id), replacement: null })
      items.push(this.#event(`${id}#compacted`, 'edit', payload, undefined, { updateTime }))
    }
    return items
  }

  #begin({ line }: JsonRecord, value: Json): Item {
    const { workspace, entry } = this.index
    const at = normalTime(value.createTime)
    if (at === null) this.remarks.add(this.session, 'session names no time: set to 1970-01-01')
    this.#at = at ?? epoch
    const from = isObject(entry?.forkedFrom) ? entry.forkedFrom : {}
    const { sessionId, messageId } = from
    return {
      kind: 'session',
      session: this.session,
      at: this.#at,
      workspace,
      cwd: workspace,
      agent: { name: 'deep-code' },
      ...(typeof sessionId === 'string'
        ? { forkedFrom: { session: sessionId, event: typeof messageId === 'string' ? messageId : null } }
        : {}),
      line,
    }
  }

  #timeOf(value: Json): string {
    const at = normalTime(value.createTime)
    if (at === null)
      this.remarks.add(
        this.session,
        'message without a time, or with a malformed one: the one before it counts',
      )
    else this.#at = at
    if (value.sessionId !== this.session)
      this.remarks.add(this.session, 'message carries the id of another session')
    return this.at
  }

  /** A line without an id is named by its hash; so is one that repeats an id with something else. null: nothing new. */
  #keyOf({ text, line }: JsonRecord, value: Json): string | null {
    const hash = sha256(text)
    const id = typeof value.id === 'string' && value.id !== '' ? value.id : `message#${hash.slice(0, 16)}`
    const before = this.#hashes.get(id)
    if (before === undefined) {
      this.#hashes.set(id, hash)
      return id
    }
    const again = `${id}#${hash.slice(0, 16)}`
    if (before === hash || this.#hashes.has(again)) {
      this.remarks.add(this.session, 'message stands in the file again, unchanged: left out', line)
      return null
    }
    this.#hashes.set(again, hash)
    this.remarks.add(this.session, 'message repeats the id of another: both are kept')
    return again
  }

  #carry(record: JsonRecord, value: Json, key: string, at: string): Item[] {
    const mapped = messageOf(value, { key, session: this.session, at })
    if (mapped === null) {
      this.#staying = null
      this.remarks.add(this.session, 'line without a known role or a readable content kept as a custom event')
      return [this.#event(key, 'custom', () => ({ name: 'deepcode:message', data: value }), record)]
    }
    if (isSummary(value) && this.#compacted.length > 0) {
      const after = this.#line === this.#compacted.at(-1)?.id ? null : this.#line
      const through = this.#staying ?? this.#compacted.at(-1)?.id ?? ''
      this.#waiting.push({ key, at, value, record, covered: this.#compacted, through, after })
      this.#compacted = []
      this.#staying = null
      return []
    }
    if (isSummary(value)) return [this.#orphan(record, value, key)]
    const isSystem = value.role === 'system'
    const follows =
      this.#staying !== null || (this.#line !== null && this.#line === this.#compacted.at(-1)?.id)
    this.#staying = follows && isSystem && value.compacted !== true ? key : null
    if (value.compacted === true) {
      this.#compacted.push({ id: key, updateTime: value.updateTime })
      this.#hasCompactedSystem ||= isSystem
    } else if (isSystem) this.#kept.push({ key, content: mapped.payload.content })
    const message = (): EventItem => this.#event(key, 'message', () => mapped.payload, record, mapped.extra)
    const hash = checkpointOf(value)
    return hash === null ? [message()] : [this.#checkpoint(key, hash, value, record), message()]
  }

  /**
   * A summary whose messages a later pass deleted. It speaks to the model as an event of Deep Code's own, no message: an
   * import that knows it as the compaction it once was leaves it so.
   */
  #orphan(record: JsonRecord, value: Json, key: string): EventItem {
    this.remarks.add(
      this.session,
      'summary whose messages are no longer in the file: kept as a custom event that the model reads',
    )
    const said = { content: value.content ?? '' }
    const data = remainder(value, said) ?? {}
    this.#keepSummary(key, value)
    return this.#event(key, 'custom', () => ({ name: 'deepcode:summary', data, ...said }), record)
  }

  /** The code before the prompt; its commit stays in Deep Code's own repository. */
  #checkpoint(key: string, hash: string, { updateTime, compacted }: Json, record: JsonRecord): EventItem {
    const payload = { reason: 'prompt', failed: "kept in Deep Code's own file history", files: [] }
    const extra = { checkpointHash: hash, ...(compacted === true ? {} : { updateTime }) }
    return this.#event(
      `${key}#checkpoint:${hash}`,
      'checkpoint',
      () => payload,
      { ...record, raw: undefined },
      extra,
    )
  }

  /** Places each summary after the messages that were there when it was made; `null`: all that wait. */
  #placeSummaries(before: string | null): Item[] {
    const due = this.#waiting.filter(({ at }) => before === null || at < before)
    this.#waiting = this.#waiting.filter((summary) => !due.includes(summary))
    return due.map((summary) => this.#compaction(summary))
  }

  #compaction({ key, at, value, record, covered, through, after }: Summary): EventItem {
    const text = typeof value.content === 'string' ? value.content : ''
    const summary = text.startsWith(summaryPrefix) ? text.slice(summaryPrefix.length) : text
    const kept = [...this.#kept]
    const needsKept = this.#hasCompactedSystem || kept.some((one) => this.#isSummary(one.key))
    const keep = (idOf: (key: string) => EventId | null): unknown[] =>
      kept.flatMap((one) => {
        const id = idOf(one.key)
        return id === null ? [] : [{ id, message: { role: 'system', content: one.content } }]
      })
    this.#keepSummary(key, value)
    const { content: _content, ...rest } = value
    const extra = {
      ...(text === summary ? value : rest),
      covered,
      ...(after === null ? {} : { after }),
    }
    const before = this.#at
    this.#at = at
    const item = this.#event(
      key,
      'compaction',
      (idOf) => ({ summary, through: idOf(through), ...(needsKept ? { keep: keep(idOf) } : {}) }),
      record,
      extra,
    )
    this.#at = before
    return item
  }

  readonly #summaries = new Set<string>()

  /** Each summary goes on telling the model what it sums up, unless it is marked as told by a later one. */
  #keepSummary(key: string, { content, compacted }: Json): void {
    if (compacted === true) return
    this.#kept.push({ key, content: content ?? '' })
    this.#summaries.add(key)
  }

  #isSummary(key: string): boolean {
    return this.#summaries.has(key)
  }

  #event(
    key: string,
    type: string,
    payload: EventItem['payload'],
    record?: Omit<JsonRecord, 'raw'> & { raw?: string | undefined },
    extra?: Json,
  ): EventItem {
    const parent = this.#tip
    this.#tip = key
    return {
      kind: 'event',
      session: this.session,
      key,
      parent,
      at: this.at,
      type,
      payload,
      ...(extra === undefined ? {} : { extra }),
      ...(record?.raw === undefined ? {} : { raw: record.raw }),
      ...(record === undefined ? {} : { line: record.line }),
    }
  }
}

const isSummary = (value: Json): boolean => isObject(value.meta) && value.meta.isSummary === true
