import type { EventId } from '../../events/event.js'
import type { EventItem } from '../format.js'
import type { PromptTitle } from '../prompt-title.js'
import type { Recent, RecentNodes } from '../recent.js'
import { isObject, type Json, remainder } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import type { ClaudeRecord } from './records.js'
import { type Joining, type Node, placeUnder, unitFor, uuidAbove } from './tree.js'

/** What a transcript shows of a session's status. */
export type Status = 'completed' | 'failed' | 'interrupted'

/** One session being read: the main one, or a sub-agent's in the same file. */
export interface Chain {
  readonly key: string
  /** What every line of it repeats, as its first line gives it; stands in the session's own `extra`. */
  readonly repeated: Json
  tip: Node | null
  /** Time of the last line. */
  at: string
  /** How many events it has. */
  events: number
  status: Status | null
  /** Where it changed, so that it goes back with the head. */
  readonly statuses: WeakMap<Node, Status>
  /** `compactMetadata` of the boundary that waits for its summary. */
  boundary: Json | null
  /** What names it where its first prompt does not. */
  readonly naming: PromptTitle
}

/** All that is known of a file while it is read: a small record a line, never its content, and none of lines far above. */
export interface Reading {
  readonly remarks: Remarks
  readonly placed: Recent<{ readonly node: Node; readonly chain: Chain }>
  /** Every event, in order. */
  readonly nodes: RecentNodes<Node>
  /** Tool results by the key of their session and the id of their call. */
  readonly results: Recent<Node>
  /** Hashes of what each `uuid` held: the line, and its message's content. */
  readonly seen: Recent<{ readonly line: string; readonly content: string }>
  /** Parents that were named before they stood in the file. */
  readonly awaited: Set<string>
  /** Sub-agents' prompts, by their hash, with the call that gave them. */
  readonly prompts: Map<string, { readonly session: string; readonly event: string }>
  /** Titles (`summary`) whose leaf has not been seen yet. */
  readonly titles: Map<string, { readonly title: string; readonly key: string }>
}

/** One line on its way into items. */
export interface Context {
  readonly reading: Reading
  readonly chain: Chain
  readonly record: ClaudeRecord
  readonly at: string
  /** The key of the line's event: its `uuid`, else its type and hash. */
  readonly key: string
}

export interface Draft {
  readonly key: string
  readonly type: string
  readonly payload:
    | Record<string, unknown>
    | ((idOf: (key: string) => EventId | null) => Record<string, unknown>)
  /** The whole of the line hangs on this event: its `uuid`, its `extra`. */
  readonly isLast?: boolean
  readonly extra?: Json | undefined
}

export interface Placed extends Draft {
  readonly parent: Node | null
  readonly joining: Joining
  readonly calls?: readonly string[]
  readonly results?: readonly string[]
  readonly through?: Node
}

/** Where the line hangs: a parent looks back only (docs/FORMAT.md), whatever cannot be found is bridged to the line before. */
export const parentOf = ({ reading, chain, record }: Context, joining: Joining): Node | null => {
  const { value, uuid } = record
  const named = value.parentUuid ?? value.logicalParentUuid
  const { tip } = chain
  if (tip === null) return null
  // A second root begins anew, unless nothing but snapshots and hooks stood before it.
  if (named === undefined || named === null)
    return value.parentUuid === null && tip.unit.lastSpeech > 0 ? null : tip
  const found = typeof named === 'string' ? reading.placed.get(named) : undefined
  if (found?.chain === chain) return placeUnder(found.node, joining)
  if (named === uuid)
    reading.remarks.add(chain.key, 'record names itself as its parent: hung on the one before')
  else if (found !== undefined)
    reading.remarks.add(
      chain.key,
      'record names a parent in another session of the file: hung on the one before',
    )
  else if (typeof named === 'string' && reading.nodes.hasForgotten) return forgotten(named)
  else {
    if (typeof named === 'string') reading.awaited.add(named)
    reading.remarks.add(
      chain.key,
      'record names a parent that does not stand before it: hung on the one before',
    )
  }
  return tip
}

/** A line that stood too far above to be known here: whoever imports knows whether it was there, and else says so. */
const forgotten = (uuid: string): Node => ({
  key: uuid,
  uuid,
  parent: null,
  order: 0,
  depth: 0,
  unit: { message: null, lastSpeech: 0, tail: null },
  calls: [],
  results: [],
})

/** Lines that name no session: their file does. */
const withoutSession = new Set(['file-history-snapshot', 'summary'])

/** What the line would say of itself beside its own members, if it were written from its event alone. */
const envelopeOf = ({ chain, record, at }: Context, parent: Node | null): Json => {
  if (record.uuid !== null)
    return { ...chain.repeated, uuid: record.uuid, parentUuid: uuidAbove(parent), timestamp: at }
  if (isObject(record.value.message)) return chain.repeated
  return withoutSession.has(record.type) ? {} : { sessionId: chain.repeated.sessionId }
}

/** Members of the line that its event does not say; `said` is what the payload tells, the line's type among it. */
export const extraOf = (context: Context, parent: Node | null, said: Json): Json | undefined =>
  remainder(context.record.value, { ...envelopeOf(context, parent), ...said })

/** An event that advances the conversation. */
export const append = (context: Context, draft: Placed): EventItem => {
  const { chain, reading, record } = context
  const { key, parent, joining, calls = [], results = [], isLast = true } = draft
  const unit = unitFor(parent, joining)
  const order = ++chain.events
  if (joining.as === 'assistant' || joining.as === 'turn') unit.lastSpeech = order
  const node: Node = {
    key,
    uuid: isLast ? record.uuid : null,
    parent,
    order,
    depth: (parent?.depth ?? 0) + 1,
    unit,
    calls,
    results,
    ...(draft.through === undefined ? {} : { through: draft.through }),
  }
  unit.tail = node
  reading.nodes.push(node)
  chain.tip = node
  for (const id of results) reading.results.set(resultKey(chain, id), node)
  if (isLast && record.uuid !== null && !reading.placed.has(record.uuid))
    reading.placed.set(record.uuid, { node, chain })
  return itemOf(context, draft, parent)
}

export const resultKey = ({ key }: Chain, call: string): string => `${key}\n${call}`

/** A note: it hangs on a node and moves nothing. */
export const annotate = (context: Context, draft: Draft, on: Node | null = context.chain.tip): EventItem =>
  itemOf(context, draft, on)

const itemOf = (
  { chain, record, at }: Context,
  { key, type, payload, isLast = true, extra }: Draft,
  parent: Node | null,
): EventItem => ({
  kind: 'event',
  session: chain.key,
  key,
  parent: parent?.key ?? null,
  at,
  type,
  payload: typeof payload === 'function' ? payload : () => payload,
  ...(extra === undefined || !isLast ? {} : { extra }),
  ...(record.raw === undefined || !isLast ? {} : { raw: record.raw }),
  line: record.line,
})
