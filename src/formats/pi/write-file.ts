import type { EventId } from '../../events/event.js'
import type { HexIds } from '../write/ids.js'
import type { Losses } from '../write/losses.js'
import type { Outgoing } from '../writer.js'

export const format = 'pi'

/** A line to be written; what it holds is made when it is asked for. */
export type Making = () => Promise<string | Uint8Array>

/** An entry's id; null for one of version 1, which has none, and for the place above all entries. */
export type EntryId = string | null

/** A session file on its way: its lines, and which entry stands for an event. */
export interface PiFile {
  readonly session: Outgoing
  readonly losses: Losses
  readonly ids: HexIds
  readonly lines: Making[]
  /** Entries that lack an id get one: what is added must be able to name them. */
  readonly isUpgraded: boolean
  /**
   * Events of the source that stand as they are, by the entry that says them, or that the nearest event above which has
   * one does.
   */
  readonly own: ReadonlyMap<EventId, EntryId>
  /** Entries written beside those, by the entry above and the step. */
  readonly written: Map<string, string>
  /** The entry of any event that was written: the last one where there are several. */
  readonly entries: Map<EventId, string>
  /** The last entry of the file, where Pi goes on. */
  last: EntryId
}
