import { sha256 } from '../../events/id.js'
import type { Item } from '../format.js'
import { KeyCounts } from '../key-counts.js'
import { Recent, RecentNodes } from '../recent.js'
import { isObject } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { epoch } from '../time.js'
import type { Chain, Context, Reading } from './chain.js'
import { boundaryLine, microcompactLine, summaryLine } from './compaction.js'
import { awaitedTitle, leafLine, snapshotLine, summaryTitle, titleLine } from './marks.js'
import { type ClaudeRecord, isChained, kindOf, objectOf, textOf, timeOf } from './records.js'
import { repeatedLine } from './repeats.js'
import { agentKey, mainKey, type Named, newChain, sessionItem } from './sessions.js'
import { assistantLine, customEvent, queuedPrompt, status, userLine } from './speech.js'

/** Lines that wait for the first of the conversation; a file with more of them begins without. */
const mostWaiting = 10_000

/** Turns the lines of one file into items, one line at a time. */
export class Transcript {
  readonly #reading: Reading
  readonly #chains = new Map<string, Chain>()
  readonly #keys = new KeyCounts()
  #home: Chain | null = null
  #waiting: ClaudeRecord[] = []

  constructor(
    readonly named: Named,
    readonly remarks: Remarks,
  ) {
    this.#reading = {
      remarks,
      placed: new Recent(),
      nodes: new RecentNodes(),
      results: new Recent(),
      seen: new Recent(),
      awaited: new Set(),
      prompts: new Map(),
      titles: new Map(),
    }
  }

  /** The call, in another file, that gave a sub-agent its prompt. */
  calledBy(prompt: string, call: { readonly session: string; readonly event: string }): void {
    this.#reading.prompts.set(sha256(prompt), call)
  }

  take(record: ClaudeRecord): Item[] {
    if (this.#home !== null) return this.#carry(record)
    if (!isChained(record) && this.#waiting.length < mostWaiting) {
      this.#waiting.push(record)
      return []
    }
    const waiting = this.#waiting
    this.#waiting = []
    const first = [...waiting, record].map((one) => timeOf(one).at).find((at) => at !== null)
    if (first === undefined) this.remarks.add(null, 'session names no time: set to 1970-01-01')
    const begun = this.#open(
      agentKey(this.named, record, this.#reading) ?? mainKey(this.named, record),
      record,
      first ?? epoch,
    )
    this.#home = begun.chain
    return [begun.item, ...waiting.flatMap((one) => this.#carry(one)), ...this.#carry(record)]
  }

  /** What is left to say at the end of the file. */
  end(): void {
    for (const { line } of this.#waiting)
      this.remarks.add(null, 'record without a conversation: left out', line)
  }

  /** Sessions that the file holds. */
  get sessions(): readonly string[] {
    return [...this.#chains.keys()]
  }

  #open(key: string, record: ClaudeRecord, at: string): { chain: Chain; item: Item } {
    const chain = newChain(key, record, at)
    this.#chains.set(key, chain)
    return { chain, item: sessionItem(chain, record, this.named, this.#reading) }
  }

  #carry(record: ClaudeRecord): Item[] {
    const begun = this.#chainOf(record)
    const chain = 'chain' in begun ? begun.chain : begun
    const at = this.#timeOf(record, chain)
    const key = this.#unused(
      record.uuid ?? `${record.type}#${record.hash.slice(0, 16)}`,
      record.uuid === null,
    )
    const context: Context = { reading: this.#reading, chain, record, at, key }
    if (record.uuid !== null && this.#reading.awaited.delete(record.uuid)) {
      this.remarks.add(chain.key, 'record stands after one that names it as its parent')
    }
    const items = repeatedLine(context) ?? [...carryLine(context), ...awaitedTitle(context)]
    return 'chain' in begun ? [begun.item, ...items] : items
  }

  #chainOf(record: ClaudeRecord): Chain | { chain: Chain; item: Item } {
    const home = this.#home as Chain
    if (!isChained(record)) return home
    const again = record.uuid === null ? undefined : this.#reading.placed.get(record.uuid)
    if (again !== undefined) return again.chain
    const agent = agentKey(this.named, record, this.#reading)
    const key =
      agent ??
      (home.repeated.isSidechain === true && home.key.includes('/') ? mainKey(this.named, record) : home.key)
    const chain = this.#chains.get(key)
    return chain ?? this.#open(key, record, timeOf(record).at ?? home.at)
  }

  #timeOf(record: ClaudeRecord, chain: Chain): string {
    const { at, named } = timeOf(record)
    if (at !== null) chain.at = at
    else if (named) this.remarks.add(chain.key, 'record with a malformed time: the one before it counts')
    else if (record.uuid !== null)
      this.remarks.add(chain.key, 'record without a time: the one before it counts')
    const session = textOf(record.value, 'sessionId')
    if (session !== null && session !== chain.repeated.sessionId && chain.repeated.sessionId !== undefined) {
      this.remarks.add(chain.key, `record carries the id of session ${session}`)
    }
    return chain.at
  }

  #unused(key: string, counts: boolean): string {
    if (!counts) return key
    const times = this.#keys.add(key)
    return times === 1 ? key : `${key}#${times}`
  }
}

const carryLine = (context: Context): Item[] => {
  const { record, chain } = context
  const { type, value } = record
  const kind = kindOf(record)
  if (isObject(value.message) && ['user', 'assistant', 'summary'].includes(type)) return messageLine(context)
  switch (kind) {
    case 'custom-title':
      return titleLine(context, 'customTitle')
    case 'ai-title':
      return titleLine(context, 'aiTitle')
    case 'summary':
      return noted(context, summaryTitle(context))
    case 'last-prompt':
      return leafLine(context)
    case 'file-history-snapshot':
      return noted(context, snapshotLine(context))
    case 'system:compact_boundary':
      return boundaryLine(context)
    case 'system:microcompact_boundary':
      return microcompactLine(context)
    case 'attachment:queued_command':
      return queuedPrompt(context)
    case 'system:turn_duration':
      return [
        ...noted(context, customEvent(context, kind)),
        ...(chain.status === 'failed' ? [] : status(context, 'completed')),
      ]
  }
  return noted(context, customEvent(context, kind))
}

const messageLine = (context: Context): Item[] => {
  const { value, type } = context.record
  if (value.isCompactSummary === true || (type === 'summary' && context.chain.boundary !== null))
    return summaryLine(context)
  const content = objectOf(value, 'message').content
  const isReadable = typeof content === 'string' || Array.isArray(content)
  if (!isReadable || type === 'summary') {
    context.reading.remarks.add(
      context.chain.key,
      `${type} record without a readable message kept as a custom event`,
    )
    return customEvent(context, type)
  }
  return type === 'assistant' ? assistantLine(context) : userLine(context)
}

/** Says what became an event of Claude's own. */
const noted = (context: Context, items: Item[]): Item[] => {
  const isCustom = items.some((item) => item.kind === 'event' && item.type === 'custom')
  if (isCustom)
    context.reading.remarks.add(
      context.chain.key,
      `${kindOf(context.record)} record kept as a custom event${context.record.type === 'attachment' ? ': what the model was told from it is not in the file' : ''}`,
    )
  return items
}
