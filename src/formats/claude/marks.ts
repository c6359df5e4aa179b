import type { Item } from '../format.js'
import { longestTitle, titleOf } from '../members.js'
import { annotate, append, type Chain, type Context, extraOf, type Status } from './chain.js'
import { saidTitle } from './record.js'
import { textOf } from './records.js'
import { backupKey, backupsIn } from './side-files.js'
import { customEvent, status } from './speech.js'
import { isAbove, type Node } from './tree.js'

/** Lines that stand outside the chain and say something of the session: its titles, its leaf. */

/** `custom-title` is the user's and comes by import; `ai-title` is one that anything else may replace. */
export const titleLine = (context: Context, member: 'customTitle' | 'aiTitle'): Item[] => {
  const { record, chain, reading, key } = context
  const given = textOf(record.value, member) ?? ''
  const title = titleOf(given)
  if (title === '') return customEvent(context, record.type)
  if (title !== given.trim())
    reading.remarks.add(chain.key, `title longer than ${longestTitle} characters was cut`)
  const extra = extraOf(context, chain.tip, saidTitle(title, member === 'customTitle'))
  chain.naming.named()
  return [
    annotate(context, {
      key,
      type: 'title',
      payload: { title, by: member === 'customTitle' ? 'import' : 'auto' },
      extra,
    }),
  ]
}

/**
 * `summary`, the title of older versions, belongs to the session that holds its leaf, which may be another file's. Where
 * the leaf has not been seen yet the line is kept as it is, and titles the session once its leaf comes.
 */
export const summaryTitle = (context: Context): Item[] => {
  const { record, reading, chain, key } = context
  const title = titleOf(textOf(record.value, 'summary') ?? '')
  const leaf = textOf(record.value, 'leafUuid')
  const found = leaf === null ? undefined : reading.placed.get(leaf)
  if (title === '' || leaf === null) return customEvent(context, 'summary')
  if (found?.chain === chain) {
    chain.naming.named()
    const extra = extraOf(context, chain.tip, { type: 'ai-title' })
    return [annotate(context, { key, type: 'title', payload: { title, by: 'auto' }, extra }, found.node)]
  }
  reading.titles.set(leaf, { title, key })
  return customEvent(context, 'summary')
}

/** The title that waited for this line. */
export const awaitedTitle = (context: Context): Item[] => {
  const { record, reading } = context
  const waiting = record.uuid === null ? undefined : reading.titles.get(record.uuid)
  if (waiting === undefined) return []
  reading.titles.delete(record.uuid as string)
  context.chain.naming.named()
  return [
    annotate(context, {
      key: `${waiting.key}#title`,
      type: 'title',
      payload: { title: waiting.title, by: 'auto' },
      isLast: false,
    }),
  ]
}

/** Files as they were before an edit: what the snapshot names, with each copy that was found, as an event of its own. */
export const snapshotLine = (context: Context): Item[] => {
  const { record, key } = context
  const items = customEvent(context, 'file-history-snapshot')
  for (const [path, name] of backupsIn(record)) {
    const copy = record.files?.get(name)
    if (copy === undefined) continue
    items.push(
      append(context, {
        key: `${key}${backupKey}${name}`,
        type: 'custom',
        payload: { name: 'claude:file-history', data: { path, ...copy } },
        parent: context.chain.tip,
        joining: { as: 'aside' },
        isLast: false,
      }),
    )
  }
  return items
}

/** `last-prompt`: the head goes to the newest line below its leaf, where it is not there. */
export const leafLine = (context: Context): Item[] => {
  const { record, chain, reading, at, key } = context
  const leaf = textOf(record.value, 'leafUuid')
  const found = leaf === null ? undefined : reading.placed.get(leaf)
  if (found?.chain !== chain || isAbove(found.node, chain.tip)) return customEvent(context, 'last-prompt')
  const to = newestBelow(found.node, reading.nodes)
  chain.tip = to
  const move: Item = {
    kind: 'move',
    session: chain.key,
    key: `${key}#move`,
    to: to.key,
    at,
    reason: 'checkout',
    line: record.line,
  }
  const before = statusAt(chain, to)
  return [
    move,
    ...customEvent(context, 'last-prompt'),
    ...(before === undefined ? [] : status(context, before)),
  ]
}

const statusAt = ({ statuses }: Chain, node: Node): Status | undefined => {
  let at: Node | null = node
  while (at !== null && !statuses.has(at)) at = at.parent
  return at === null ? undefined : statuses.get(at)
}

const newestBelow = (leaf: Node, nodes: Iterable<Node>): Node => {
  const below = new Set([leaf])
  let newest = leaf
  for (const node of nodes) {
    if (node.parent === null || !below.has(node.parent)) continue
    below.add(node)
    newest = node
  }
  return newest
}
