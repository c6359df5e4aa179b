import type { Content, ToolCall } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import { contentOf, isSameGroup, joinMessages } from './groups.js'
import { callsOf, type Members, membersOf, recordOf, stringOf } from './members.js'
import { type Pairs, type PathMessage, pairsOf } from './pairs.js'

/** One message of the model's context, whatever the provider. */
export interface ContextMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: Content | null
  readonly toolCalls?: readonly ToolCall[]
  readonly toolCallId?: string
  readonly ok?: boolean
  readonly reasoning?: unknown
  readonly replay?: unknown
  readonly refusal?: unknown
  readonly model?: string
  readonly provider?: string
  /** The summary of a compaction. */
  readonly summary?: true
  /** A result that no tool gave: what is known of the call. */
  readonly synthetic?: 'not started' | 'outcome unknown'
  /** The events it comes from; none for a synthetic result. */
  readonly ids: readonly EventId[]
}

export interface ContextParts {
  readonly kept: readonly PathMessage[]
  readonly summary: PathMessage | null
  /** Everything after `through`, results that nobody called for included. */
  readonly recent: readonly PathMessage[]
  /** Notes on how far calls came; each hangs on the message that made the call. */
  readonly toolNotes: readonly Event[]
}

/** The parts as a list that a provider accepts: every call followed by one result, in call order, and no other results. */
export const repaired = ({ kept, summary, recent, toolNotes }: ContextParts): readonly ContextMessage[] => {
  const started = startedCalls(toolNotes)
  return [
    ...answered(kept, () => null),
    ...(summary === null || isEmpty(summary.members)
      ? []
      : [{ ...messageFrom([summary.id], summary.members), summary: true as const }]),
    ...answered(recent, (ids, call) => synthetic(call, ids, started)),
  ]
}

/** A result for a call that has none; null where the call had better be left out (its result was not kept). */
type Missing = (ids: readonly EventId[], call: string) => ContextMessage | null

const answered = (messages: readonly PathMessage[], missing: Missing): readonly ContextMessage[] => {
  const pairs = pairsOf(messages)
  return joinGroups(messages.filter(({ members }) => members.role !== 'tool' && isForModel(members))).flatMap(
    (message) => {
      const calls = callsIn(message)
      const results = calls.map(({ id }) => resultOf(message, id, pairs) ?? missing(message.ids, id))
      const answeredCalls = calls.filter((_, at) => results[at] !== null)
      return isEmpty(message.members) && answeredCalls.length === 0
        ? []
        : [
            messageFrom(message.ids, message.members, answeredCalls),
            ...results.filter((result) => result !== null),
          ]
    },
  )
}

const isForModel = (members: Members): boolean => members.context !== false && members.aside !== true

interface Joined {
  readonly ids: readonly EventId[]
  readonly members: Members
}

const joinGroups = (messages: readonly PathMessage[]): readonly Joined[] => {
  const joined: Joined[] = []
  for (const { id, members } of messages) {
    const last = joined.at(-1)
    if (last === undefined || !isSameGroup(last.members, members)) joined.push({ ids: [id], members })
    else joined[joined.length - 1] = { ids: [...last.ids, id], members: joinMessages(last.members, members) }
  }
  return joined
}

/** Only the model calls: on a message of another role calls are an importer's remark. */
const callsIn = ({ members }: Joined): readonly ToolCall[] =>
  members.role === 'assistant' ? callsOf(members) : []

const resultOf = ({ ids }: Joined, call: string, { results }: Pairs<PathMessage>): ContextMessage | null => {
  const result = ids.map((id) => results.get(id)?.get(call)).findLast((found) => found !== undefined)
  if (result === undefined) return null
  const { id, members } = result
  // A result that is not for the model leaves its place, so that the call stays answered.
  const content = isForModel(members) ? (contentOf(members.content) ?? '') : '[removed]'
  return {
    role: 'tool',
    content,
    toolCallId: call,
    ...(typeof members.ok === 'boolean' ? { ok: members.ok } : {}),
    ids: [id],
  }
}

const keyOf = (event: EventId, call: string): string => `${event} ${call}`

const startedCalls = (toolNotes: readonly Event[]): ReadonlySet<string> => {
  const started = new Set<string>()
  for (const note of toolNotes) {
    const members = membersOf(note)
    const call = stringOf(members.toolCallId)
    if (members.state === 'started' && call !== null) started.add(keyOf(note.parent ?? '', call))
  }
  return started
}

const synthetic = (call: string, ids: readonly EventId[], started: ReadonlySet<string>): ContextMessage => {
  const isStarted = ids.some((id) => started.has(keyOf(id, call)))
  return {
    role: 'tool',
    content: isStarted
      ? 'The call was interrupted, outcome unknown: check before retrying.'
      : 'The call was not started: it had no effect.',
    toolCallId: call,
    ok: false,
    synthetic: isStarted ? 'outcome unknown' : 'not started',
    ids: [],
  }
}

const isEmpty = (members: Members): boolean => {
  const content = contentOf(members.content)
  const isSilent =
    content === null || content === '' || (Array.isArray(content) && content.every(isEmptyText))
  return isSilent && (members.refusal === undefined || members.refusal === null)
}

const isEmptyText = (part: unknown): boolean => {
  const members = recordOf(part)
  return members?.type === 'text' && members.text === ''
}

const carried = ['reasoning', 'replay', 'refusal', 'model', 'provider'] as const

/** Member by member: a spread for each costs more than all else that a long context takes. */
const messageFrom = (
  ids: readonly EventId[],
  members: Members,
  calls: readonly ToolCall[] = [],
): ContextMessage => {
  const message: Record<string, unknown> = { role: members.role, content: contentOf(members.content) }
  if (calls.length > 0) message.toolCalls = calls
  for (const name of carried)
    if (members[name] !== undefined && members[name] !== null) message[name] = members[name]
  message.ids = ids
  return message as unknown as ContextMessage
}
