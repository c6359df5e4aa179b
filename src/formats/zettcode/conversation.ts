import { sha256 } from '../../events/id.js'
import type { EventItem, Item } from '../format.js'
import type { JsonRecord } from '../jsonl.js'
import { isObject, type Json, remainder } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { epoch, normalTime } from '../time.js'
import { messageOf } from './message.js'
import { saidCheckpoint, saidHeader, summaryPrefix } from './said.js'
import { checkpointAbove, continues, isAbove, messageAbove, type Node, settledAt } from './tree.js'

interface Checkpoint {
  readonly key: string
  readonly version: number
  /** The message that it names: it counts on every branch that holds that. */
  readonly boundary: Node
  /** The last that it covers: never a call without its result. */
  readonly through: Node
  readonly summary: unknown
}

/** Turns the lines of one `data.jsonl` into items: a tree by `parent`. */
export class Conversation {
  #tip: Node | null = null
  #at: string | null = null
  #header: Json | null = null
  readonly #nodes = new Map<string, Node>()
  readonly #hashes = new Map<string, string>()
  readonly #awaited = new Set<string>()
  readonly #checkpoints: Checkpoint[] = []

  constructor(
    readonly session: string,
    readonly workspace: string | null,
    readonly remarks: Remarks,
  ) {}

  get tip(): string | null {
    return this.#tip?.key ?? null
  }

  get at(): string {
    return this.#at ?? epoch
  }

  take(record: JsonRecord): Item[] {
    if (!isObject(record.value))
      return [{ kind: 'failed', line: record.line, reason: 'not a record: should be a JSON object' }]
    const { value } = record
    const begun = this.#at === null ? [this.#begin(record, value)] : []
    const at = normalTime(value.created_at)
    if (at === null) this.#say('record without a time, or with a malformed one: the one before it counts')
    else this.#at = at
    if (value.kind === 'session') return [...begun, ...(begun.length > 0 ? [] : this.#again(record, value))]
    return [...begun, ...this.#carry(record, value)]
  }

  #say(text: string, line?: number): void {
    this.remarks.add(this.session, text, line)
  }

  #begin({ line }: JsonRecord, value: Json): Item {
    const isHeader = value.kind === 'session'
    if (isHeader) this.#header = value
    else this.#say('file does not begin with its session record: ZettCode would not list it')
    const at = normalTime(value.created_at)
    this.#at = at ?? epoch
    if (at === null) this.#say('session names no time: set to 1970-01-01')
    const { parent_session_id: parent, agent_name: name } = value
    const extra = remainder(isHeader ? value : {}, saidHeader(this.session, this.#at))
    return {
      kind: 'session',
      session: this.session,
      at: this.#at,
      workspace: this.workspace,
      cwd: this.workspace,
      agent: { name: 'zettcode', ...(typeof name === 'string' ? { agent: name } : {}) },
      ...(isHeader && typeof parent === 'string' ? { startedBy: { session: parent, event: null } } : {}),
      ...(extra === undefined ? {} : { extra }),
      line,
    }
  }

  /** A second header, or one that comes late. */
  #again(record: JsonRecord, value: Json): Item[] {
    if (this.#header !== null && remainder(value, this.#header) === undefined) {
      this.#say('session record stands in the file again, unchanged: left out', record.line)
      return []
    }
    this.#header = value
    this.#say('session record that is not the first line kept as a custom event')
    return this.#custom(record, value, `session#${sha256(record.text).slice(0, 16)}`, 'session')
  }

  #carry(record: JsonRecord, value: Json): Item[] {
    const hash = sha256(record.text)
    const kind = typeof value.kind === 'string' ? value.kind : 'untyped'
    const id = typeof value.id === 'string' && value.id !== '' ? value.id : `${kind}#${hash.slice(0, 16)}`
    const before = this.#hashes.get(id)
    if (before === hash) {
      this.#say('record stands in the file again, unchanged: left out', record.line)
      return []
    }
    this.#hashes.set(id, hash)
    if (before !== undefined) return this.#changed(record, value, id, `${id}#${hash.slice(0, 16)}`)
    if (this.#awaited.delete(id)) this.#say('record stands after one that names it as its parent')
    if (kind === 'compaction') return this.#compaction(record, value, id)
    const parent = this.#parentOf(value, id)
    const place = { key: id, session: this.session, parent: messageAbove(parent) }
    const mapped = kind === 'message' ? messageOf(value, place) : null
    if (mapped === null) {
      this.#say(
        kind === 'message'
          ? 'message of an unknown kind kept as a custom event'
          : `${kind} record kept as a custom event`,
      )
      return this.#custom(record, value, id, kind)
    }
    const copies = this.#carriedTo(parent)
    const on = copies.on
    const { payload, extra } = mapped
    const calls = ((payload.toolCalls ?? []) as readonly { id: string }[]).map((call) => call.id)
    const result = payload.role === 'tool' ? String(payload.toolCallId ?? '') : null
    return [
      ...copies.items,
      this.#event(record, { key: id, type: 'message', payload: () => payload, on, calls, result, extra }),
    ]
  }

  /** Looks back only; whatever cannot be found there is bridged to the record before. */
  #parentOf({ parent }: Json, id: string): Node | null {
    const tip = this.#tip
    if (parent === null) return null
    const found = typeof parent === 'string' ? this.#nodes.get(parent) : undefined
    if (found !== undefined) {
      if (found.checkpoint !== null)
        this.#say('message names a checkpoint as its parent: hung on it, what it covers stays above')
      return tip !== null && continues(found, tip) ? tip : found
    }
    if (parent === id) this.#say('record names itself as its parent: hung on the one before')
    else if (typeof parent === 'string') {
      this.#awaited.add(parent)
      this.#say('record names a parent that does not stand before it: hung on the one before')
    }
    return tip
  }

