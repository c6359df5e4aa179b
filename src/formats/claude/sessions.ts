import { basename, dirname } from 'node:path'
import { sha256 } from '../../events/id.js'
import type { SessionItem } from '../format.js'
import { PromptTitle } from '../prompt-title.js'
import type { Json } from '../remainder.js'
import type { Chain, Reading } from './chain.js'
import { type ClaudeRecord, objectOf, textOf } from './records.js'

/** Which session a line belongs to, and how each begins. */

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** What a file's path says: its name, and the session whose sub-agent it is. */
export interface Named {
  readonly name: string
  readonly parent: string | null
}

export const namedBy = (path: string): Named => {
  const folder = dirname(path)
  return {
    name: basename(path, '.jsonl'),
    parent: basename(folder) === 'subagents' ? basename(dirname(folder)) : null,
  }
}

/** The file is named after its session; where it was renamed, its first line tells. */
export const mainKey = ({ name }: Named, { value }: ClaudeRecord): string =>
  uuidPattern.test(name) ? name : (textOf(value, 'sessionId') ?? name)

/** The key of the sub-agent's session that a line belongs to; null for a line of the main one. */
export const agentKey = (named: Named, record: ClaudeRecord, reading: Reading): string | null => {
  const { value, uuid } = record
  if (value.isSidechain !== true) return null
  const agent = textOf(value, 'agentId')
  const session = textOf(value, 'sessionId')
  if (agent !== null)
    return session === `agent-${agent}` && named.parent === null
      ? session
      : `${named.parent ?? session ?? named.name}/agent-${agent}`
  if (named.name.startsWith('agent-')) return `${named.parent ?? session ?? ''}/${named.name}`
  const above = typeof value.parentUuid === 'string' ? reading.placed.get(value.parentUuid)?.chain : undefined
  if (above?.key.includes('/')) return above.key
  return `${session ?? named.name}/sidechain-${uuid ?? record.hash.slice(0, 16)}`
}

/** Members that each line of a session repeats. */
const repeating = [
  'sessionId',
  'agentId',
  'isSidechain',
  'userType',
  'entrypoint',
  'cwd',
  'version',
  'gitBranch',
  'slug',
] as const

export const newChain = (key: string, { value }: ClaudeRecord, at: string): Chain => ({
  key,
  repeated: Object.fromEntries(
    repeating.filter((member) => Object.hasOwn(value, member)).map((member) => [member, value[member]]),
  ),
  tip: null,
  at,
  events: 0,
  status: null,
  statuses: new WeakMap(),
  boundary: null,
  naming: new PromptTitle(),
})

export const sessionItem = (
  chain: Chain,
  record: ClaudeRecord,
  named: Named,
  reading: Reading,
): SessionItem => {
  const { value, line } = record
  const cwd = textOf(value, 'cwd')
  const version = textOf(value, 'version')
  const parent = chain.key.includes('/') ? chain.key.slice(0, chain.key.lastIndexOf('/')) : named.parent
  const prompt = objectOf(value, 'message').content
  const call = typeof prompt === 'string' ? reading.prompts.get(sha256(prompt)) : undefined
  const forked = objectOf(value, 'forkedFrom')
  const from = textOf(forked, 'sessionId')
  return {
    kind: 'session',
    session: chain.key,
    at: chain.at,
    workspace: cwd?.startsWith('/') || /^[A-Za-z]:[\\/]/.test(cwd ?? '') ? cwd : null,
    cwd,
    agent: { name: 'claude-code', ...(version === null ? {} : { version }) },
    ...(parent === null || parent === '' ? {} : { startedBy: call ?? { session: parent, event: null } }),
    ...(from === null ? {} : { forkedFrom: { session: from, event: textOf(forked, 'messageUuid') } }),
    ...(Object.keys(chain.repeated).length === 0 ? {} : { extra: chain.repeated satisfies Json }),
    line,
  }
}
