import { createReadStream } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../../events/id.js'
import { parseJsonl } from '../jsonl.js'
import { textIn, titleOf } from '../members.js'
import { isObject } from '../remainder.js'

/** Codex's own folder, that a rollout stands in; null where it stands elsewhere. */
const homeOf = (source: string): string | null => {
  for (let at = dirname(source); at !== dirname(at); at = dirname(at))
    if (basename(at) === 'sessions' || basename(at) === 'archived_sessions') return dirname(at)
  return null
}

/** What names the threads of Codex's folder; null where the rollout stands elsewhere. */
export const indexOf = (source: string): string | null => {
  const home = homeOf(source)
  return home === null ? null : join(home, 'session_index.jsonl')
}

/** The thread's name in `session_index.jsonl`, where the newest line counts; null where it has none. */
export const threadName = async (source: string, session: string): Promise<string | null> => {
  const index = indexOf(source)
  if (index === null) return null
  let name: string | null = null
  try {
    const lines = parseJsonl(createReadStream(index), { isRecord: isObject })
    for await (const found of lines) {
      if (found.kind === 'fault' || !isObject(found.value) || found.value.id !== session) continue
      name = textIn(found.value, 'thread_name') ?? name
    }
  } catch {
    // Without the index the thread has no name of its own.
  }
  const title = name === null ? '' : titleOf(name)
  return title === '' ? null : title
}

/** Named by what it says, so that a later import adds one only where it changed. */
export const nameKey = (session: string, title: string): string =>
  `${session}#title:${sha256(title).slice(0, 16)}`
