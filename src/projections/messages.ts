import { toArray } from '../events/chain.js'
import type { Content, ToolCall } from '../events/content.js'
import type { Event, EventId } from '../events/event.js'
import { contentOf, isSameGroup, joinMessages } from './groups.js'
import { type Mark, markOf } from './marks.js'
import { callsOf, type Members, membersOf, stringOf } from './members.js'
import { pairsOf } from './pairs.js'
import { cutOf, type PathEvents, pathProjection } from './path-events.js'
import type { Projection } from './projection.js'

/**
 * A message as a person sees it: every member of its event (what was kept of it, once redacted), values in their stored
 * form. A group is one message: `id` and the members are its last event's, `events` names all of them.
 */
export interface ShownMessage {
  readonly id: EventId
  readonly parent: EventId | null
  readonly at: string
  readonly type: 'message'
  readonly role: string
  readonly content: Content | null
  readonly toolCalls?: readonly ToolCall[]
  readonly redacted?: true
  /** Covered by the newest compaction of the path. */
  readonly compacted: boolean
  /** The nearest code checkpoint at or before it; null where there is none. */
  readonly checkpoint: EventId | null
  /** The branch's name there. */
  readonly branch: string
  readonly events?: readonly EventId[]
  /** On a message with calls: call id → the event of its result, for the calls that have one. */
  readonly results?: Readonly<Record<string, EventId>>
  readonly [member: string]: unknown
}

/** The transcript of a path, and what happened between its messages. */
export interface Transcript {
  readonly messages: readonly ShownMessage[]
  readonly marks: readonly Mark[]
}

/** A message while the path is read: its events so far and where it stood. */
interface Draft {
  readonly events: readonly EventId[]
  readonly members: Members
  readonly compacted: boolean
  readonly checkpoint: EventId | null
  readonly branch: string
}

/** `hidden`: with the messages that are stored as `visible: false`. */
export const viewMessages = (path: PathEvents, { hidden = false } = {}): Transcript => {
  const events = toArray(path)
  const cut = cutOf(events)
  const drafts: Draft[] = []
  const marks: { event: Event; next: number }[] = []
  let open = -1
  let checkpoint: EventId | null = null
  let branch = 'main'
  events.forEach((event, at) => {
    const members = membersOf(event)
    if (isCheckpoint(event, members)) checkpoint = event.id
    if (event.type === 'branch') branch = stringOf(members.name) ?? branch
    if (event.type !== 'message') marks.push({ event, next: drafts.length })
    else if (hidden || members.visible !== false) {
      const before = drafts[open]
      const isOne = before !== undefined && isSameGroup(before.members, members)
      const here = { compacted: at <= cut, checkpoint, branch }
      if (isOne) drafts[open] = grow(before, event, members)
      else drafts.push({ ...here, events: [event.id], members: { ...members, ...envelopeOf(event) } })
      if (!isOne && members.role !== 'tool') open = drafts.length - 1
    }
  })
  const messages = withResults(drafts)
  return {
    messages,
    marks: marks.flatMap(({ event, next }) => markOf(event, messages[next]?.id ?? null) ?? []),
  }
}

/** A checkpoint that can be gone back to: one that failed, or whose payload was redacted, cannot. */
export const isCheckpoint = (event: Event, members: Members): boolean =>
  event.type === 'checkpoint' && typeof members.commit === 'string'

const envelopeOf = ({ id, parent, at, type, redacted }: Event): Members => ({
  id,
  parent,
  at,
  type,
  ...(redacted === true ? { redacted: true } : {}),
})

const grow = (before: Draft, event: Event, members: Members): Draft => ({
  ...before,
  events: [...before.events, event.id],
  members: {
    ...joinMessages(before.members, { ...members, ...envelopeOf(event) }),
    parent: before.members.parent,
  },
})

const withResults = (drafts: readonly Draft[]): readonly ShownMessage[] => {
  const messages = drafts.map((draft) => ({ id: draft.events.at(-1) ?? '', members: draft.members, draft }))
  const { results } = pairsOf(messages)
  return messages.map(({ id, members, draft }) => {
    const calls = callsOf(members)
    const answered = [...(results.get(id) ?? [])].map(([call, result]) => [call, result.id] as const)
    return {
      ...members,
      id,
      parent: stringOf(members.parent),
      at: stringOf(members.at) ?? '',
      type: 'message',
      role: stringOf(members.role) ?? 'unknown',
      content: contentOf(members.content),
      ...(members.toolCalls === undefined ? {} : { toolCalls: calls }),
      compacted: draft.compacted,
      checkpoint: draft.checkpoint,
      branch: draft.branch,
      ...(draft.events.length > 1 ? { events: draft.events } : {}),
      ...(calls.length > 0 ? { results: Object.fromEntries(answered) } : {}),
    } as ShownMessage
  })
}

/** What a person sees of a path: visible messages and asides, calls paired with results, and what happened between. */
export const messages: Projection<PathEvents, Transcript> = pathProjection('messages', 1, (path) =>
  viewMessages(path),
)
