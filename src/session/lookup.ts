import type { Event, EventId } from '../events/event.js'
import { bodyOf, type Line } from '../events/line.js'
import type { EventLog, ReadOptions } from '../events/log.js'
import { callsOf, type Members, membersOf, recordOf, stringOf } from '../projections/members.js'
import { type Row, rowOf } from '../projections/row.js'
import { textOf } from '../projections/text.js'
import { readUsage } from '../projections/usage-tally.js'
import { type Branch, extend } from './branch.js'

/** The line of an event, or null: from the log's end, since what is asked for is mostly recent. */
export const findLine = async (
  log: EventLog,
  session: EventId,
  id: EventId,
  options: ReadOptions = {},
): Promise<Line | null> => {
  for await (const batch of log.readBackward(session, options)) {
    const found = batch.find((line) => line.id === id)
    if (found !== undefined) return found
  }
  return null
}

/**
 * The same draft with the same time on the same parent, as a submission before wrote it: under its own id, or, where the
 * parent was no open end, on the `head` event that went to the parent. It can only stand after its parent, so no more
 * than that is read.
 */
export const findWritten = async (
  log: EventLog,
  session: EventId,
  line: Line,
  options: ReadOptions = {},
): Promise<Line | null> => {
  const alike: Line[] = []
  const heads = new Set<EventId | null>()
  for await (const batch of log.readBackward(session, options)) {
    for (const found of batch) {
      if (found.id === line.id) return found
      if (found.at === line.at && found.type === line.type && !found.note) alike.push(found)
      if (found.type === 'head' && found.parent === line.parent) heads.add(found.id)
      if (found.id !== line.parent) continue
      const body = bodyOf(line)
      return alike.find((other) => heads.has(other.parent) && bodyOf(other) === body) ?? null
    }
  }
  return null
}

/**
 * The branch of events given nearest first: up to the `through` of its newest compaction, where that says what it keeps
 * (INV-11), or, `whole`, as far as they go.
 */
export const loadBranch = async (
  events: AsyncIterable<Event>,
  reach: 'recent' | 'whole',
): Promise<Branch> => {
  const found: Event[] = []
  let newest: Members | null = null
  let isWhole = true
  for await (const event of events) {
    found.push(event)
    if (event.type === 'compaction') newest ??= membersOf(event)
    if (reach !== 'recent' || newest === null || event.parent === null) continue
    if (event.id === newest.through && Array.isArray(newest.keep)) {
      isWhole = false
      break
    }
  }
  return found.reduceRight<Branch>(extend, { nodes: null, isWhole })
}

/**
 * The path's events from what its newest compaction left, in log order, of events given nearest first; all of them where
 * that does not say what it keeps. Notes come after what they hang on.
 */
export const loadRecent = async (events: AsyncIterable<Event>): Promise<readonly Event[]> => {
  const groups: Event[][] = []
  let newest: Members | null = null
  for await (const event of events) {
    if (event.note === true) {
      groups[groups.length - 1]?.push(event)
      continue
    }
    if (newest !== null && event.id === newest.through && Array.isArray(newest.keep)) break
    if (event.type === 'compaction') newest ??= membersOf(event)
    groups.push([event])
  }
  return groups.reverse().flat()
}

/**
 * The branch-dependent members of the index row after events given nearest first. Takes events only until everything is
 * known: a `head` event carries it all, and the branch's name is that of the nearest `branch` event, or known to the
 * caller.
 */
export const loadRow = async (events: AsyncIterable<Event>, branchName: string | null): Promise<Row> => {
  const found: Event[] = []
  const known = { text: false, tool: false, usage: false, closed: false }
  let name = branchName
  for await (const event of events) {
    found.push(event)
    const members = membersOf(event)
    if (event.type === 'head' && recordOf(members.row) !== null) break
    if (event.type === 'branch') name ??= stringOf(members.name)
    if (event.type === 'message' && members.aside !== true) note(known, members)
    if (name !== null && known.closed) break
  }
  const row = rowOf(found.reverse())
  return name === null ? row : { ...row, branch: name }
}

/** `closed`: a message above what is known ends any group that it could belong to. */
const note = (
  known: { text: boolean; tool: boolean; usage: boolean; closed: boolean },
  members: Members,
): void => {
  if (members.role === 'tool') return
  if (members.role !== 'assistant') {
    known.closed = known.text && known.tool && known.usage
    return
  }
  known.usage ||= isCounted(members.usage)
  if (members.visible === false) return
  known.text ||= textOf(members.content) !== null
  known.tool ||= callsOf(members).length > 0
}

const isCounted = (value: unknown): boolean => {
  const usage = readUsage(value)
  return usage !== null && Number.isFinite(usage.input + usage.output)
}
