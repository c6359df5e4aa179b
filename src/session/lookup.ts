import type { Event, EventId } from '../events/event.js'
import type { Line } from '../events/line.js'
import type { EventLog } from '../events/log.js'
import { walkBack } from '../events/walk.js'
import { membersOf, recordOf } from '../projections/members.js'
import { type Row, rowOf } from '../projections/row.js'
import { textOf } from '../projections/text.js'
import { type Branch, extend } from './branch.js'
import { eventOf } from './saved-fold.js'

/** The line of an event, or null: from the log's end, since what is asked for is mostly recent. */
export const findLine = async (log: EventLog, session: EventId, id: EventId): Promise<Line | null> => {
  for await (const batch of log.readBackward(session)) {
    const found = batch.find((line) => line.id === id)
    if (found !== undefined) return found
  }
  return null
}

/** The branch above an event: up to the `through` of its newest compaction, or, `whole`, up to the root. */
export const loadBranch = async (
  log: EventLog,
  session: EventId,
  leaf: EventId,
  reach: 'recent' | 'whole',
): Promise<Branch> => {
  const events: Event[] = []
  let until: unknown
  let isWhole = true
  for await (const { line } of walkBack(log, session, leaf)) {
    const event = eventOf(line, session)
    events.push(event)
    if (event.type === 'compaction') until ??= membersOf(event).through
    if (reach === 'recent' && event.id === until && event.parent !== null) {
      isWhole = false
      break
    }
  }
  return events.reduceRight<Branch>(extend, { nodes: null, isWhole })
}

/**
 * The branch-dependent members of the index row at an event that is no open end. Goes up only until everything in them
 * is known: a `head` event on the way carries them, and the branch's name may be known by the caller.
 */
export const loadRow = async (
  log: EventLog,
  session: EventId,
  at: EventId,
  branchName: string | null,
): Promise<Row> => {
  const events: Event[] = []
  const known = { text: false, tool: false, usage: false, prompt: false }
  for await (const { line } of walkBack(log, session, at)) {
    const event = eventOf(line, session)
    events.push(event)
    if (event.type === 'head' && recordOf(membersOf(event).row) !== null) break
    note(known, event)
    if (branchName !== null && known.text && known.tool && known.usage && known.prompt) break
  }
  const row = rowOf(events.reverse())
  return branchName === null ? row : { ...row, branch: branchName }
}

/** A prompt above the rest ends any group that they belong to. */
const note = (
  known: { text: boolean; tool: boolean; usage: boolean; prompt: boolean },
  event: Event,
): void => {
  const members = membersOf(event)
  if (event.type !== 'message') return
  if (members.role === 'user') known.prompt = known.text && known.tool && known.usage
  if (members.role !== 'assistant' || members.aside === true || members.visible === false) return
  known.text ||= textOf(members.content) !== null
  known.tool ||= Array.isArray(members.toolCalls) && members.toolCalls.length > 0
  known.usage ||= recordOf(members.usage) !== null
}