  /** A checkpoint counts on every branch that holds its boundary: where a branch leaves above it, it is told again there. */
  #carriedTo(on: Node | null): { on: Node | null; items: Item[] } {
    const best = this.#applicable(on)
    const above = checkpointAbove(on)
    if (
      on === null ||
      on === this.#tip ||
      best === undefined ||
      (above !== null && above.version >= best.version)
    )
      return { on, items: [] }
    const key = `${best.key}@${on.key}`
    const there = this.#nodes.get(key)
    if (there !== undefined) return { on: there, items: [] }
    const payload: EventItem['payload'] = (idOf) => ({
      summary: best.summary,
      through: idOf(best.through.key),
    })
    const copy = this.#event(null, { key, type: 'compaction', payload, on, checkpoint: best })
    return { on: this.#tip, items: [copy] }
  }

  #applicable(on: Node | null): Checkpoint | undefined {
    return this.#checkpoints
      .filter(({ boundary }) => isAbove(boundary, on))
      .sort((a, b) => b.version - a.version)[0]
  }

  #compaction(record: JsonRecord, value: Json, key: string): Item[] {
    const boundary = typeof value.parent === 'string' ? this.#nodes.get(value.parent) : undefined
    const version = typeof value.version === 'number' ? value.version : 0
    const summary =
      Array.isArray(value.message) && isObject(value.message[0]) && isObject(value.message[0].data)
        ? value.message[0].data.content
        : undefined
    const through = boundary === undefined ? null : settledAt(boundary)
    const tip = this.#tip
    const on = boundary !== undefined && isAbove(boundary, tip) ? tip : (boundary ?? null)
    const above = checkpointAbove(on)
    const isStale =
      above !== null &&
      (above.version >= version || (through !== null && above.through.depth > through.depth))
    if (boundary === undefined || through === null || typeof summary !== 'string' || isStale) {
      this.#say(
        'checkpoint whose boundary is missing, or that is older than one before it, kept as a custom event',
      )
      return this.#custom(record, value, key, 'compaction')
    }
    const checkpoint = { key, version, boundary, through, summary: withoutPrefix(summary) }
    this.#checkpoints.push(checkpoint)
    const extra = remainder(value, saidCheckpoint(key, through.key, this.at))
    const item = this.#event(record, {
      key,
      type: 'compaction',
      payload: (idOf) => ({ summary: checkpoint.summary, through: idOf(through.key) }),
      on,
      checkpoint,
      extra,
    })
    if (on === tip || tip === null) return [item]
    this.#tip = tip
    return [
      item,
      {
        kind: 'move',
        session: this.session,
        key: `${key}#back`,
        to: tip.key,
        at: this.at,
        reason: 'checkout',
        line: record.line,
      },
    ]
  }

  /** An id that stands twice: in ZettCode the last one counts. */
  #changed(record: JsonRecord, value: Json, id: string, key: string): Item[] {
    const place = { key: id, session: this.session, parent: null }
    const content = messageOf(value, place)?.payload.content ?? null
    if (value.kind !== 'message' || content === null || this.#nodes.has(key)) {
      this.#say('record repeats the id of another: kept beside it as a custom event')
      return this.#nodes.has(key) ? [] : this.#custom(record, value, key, 'repeated')
    }
    this.#say('record repeats the id of another with another content: kept as an edit of the first')
    return [
      this.#event(record, {
        key,
        type: 'edit',
        payload: (idOf) => ({ target: idOf(id), replacement: content }),
        on: this.#tip,
        extra: value,
      }),
    ]
  }

  #custom(record: JsonRecord, data: Json, key: string, kind: string): Item[] {
    return [
      this.#event(record, {
        key,
        type: 'custom',
        payload: () => ({ name: `zettcode:${kind}`, data }),
        on: this.#tip,
      }),
    ]
  }

  #event(record: JsonRecord | null, event: Placing): EventItem {
    const { key, type, payload, on, calls = [], result = null, checkpoint = null, extra } = event
    const node = {
      key,
      parent: on,
      depth: (on?.depth ?? 0) + 1,
      calls,
      result,
      isAside: type !== 'message',
      checkpoint,
    }
    this.#nodes.set(key, node)
    this.#tip = node
    return {
      kind: 'event',
      session: this.session,
      key,
      parent: on?.key ?? null,
      at: this.at,
      type,
      payload,
      ...(extra === undefined ? {} : { extra }),
      ...(record?.raw === undefined ? {} : { raw: record.raw }),
      ...(record === null ? {} : { line: record.line }),
    }
  }
}

interface Placing {
  readonly key: string
  readonly type: string
  readonly payload: EventItem['payload']
  readonly on: Node | null
  readonly calls?: readonly string[]
  readonly result?: string | null
  readonly checkpoint?: Checkpoint | null
  readonly extra?: Json | undefined
}

const withoutPrefix = (text: string): string =>
  text.startsWith(summaryPrefix) ? text.slice(summaryPrefix.length) : text
