import { toArray } from '../events/chain.js'
import type { Event, EventId } from '../events/event.js'
import { membersOf, stringOf } from './members.js'
import { isCheckpoint, type ShownMessage, viewMessages } from './messages.js'
import { type PathEvents, pathProjection } from './path-events.js'
import type { Projection } from './projection.js'
import { type TextValue, textOf } from './text.js'

/** A prompt that can be taken back: undoing goes to just before it. */
export interface UndoTarget {
  readonly id: EventId
  /** The whole prompt, in its stored form; '' where it has no text. */
  readonly text: TextValue
  readonly at: string
  /** The code checkpoint to go back to: the nearest at or before it, else the first after it. */
  readonly checkpoint: EventId | null
  /** Whether the code can go back too, as far as the log says. */
  readonly restorable: boolean
  /** Why not. */
  readonly why: string | null
}

/** `all`: with the prompts that a compaction covers. */
export const viewUndoTargets = (path: PathEvents, { all = false } = {}): readonly UndoTarget[] => {
  const events = toArray(path)
  const nextCheckpoint = checkpointsAfter(events)
  const why = whyNoCheckpoint(events)
  return viewMessages(path)
    .messages.filter((message) => isTarget(message) && (all || !message.compacted))
    .map((message) => {
      const id = message.events?.[0] ?? message.id
      const checkpoint = message.checkpoint ?? nextCheckpoint.get(id) ?? null
      const restorable = checkpoint !== null
      return {
        id,
        text: textOf(message.content) ?? '',
        at: message.at,
        checkpoint,
        restorable,
        why: restorable ? null : why,
      }
    })
}

const isTarget = ({ role, aside }: ShownMessage): boolean => role === 'user' && aside !== true

/** For each event: the first checkpoint after it. */
const checkpointsAfter = (events: readonly Event[]): ReadonlyMap<EventId, EventId | null> => {
  const after = new Map<EventId, EventId | null>()
  let next: EventId | null = null
  for (const event of events.toReversed()) {
    after.set(event.id, next)
    if (isCheckpoint(event, membersOf(event))) next = event.id
  }
  return after
}

const whyNoCheckpoint = (events: readonly Event[]): string => {
  const tries = events.filter(({ type }) => type === 'checkpoint')
  const failed = tries.map((event) => stringOf(membersOf(event).failed)).findLast((reason) => reason !== null)
  return failed === undefined || failed === null
    ? 'no code checkpoint on this branch'
    : `the checkpoint failed: ${failed}`
}

/** The prompts on the branch that can be taken back, first to last: visible, no asides, covered by no compaction. */
export const undoTargets: Projection<PathEvents, readonly UndoTarget[]> = pathProjection(
  'undoTargets',
  1,
  (path) => viewUndoTargets(path),
)
