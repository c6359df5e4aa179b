import { basename } from 'node:path'
import type { SessionItem } from '../format.js'
import { isAbsolute, objectIn, textIn } from '../members.js'
import { type Json, remainder } from '../remainder.js'
import type { CodexRecord } from './record.js'

/** `rollout-<time>-<thread id>.jsonl`: the id that a file's name holds, else the name. */
export const idInName = (path: string): string => {
  const name = basename(path).replace(/\.jsonl(\.zst)?$/, '')
  const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0]
  return id ?? name
}

/** The thread that spawned this one, where it is a sub-agent's. */
const spawnedBy = (meta: Json): string | null =>
  textIn(meta, 'parent_thread_id') ??
  textIn(objectIn(objectIn(objectIn(meta, 'source'), 'subagent'), 'thread_spawn'), 'parent_thread_id')

/** Begins a session by its `session_meta`, or without one: `first` is what stands in the first line. */
export const sessionItem = (source: string, first: CodexRecord, at: string): SessionItem => {
  const isMeta = first.type === 'session_meta'
  const meta: Json = isMeta ? first.payload : {}
  const session = textIn(meta, 'id') ?? idInName(source)
  const cwd = textIn(meta, 'cwd')
  const version = textIn(meta, 'cli_version')
  const forked = textIn(meta, 'forked_from_id')
  const parent = spawnedBy(meta)
  const extra = isMeta ? remainder(first.value, saidMeta(session, cwd, version, at, first.isBare)) : undefined
  return {
    kind: 'session',
    session,
    at,
    workspace: isAbsolute(cwd) ? cwd : null,
    cwd,
    agent: {
      name: 'codex',
      ...(version === null ? {} : { version }),
      ...(first.isBare ? { records: 'bare' } : {}),
    },
    ...(parent === null ? {} : { startedBy: { session: parent, event: null } }),
    ...(forked === null ? {} : { forkedFrom: { session: forked, event: null } }),
    ...(extra === undefined ? {} : { extra }),
    line: first.line,
  }
}

/** The line that a writer makes of what the session's root says. */
export const saidMeta = (
  session: string,
  cwd: string | null,
  version: string | null,
  at: string,
  isBare: boolean,
): Json => {
  const payload = { id: session, timestamp: at, cwd: cwd ?? undefined, cli_version: version ?? undefined }
  return isBare ? payload : { timestamp: at, type: 'session_meta', payload }
}
