import type { Event } from '../../events/event.js'
import { countIn, objectIn, parsedJson, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { IndexUnreadable } from '../write/index-unreadable.js'
import type { Losses } from '../write/losses.js'
import { extraOf, isOwn } from '../write/own.js'
import { wholeUsage } from '../write/usage.js'
import { wholeText } from '../write/whole.js'
import type { Outgoing, WrittenFile } from '../writer.js'
import { derivedTitle } from './entry.js'
import { format, keyOf } from './write-own.js'
import { addUsage, saidUsage, usageByModel } from './write-usage.js'

/** A session as the index is to tell of it. */
export interface Indexing {
  readonly id: string
  readonly session: Outgoing
  readonly path: readonly Event[]
  /** The first line that the user says, and the last that the model does; null where there is none. */
  readonly prompt: () => Promise<Json | null>
  readonly answer: () => Promise<Json | null>
  /** Nothing was said since Deep Code had it. */
  readonly isAsLeft: boolean
  /** Of a branch that became a session. */
  readonly forkedFrom: { readonly sessionId: string; readonly messageId: string } | null
}

const name = 'sessions-index.json'
/** How many sessions Deep Code keeps: when one begins, the files of those that changed longest ago are removed. */
const most = 50

/** The index, with these sessions in it. */
export const indexFile = (sessions: readonly Indexing[], workspace: string, losses: Losses): WrittenFile => ({
  name,
  content: () => nothing(),
  merge: async (existing) => {
    const index = read(existing)
    const entries = [...listed(index)]
    for (const session of sessions) {
      const made = await entryOf(session, losses)
      // Deep Code itself cuts titles within characters, and reads them so.
      const entry = session.isAsLeft
        ? made
        : wholeText(made, () => losses.add('half characters', `${session.id}#entry`))
      const at = entries.findIndex((one) => isObject(one) && one.id === session.id)
      const older = at === -1 ? {} : (entries[at] as Json)
      if (at === -1) entries.push({ ...older, ...staying(entry, entries) })
      else entries[at] = { ...older, ...entry }
    }
    return JSON.stringify({ ...index, version: 1, entries, originalPath: workspace }, null, 2)
  },
})

async function* nothing(): AsyncGenerator<string> {}

const read = (text: string | null): Json => {
  if (text === null || text.trim() === '') return {}
  const index = parsedJson(text.replace(/^\uFEFF/, ''))
  if (!isObject(index)) throw new IndexUnreadable(name, 'is no JSON object', 'Deep Code')
  return index
}

const listed = ({ entries = [] }: Json): readonly unknown[] => {
  if (!Array.isArray(entries)) throw new IndexUnreadable(name, 'holds no list of sessions', 'Deep Code')
  return entries as unknown[]
}

/** In a full index an old session would be gone as soon as the next one begins: it counts as changed with the newest. */
const staying = (entry: Json, others: readonly unknown[]): Json => {
  if (others.length < most) return entry
  const times = others.map((one) => String((isObject(one) ? textIn(one, 'updateTime') : null) ?? ''))
  return { ...entry, updateTime: [String(entry.updateTime), ...times].sort().at(-1) }
}

const entryOf = async (indexing: Indexing, losses: Losses): Promise<Json> => {
  const { id, session, path, isAsLeft, forkedFrom } = indexing
  const said = isAsLeft ? await lastStatus(session) : null
  const known = said?.extra ?? (await lastStatus(session))?.extra ?? {}
  const told = isAsLeft ? {} : await answered(indexing, losses)
  const root = path[0]
  return {
    id,
    summary: await summaryOf(indexing),
    assistantReply: null,
    assistantThinking: null,
    assistantRefusal: null,
    toolCalls: null,
    status: 'completed',
    failReason: null,
    usage: null,
    usagePerModel: null,
    activeTokens: 0,
    createTime: root?.at,
    ...(forkedFrom === null ? known : { planMode: known.planMode ?? false }),
    ...told,
    updateTime: said?.at ?? path.at(-1)?.at,
    // Deep Code would kill by these numbers what runs under them now.
    processes: null,
    planMode: known.planMode ?? false,
    ...(said === null ? {} : said.members),
    ...(forkedFrom === null ? {} : { forkedFrom }),
  }
}

/** What the newest reply was, and what all have cost. */
const answered = async ({ session, path, answer }: Indexing, losses: Losses): Promise<Json> => {
  const known = (await lastStatus(session))?.extra ?? {}
  const line = (await answer()) ?? {}
  const params = objectIn(line, 'messageParams')
  const usages = path.flatMap((event) => {
    const usage = isOwn(event, format) ? null : wholeUsage(event.usage, losses, event.id)
    return usage === null ? [] : [{ model: event.model, usage }]
  })
  const compacted = path.findLastIndex(({ type }) => type === 'compaction')
  const last = path.findLast((event, i) => i > compacted && isObject(event.usage))
  const lastUsage = last === undefined ? null : wholeUsage(last.usage, losses, last.id)
  const tokens = lastUsage === null ? {} : saidUsage(lastUsage)
  const sum = usages.reduce<Json | null>(
    (sum, { usage }) => addUsage(sum, saidUsage(usage)),
    isObject(known.usage) ? known.usage : null,
  )
  return {
    assistantReply: textIn(line, 'content'),
    assistantThinking: textIn(params, 'reasoning_content'),
    assistantRefusal: null,
    toolCalls: Array.isArray(params.tool_calls) ? params.tool_calls : null,
    status: 'completed',
    failReason: null,
    usage: sum,
    usagePerModel: usageByModel(usages, known.usagePerModel),
    activeTokens: countIn(tokens, 'total_tokens') ?? 0,
  }
}

interface Status {
  readonly at: string
  /** The rest of the entry as the index had it. */
  readonly extra: Json
  readonly members: Json
}

/** What Deep Code's own index said of the session last. */
const lastStatus = async ({ events, resolve }: Outgoing): Promise<Status | null> => {
  const stored = events.findLast((one) => one.type === 'status' && keyOf(one).includes('#status:'))
  if (stored === undefined) return null
  const note = await resolve(stored)
  const { status, ...rest } = extraOf(note) ?? {}
  const members = {
    status: status ?? note.status,
    failReason: note.reason ?? null,
    ...(note.asks === undefined ? {} : { askPermissions: note.asks }),
  }
  return { at: note.at, extra: rest, members }
}

/** The title that someone gave it; else as Deep Code itself derives one. */
const summaryOf = async ({ session, prompt }: Indexing): Promise<string> => {
  if (session.title === null) {
    const line = await prompt()
    return derivedTitle(line === null ? null : textIn(line, 'content'))
  }
  const note = session.events.findLast(({ type }) => type === 'title')
  const { title, extra } = await session.resolve({
    title: session.title,
    extra: note === undefined ? undefined : extraOf(note),
  })
  const isOwnTitle = note !== undefined && isOwn(note, format) && note.title === session.title
  return (isOwnTitle && extra !== undefined ? textIn(extra, 'summary') : null) ?? title
}
