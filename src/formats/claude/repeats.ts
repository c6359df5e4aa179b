import { sha256 } from '../../events/id.js'
import type { Item } from '../format.js'
import { isObject } from '../remainder.js'
import { partOf, spokenOf } from './blocks.js'
import { append, type Context } from './chain.js'
import type { ClaudeRecord } from './records.js'

/** A `uuid` that stands in the file twice: in Claude Code the last one counts. null: this is its first. */
export const repeatedLine = (context: Context): Item[] | null => {
  const { record, reading, chain } = context
  if (record.uuid === null) return null
  const now = { line: record.hash, content: contentHash(record) }
  const before = reading.seen.get(record.uuid)
  const target = reading.placed.get(record.uuid)
  reading.seen.set(record.uuid, now)
  if (before === undefined) return null
  if (before.line === now.line) {
    reading.remarks.add(chain.key, 'record stands in the file again, unchanged: left out', record.line)
    return []
  }
  const replacement = before.content === now.content ? undefined : contentOf(record)
  const key = `${record.uuid}#${record.hash.slice(0, 16)}`
  const place = { key, parent: chain.tip, joining: { as: 'aside' }, isLast: false } as const
  const item =
    replacement === undefined || target?.chain !== chain
      ? append(context, {
          ...place,
          type: 'custom',
          payload: { name: `claude:repeated:${record.type}`, data: record.value },
        })
      : append(context, {
          ...place,
          type: 'edit',
          payload: (idOf) => ({ target: idOf(target.node.key), replacement }),
        })
  reading.remarks.add(
    chain.key,
    replacement === undefined
      ? 'record stands in the file again with other members: kept beside the first'
      : 'record stands in the file again with another content: kept as an edit of the first',
  )
  return [
    {
      ...item,
      ...(item.type === 'edit' ? { extra: record.value } : {}),
      ...(record.raw === undefined ? {} : { raw: record.raw }),
    },
  ]
}

const contentHash = ({ value }: ClaudeRecord): string => {
  const content = isObject(value.message) ? value.message.content : value.message
  return sha256(typeof content === 'string' ? `"${content}` : (JSON.stringify(content) ?? ''))
}

/** What the model would see of the line; undefined where that is more than one message's content. */
const contentOf = ({ type, value }: ClaudeRecord): unknown => {
  const content = isObject(value.message) ? value.message.content : undefined
  if (type === 'assistant') {
    const spoken = spokenOf(content, '')
    return spoken.content ?? undefined
  }
  if (typeof content === 'string') return content
  if (type !== 'user' || !Array.isArray(content)) return undefined
  const results = content.filter((block) => isObject(block) && block.type === 'tool_result')
  if (results.length === 0) return content.map(partOf)
  const only =
    results.length === 1 && content.length === 1 && isObject(results[0]) ? results[0].content : undefined
  return typeof only === 'string' ? only : Array.isArray(only) ? only.map(partOf) : undefined
}
