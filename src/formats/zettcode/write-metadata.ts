import { parsedJson } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { IndexUnreadable } from '../write/index-unreadable.js'
import type { Losses } from '../write/losses.js'
import { wholeText } from '../write/whole.js'
import type { Outgoing, WrittenFile } from '../writer.js'
import { recordLine } from './write-line.js'

/** A session as the workspace's list is to show it. */
export interface Listing {
  readonly id: string
  readonly session: Outgoing
}

const name = 'metadata.jsonl'

/** The list of a workspace's sessions, to which ZettCode only ever adds. */
export const metadataFile = (sessions: readonly Listing[], losses: Losses): WrittenFile => ({
  name,
  content: () => nothing(),
  merge: async (existing) => {
    const text = existing ?? ''
    const rows = rowsIn(text)
    const added: Json[] = []
    for (const { id, session } of sessions) {
      const { events, title: given } = session
      const row = rows.get(id)
      const updated = events.findLast(({ note }) => note !== true)?.at
      if (row === undefined) added.push({ kind: 'session', session_id: id, created_at: events[0]?.at })
      if (row?.updated !== updated) added.push({ kind: 'activity', session_id: id, updated_at: updated })
      const { title } = wholeText(await session.resolve({ title: given }), () =>
        losses.add('half characters', `${session.id}#title`),
      )
      if (title !== null && title !== row?.title) added.push({ kind: 'title', session_id: id, title })
    }
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    return `${text}${gap}${added.map(recordLine).join('')}`
  },
})

async function* nothing(): AsyncGenerator<string> {}

interface Row {
  readonly title: unknown
  readonly updated: unknown
}

/** What the file says of each session. A line that is no record breaks the list for ZettCode too. */
const rowsIn = (text: string): ReadonlyMap<string, Row> => {
  const rows = new Map<string, Row>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const record = parsedJson(line)
    if (!isObject(record)) throw new IndexUnreadable(name, `holds no record in line ${i + 1}`, 'ZettCode')
    const { kind, session_id: id, title, updated_at: at } = record
    if (typeof id !== 'string') continue
    const row = rows.get(id)
    if (kind === 'session') rows.set(id, { title: null, updated: record.created_at })
    if (kind === 'activity' && row !== undefined) rows.set(id, { ...row, updated: at })
    if (kind === 'title' && row !== undefined) rows.set(id, { ...row, title })
  }
  return rows
}
