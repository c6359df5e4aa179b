import { basename } from 'node:path'
import type { SessionItem } from '../format.js'
import { isAbsolute, textIn } from '../members.js'
import { type Json, remainder } from '../remainder.js'
import type { Entry } from './entry.js'

/** `<time>_<session id>.jsonl`: the id that a file's name holds. */
export const idInName = (path: string): string => {
  const name = basename(path.replaceAll('\\', '/')).replace(/\.jsonl$/, '')
  return name.slice(name.lastIndexOf('_') + 1)
}

/** Begins a session by its header, or without one: `first` is what stands in the first line. */
export const sessionItem = (source: string, first: Entry, at: string): SessionItem => {
  const isHeader = first.type === 'session'
  const header: Json = isHeader ? first.value : {}
  const session = (isHeader ? first.id : null) ?? idInName(source)
  const cwd = textIn(header, 'cwd')
  const version = header.version
  const parent = textIn(header, 'parentSession') ?? textIn(header, 'branchedFrom')
  const said = { type: 'session', id: session, timestamp: at, cwd: cwd ?? undefined }
  const extra = isHeader ? remainder(header, said) : undefined
  return {
    kind: 'session',
    session,
    at,
    workspace: isAbsolute(cwd) ? cwd : null,
    cwd,
    agent: { name: 'pi', ...(isHeader && version !== undefined ? { format: version } : {}) },
    ...(parent === null ? {} : { forkedFrom: { session: idInName(parent), event: null } }),
    ...(extra === undefined ? {} : { extra }),
    line: first.line,
  }
}
