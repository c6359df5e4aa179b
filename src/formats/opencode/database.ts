import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parsedJson, textIn, withoutUndefined } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import type { StoredMessage, StoredSession } from './stored.js'

type Row = Readonly<Record<string, unknown>>

interface Reader {
  readonly rows: (sql: string, values?: string[]) => Row[]
  readonly close: () => void
}

/**
 * Reads every session of OpenCode's database, the oldest first. A copy is read, with what its write-ahead log holds, so
 * that nothing is ever locked or written in OpenCode's folder. Rejects where it is no such database.
 */
export async function* readDatabase(
  source: string,
  say: (text: string) => void,
): AsyncGenerator<StoredSession> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-opencode-'))
  try {
    const copy = join(folder, basename(source))
    await copyFile(source, copy)
    await copyFile(`${source}-wal`, `${copy}-wal`).catch(() => undefined)
    const reader = await open(copy)
    try {
      for (const row of reader.rows('select * from session order by time_created, id'))
        yield sessionOf(row, reader, say)
    } finally {
      reader.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** SQLite as WebAssembly, loaded for this alone (decision 0021). */
const open = async (path: string): Promise<Reader> => {
  const { default: sqlite } = await import('node-sqlite3-wasm')
  const database = new sqlite.Database(path, { fileMustExist: true })
  // Without shared memory a write-ahead log is read by one alone; the copy is ours alone.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  return {
    rows: (sql, values = []) => database.all(sql, values) as Row[],
    close: () => database.close(),
  }
}

const sessionOf = (row: Row, reader: Reader, say: (text: string) => void): StoredSession => {
  const id = String(row.id)
  const parts = new Map<string, Json[]>()
  for (const part of reader.rows('select * from part where session_id = ? order by id', [id])) {
    const message = String(part.message_id)
    const value = recordOf(part, { id: part.id, sessionID: id, messageID: message }, say)
    if (value !== null) parts.set(message, [...(parts.get(message) ?? []), value])
  }
  const messages = reader
    .rows('select * from message where session_id = ? order by time_created, id', [id])
    .flatMap((message): StoredMessage[] => {
      const info = recordOf(message, { id: message.id, sessionID: id }, say)
      return info === null ? [] : [{ info, parts: parts.get(String(message.id)) ?? [] }]
    })
  if (messages.length === 0) sayNewer(id, reader, say)
  return { info: infoOf(row), messages }
}

const recordOf = (row: Row, ids: Json, say: (text: string) => void): Json | null => {
  const value = parsedJson(String(row.data))
  if (isObject(value)) return { ...ids, ...value }
  say(`row ${String(row.id)} holds no JSON object: left out`)
  return null
}

/** Versions that keep a session as events beside its messages. */
const sayNewer = (id: string, reader: Reader, say: (text: string) => void): void => {
  const tables = reader.rows(
    "select name from sqlite_master where type = 'table' and name = 'session_message'",
  )
  if (tables.length === 0) return
  const [count] = reader.rows('select count(*) as n from session_message where session_id = ?', [id])
  if (Number(count?.n) > 0)
    say(`session ${id} stands in tables of a newer version, which Coppice does not read: use opencode export`)
}

/** The record as OpenCode's files have it. Columns that hold nothing are left out. */
const infoOf = (row: Row): Json => {
  const { additions, deletions, files } = under(row, 'summary_')
  const times = under(row, 'time_')
  const tokens = under(row, 'tokens_')
  const named = Object.entries(row).filter(
    ([name]) => !/^(summary|time|tokens)_/.test(name) && !renamed.has(name),
  )
  return withoutUndefined({
    ...Object.fromEntries(
      named.flatMap(([name, value]) => (value === null ? [] : [[name, jsonIn(name, value)]])),
    ),
    projectID: textIn(row, 'project_id') ?? undefined,
    parentID: textIn(row, 'parent_id') ?? undefined,
    forkSessionID: textIn(row, 'fork_session_id') ?? undefined,
    forkMessageID: textIn(row, 'fork_message_id') ?? undefined,
    share: typeof row.share_url === 'string' ? { url: row.share_url } : undefined,
    summary: additions === undefined ? undefined : { additions, deletions, files },
    tokens: Object.keys(tokens).length === 0 ? undefined : tokens,
    time: times,
  })
}

const renamed = new Set(['project_id', 'parent_id', 'fork_session_id', 'fork_message_id', 'share_url'])
const json = new Set(['revert', 'permission', 'goal', 'model'])

const jsonIn = (name: string, value: unknown): unknown =>
  json.has(name) && typeof value === 'string' ? (parsedJson(value) ?? value) : value

const under = (row: Row, prefix: string): Json =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== null ? [[name.slice(prefix.length), value]] : [],
    ),
  )
