import type { ToolCall } from '../../events/content.js'
import type { Event, EventId } from '../../events/event.js'
import type { Json } from '../remainder.js'
import type { Losses } from './losses.js'

/** What a branch says, in the order in which another tool would have written it. Values are in their stored form. */
export type Step = MessageStep | ResultStep | CompactionStep | OtherStep

interface Base {
  /** Names the step: the same on every branch that shares it. What a derived id is made of. */
  readonly key: string
  /** ISO 8601. */
  readonly at: string
}

/** The system, the user or the model speaks; a `custom` event with content speaks as the user. */
export interface MessageStep extends Base {
  readonly kind: 'message'
  /** One, or those of a group where they are joined. */
  readonly events: readonly Event[]
  /** As the branch's edits leave it: `role`, `content`, `toolCalls` and so on. */
  readonly members: Json
}

/** The result of one call, right after the message that made it, in the order of the calls. */
export interface ResultStep extends Base {
  readonly kind: 'result'
  /** null: nothing gave one, `members` says so. */
  readonly event: Event | null
  readonly members: Json
  /** The call, and the event that made it; null only for an own result that nobody called for. */
  readonly call: ToolCall | null
  readonly caller: EventId | null
}

export interface CompactionStep extends Base {
  readonly kind: 'compaction'
  readonly event: Event
  readonly members: Json
}

/** An event that says nothing to the model: `custom`, `checkpoint`, `branch`, `edit`, unknown types. */
export interface OtherStep extends Base {
  readonly kind: 'other'
  readonly event: Event
}

export interface Passage {
  /**
   * The last event of the path that stays as its own format has it, with all before it; null where nothing does. Steps
   * go on from there. An own event may stand among them again: after a compaction that was moved up, or edited.
   */
  readonly base: Event | null
  readonly steps: readonly Step[]
}

/** Own events that stay together, or are written anew together. */
export interface Units {
  /** Those that an event is one of, itself among them. */
  readonly of: (event: Event) => ReadonlySet<EventId>
  /** Whether what is put below the event is read right after it: nothing of its unit comes between. */
  readonly isEndedBy: (event: Event) => boolean
}

export interface PassageOptions {
  /** The format that is written: its own records stay as they are. */
  readonly format: string
  /** One step for all events of a group. */
  readonly joins: boolean
  /** Each compaction right after what it covers; else where it stands. */
  readonly hoists: boolean
  /** Given by a format that reads a call and its results as one, wherever they stand; else it can go on after any event. */
  readonly units?: Units
  /** Calls that stay as they are get their results also where nothing else is new. */
  readonly paysAll?: boolean
  /** Told of what no step holds: results that nobody called for, edits that were applied, calls without a result. */
  readonly losses: Losses
}
