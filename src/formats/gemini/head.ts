import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../../events/id.js'
import type { SessionItem } from '../format.js'
import { isAbsolute, listIn, textIn } from '../members.js'
import { type Json, remainder } from '../remainder.js'
import { normalTime } from '../time.js'

/** What a chat's own record says, and what its folder tells. */
export interface Head {
  readonly session: string
  readonly at: string | null
  readonly item: (at: string, line: number) => SessionItem
}

/** Gemini writes these anew with each save; they say nothing that the messages do not. */
export const saved: ReadonlySet<string> = new Set(['lastUpdated', 'summary'])

/** `head`: the metadata, whatever of it is there. A document's changes in place, so that the root holds what stays. */
export const headOf = async (source: string, head: Json, isDocument: boolean): Promise<Head> => {
  const session = textIn(head, 'sessionId') ?? basename(source).replace(/\.jsonl?$/, '')
  const workspace = await workspaceOf(source, head)
  const parent = parentOf(source, head)
  const stays = isDocument
    ? Object.fromEntries(Object.entries(head).filter(([name]) => !saved.has(name)))
    : head
  return {
    session,
    at: normalTime(head.startTime ?? head.start_time),
    item: (at, line) => {
      const extra = remainder(stays, { sessionId: session, startTime: at })
      return {
        kind: 'session',
        session,
        at,
        workspace,
        cwd: workspace,
        agent: { name: 'gemini' },
        ...(parent === null ? {} : { startedBy: { session: parent, event: null } }),
        ...(extra === undefined ? {} : { extra }),
        line,
      }
    },
  }
}

/** Where newer versions write the path of a chat's project. */
export const projectRoot = (source: string): string => {
  const folder = source.split(/[\\/]/).lastIndexOf('chats')
  const project = folder === -1 ? dirname(source) : source.split(/[\\/]/).slice(0, folder).join('/')
  return join(project, '.project_root')
}

/** Files name their project by a hash of its path. Newer versions write the path beside; it counts where it fits the hash. */
const workspaceOf = async (source: string, head: Json): Promise<string | null> => {
  const hash = textIn(head, 'projectHash')
  const written = await readFile(projectRoot(source), 'utf8').catch(() => '')
  const named = [written.trim(), ...listIn(head, 'directories').filter((name) => typeof name === 'string')]
  const isHash = hash !== null && /^[0-9a-f]{64}$/.test(hash)
  return named.find((path) => isAbsolute(path) && (!isHash || sha256(path) === hash)) ?? null
}

/** A sub-agent's chat stands in a folder that is named after the session which started it. */
const parentOf = (source: string, head: Json): string | null => {
  const folder = dirname(source)
  const isBelow = basename(dirname(folder)) === 'chats'
  return isBelow && textIn(head, 'kind') !== 'main' ? basename(folder) : null
}
