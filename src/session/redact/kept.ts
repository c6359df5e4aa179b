import type { Event } from '../../events/event.js'
import { callsOf, type Members, membersOf, recordOf } from '../../projections/members.js'

/** Members that say what an event is and where it stands, and nothing of what it said, by type. */
const structure: Readonly<Record<string, readonly string[]>> = {
  message: ['role', 'toolCallId', 'group', 'ok', 'visible', 'context', 'aside', 'model', 'provider', 'usage'],
  compaction: ['through', 'trigger', 'model', 'tokensBefore', 'tokensAfter', 'usage'],
  branch: ['name'],
  head: ['to', 'from', 'reason', 'restore'],
  edit: ['target'],
  checkpoint: ['reason', 'toolCallId'],
  restore: ['checkpoint', 'safety'],
  custom: ['name'],
  title: ['by'],
  status: ['status'],
  tool: ['toolCallId', 'state'],
  process: ['pid', 'startedAt', 'state', 'code'],
  label: ['target'],
  request: ['model', 'provider'],
  usage: ['for', 'request', 'model', 'usage'],
}

/** Holding only ids and hashes, or needed to read the log at all. */
const neverRedacted: ReadonlySet<string> = new Set(['session', 'recovered', 'redaction', 'repaired', 'lost'])

/** Whether an event's payload may go: the root says which session it is, and some notes hold nothing but ids and hashes. */
export const canBeRedacted = (type: string): boolean => !neverRedacted.has(type)

/**
 * What a tombstone keeps of its event, so that folds stand as they stood: structure, tokens, and where an importer knows
 * it from (without that, importing again would bring it back). Undefined where there is nothing to keep.
 */
export const keptOf = (event: Event): Members | undefined => {
  const members = membersOf(event)
  const kept = {
    ...pick(members, structure[event.type] ?? ['required']),
    ...callsKept(event, members),
    ...rowKept(event, members),
    ...removalKept(event, members),
    ...originKept(members),
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

const pick = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])))

/** That a call was made is structure, since its result hangs on it; what was asked of the tool is not. */
const callsKept = (event: Event, members: Members): Members => {
  const calls = event.type === 'message' ? callsOf(members) : []
  return calls.length === 0 ? {} : { toolCalls: calls.map(({ id, name }) => ({ id, name })) }
}

/** The branch's name and whose texts the row held, without the texts. */
const rowKept = (event: Event, members: Members): Members => {
  const row = event.type === 'head' ? recordOf(members.row) : null
  if (row === null) return {}
  const names = ['branch', 'event', 'group', 'textEvent', 'textGroup', 'toolEvent', 'activeTokens']
  return { row: pick(row, names) }
}

/** That an edit took words away, and gave none in their place, is structure: no copy of them can be its copy. */
const removalKept = (event: Event, members: Members): Members =>
  event.type === 'edit' && members.replacement === null ? { replacement: null } : {}

const originKept = (members: Members): Members => {
  const origin = recordOf(members.origin)
  return origin === null ? {} : { origin: pick(origin, ['format', 'id']) }
}
