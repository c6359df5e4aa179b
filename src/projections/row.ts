import type { ToolCall } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import { callsOf, type Members, membersOf, numberOf, recordOf, stringOf, textMember } from './members.js'
import { joinStored, readText, type TextValue, textList, textOf } from './text.js'
import { groupOf, readUsage } from './usage-tally.js'

/**
 * The members of the index row that depend on the branch, as of one event: what a `head` event carries, so that moving
 * the head needs no look back (INV-11). Asides and hidden messages are passed over. Texts are in their stored form.
 */
export interface Row {
  /** The branch's name. */
  readonly branch: string
  /** The newest assistant message: reasoning, refusal and active tokens come from it. */
  readonly event: EventId | null
  /** The group of that message, as long as no other message came after it. */
  readonly group: string | null
  readonly lastReasoning: TextValue | null
  readonly lastRefusal: TextValue | null
  /** The newest assistant message with text, and its text. */
  readonly textEvent: EventId | null
  readonly lastAssistant: TextValue | null
  readonly textGroup: string | null
  /** The message that made the newest call, and the call. */
  readonly toolEvent: EventId | null
  readonly lastTool: ToolCall | null
  /** Input and output tokens of the newest assistant message with usage; 0 before one. */
  readonly activeTokens: number
}

export const emptyRow: Row = {
  branch: 'main',
  event: null,
  group: null,
  lastReasoning: null,
  lastRefusal: null,
  textEvent: null,
  lastAssistant: null,
  textGroup: null,
  toolEvent: null,
  lastTool: null,
  activeTokens: 0,
}

/** The row after an event, from the row at its parent. */
export const nextRow = (row: Row, event: Event): Row => {
  const members = membersOf(event)
  if (event.type === 'head') return readRow(members.row, row)
  if (event.type === 'branch') return { ...row, branch: stringOf(members.name) ?? row.branch }
  if (event.type !== 'message' || members.role === 'tool' || members.aside === true) return row
  if (members.role !== 'assistant')
    return row.group === null && row.textGroup === null ? row : { ...row, group: null, textGroup: null }
  return members.visible === false
    ? { ...row, activeTokens: activeTokensOf(members, row) }
    : afterAssistant(row, event, members)
}

/** The row that the live fold has at the end of a path, from the path's events (notes are passed over). */
export const rowOf = (path: Iterable<Event>): Row => {
  let row = emptyRow
  for (const event of path) if (event.note !== true) row = nextRow(row, event)
  return row
}

/** Events of one group are one message: what an earlier one said stands until a later one says it anew. */
const afterAssistant = (row: Row, event: Event, members: Members): Row => {
  const group = groupOf(event, members)
  const { lastReasoning, lastRefusal } = group !== null && group === row.group ? row : emptyRow
  const text = textOf(members.content)
  const call = callsOf(members).at(-1)
  return {
    branch: row.branch,
    event: event.id,
    group,
    lastReasoning: textOf(members.reasoning) ?? lastReasoning,
    lastRefusal: textOf(members.refusal) ?? lastRefusal,
    ...(text === null
      ? textMembers(row)
      : { textEvent: event.id, lastAssistant: grown(row, group, text), textGroup: group }),
    toolEvent: call === undefined ? row.toolEvent : event.id,
    lastTool: call ?? row.lastTool,
    activeTokens: activeTokensOf(members, row),
  }
}

const textMembers = ({
  textEvent,
  lastAssistant,
  textGroup,
}: Row): Pick<Row, 'textEvent' | 'lastAssistant' | 'textGroup'> => ({
  textEvent,
  lastAssistant,
  textGroup,
})

const grown = (row: Row, group: string | null, text: TextValue): TextValue | null =>
  group !== null && group === row.textGroup && group === row.group
    ? joinStored([...textList(row.lastAssistant), ...textList(text)])
    : text

const activeTokensOf = (members: Members, row: Row): number => {
  const usage = readUsage(members.usage)
  const tokens = usage === null ? row.activeTokens : usage.input + usage.output
  return Number.isFinite(tokens) ? tokens : row.activeTokens
}

/** A row as a `head` event holds it; `above` where it holds none (its payload was redacted, or is of another shape). */
const readRow = (value: unknown, above: Row): Row => {
  const row = recordOf(value)
  if (row === null) return above
  return {
    branch: stringOf(row.branch) ?? above.branch,
    event: stringOf(row.event),
    group: stringOf(row.group),
    lastReasoning: readText(row.lastReasoning),
    lastRefusal: readText(row.lastRefusal),
    textEvent: stringOf(row.textEvent),
    lastAssistant: readText(row.lastAssistant),
    textGroup: stringOf(row.textGroup),
    toolEvent: stringOf(row.toolEvent),
    lastTool: readCall(row.lastTool),
    activeTokens: numberOf(row.activeTokens) ?? 0,
  }
}

const readCall = (value: unknown): ToolCall | null => {
  const call = recordOf(value)
  const id = stringOf(call?.id)
  if (call === null || id === null) return null
  return { id, name: stringOf(call.name) ?? '', arguments: textMember(call.arguments) ?? '' }
}
