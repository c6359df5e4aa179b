import type { Item } from '../format.js'
import { isFiniteNumber } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { partOf } from './blocks.js'
import { append, type Context, extraOf, parentOf, resultKey } from './chain.js'
import { saidSummary } from './record.js'
import { listOf, objectOf, textOf } from './records.js'
import { customEvent, userLine } from './speech.js'
import { isAbove, type Node, settledAt } from './tree.js'

/** `compact_boundary`: says what was cut; the summary that follows it becomes the compaction. */
export const boundaryLine = (context: Context): Item[] => {
  context.chain.boundary = objectOf(context.record.value, 'compactMetadata')
  return customEvent(context, 'system:compact_boundary')
}

/** The summary after a boundary: the cut of its branch. Where nothing is left to cover it is a hidden message. */
export const summaryLine = (context: Context): Item[] => {
  const { chain, reading, record, key } = context
  const joining = { as: 'turn' } as const
  const meta = chain.boundary ?? {}
  chain.boundary = null
  const parent = parentOf(context, joining)
  const kept = preserved(context, meta)
  const through = parent === null ? null : lastCovered(parent, kept[0])
  if (through === null) {
    reading.remarks.add(
      chain.key,
      'summary of a compaction whose messages are not in the file: kept as a hidden message',
    )
    return userLine(context)
  }
  const { content } = objectOf(record.value, 'message')
  const parts = Array.isArray(content) ? content.map(partOf) : null
  const summary = parts ?? (typeof content === 'string' ? content : '')
  const { preTokens, postTokens } = meta
  const item = append(context, {
    key,
    type: 'compaction',
    payload: (idOf) => ({
      summary,
      through: idOf(through.key),
      ...(textOf(meta, 'trigger') === null ? {} : { trigger: meta.trigger }),
      ...(isFiniteNumber(preTokens) ? { tokensBefore: preTokens } : {}),
      ...(isFiniteNumber(postTokens) ? { tokensAfter: postTokens } : {}),
    }),
    parent,
    joining,
    through,
    extra: extraOf(context, parent, saidSummary(summary)),
  })
  relink(context, kept)
  return [item]
}

/** The messages that stay after a compaction, oldest first; newer versions list them, others name the ends. */
const preserved = ({ reading, chain }: Context, meta: Json): Node[] => {
  const list = objectOf(meta, isObject(meta.preservedMessages) ? 'preservedMessages' : 'preserved_messages')
  const segment = objectOf(meta, isObject(meta.preservedSegment) ? 'preservedSegment' : 'preserved_segment')
  const nodeOf = (uuid: string | null): Node | undefined => {
    const found = uuid === null ? undefined : reading.placed.get(uuid)
    return found?.chain === chain ? found.node : undefined
  }
  const named = listOf(list, 'uuids').flatMap((uuid) => nodeOf(uuid) ?? [])
  if (named.length > 0) return named
  const head = nodeOf(textOf(segment, 'headUuid') ?? textOf(segment, 'head_uuid'))
  let at: Node | null = nodeOf(textOf(segment, 'tailUuid') ?? textOf(segment, 'tail_uuid')) ?? null
  const nodes: Node[] = []
  for (; head !== undefined && at !== null && at.order >= head.order; at = at.parent) nodes.unshift(at)
  return nodes[0] === head ? nodes : []
}

/** Covers up to before what is kept, else up to the boundary; never an open call, never above an earlier compaction's reach. */
const lastCovered = (parent: Node, firstKept: Node | undefined): Node | null => {
  const before = firstKept !== undefined && isAbove(firstKept, parent) ? firstKept.parent : parent
  const settled = before === null ? null : settledAt(before)
  const earlier = compactionAbove(parent)?.through
  return settled === null || (earlier !== undefined && earlier.depth > settled.depth)
    ? (earlier ?? null)
    : settled
}

const compactionAbove = (node: Node): Node | undefined => {
  let at: Node | null = node
  while (at !== null && at.through === undefined) at = at.parent
  return at ?? undefined
}

/** What names a kept message as its parent from now on continues after the compaction. */
const relink = ({ reading, chain }: Context, kept: readonly Node[]): void => {
  const { tip } = chain
  for (const { uuid } of kept)
    if (uuid !== null && tip !== null) reading.placed.set(uuid, { node: tip, chain })
}

const clearedText = '[Old tool result content cleared]'

/** `microcompact_boundary`: old results that the model no longer sees. */
export const microcompactLine = (context: Context): Item[] => {
  const { chain, record, key, reading } = context
  const items = customEvent(context, 'system:microcompact_boundary')
  for (const id of listOf(objectOf(record.value, 'microcompactMetadata'), 'compactedToolIds')) {
    const target = reading.results.get(resultKey(chain, id))
    if (target === undefined || !isAbove(target, chain.tip)) {
      reading.remarks.add(chain.key, 'tool result that a micro-compaction clears is not on its branch')
      continue
    }
    const joining = { as: 'aside' } as const
    items.push(
      append(context, {
        key: `${key}#${id}`,
        type: 'edit',
        payload: (idOf) => ({ target: idOf(target.key), replacement: clearedText }),
        parent: chain.tip,
        joining,
        isLast: false,
      }),
    )
  }
  return items
}
