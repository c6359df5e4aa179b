import type { EventId } from '../../events/event.js'
import type { SessionRow as IndexRow } from '../../projections/session-index.js'

/** The list of sessions. */

export interface SessionRef {
  readonly id: EventId
  readonly workspace: string
  /** The workspace's folder name in the store. */
  readonly key: string
}

/** A session's row in the index, as `list --json` prints it: texts resolved, times in ISO 8601. */
export interface SessionRow
  extends Omit<
    IndexRow,
    | 'workspace'
    | 'firstPrompt'
    | 'lastAssistant'
    | 'lastReasoning'
    | 'lastRefusal'
    | 'head'
    | 'tail'
    | 'tailAt'
  > {
  readonly workspace: string
  /** Of the log. */
  readonly bytes: number
  readonly lastAssistant: string | null
  readonly lastReasoning: string | null
  readonly lastRefusal: string | null
  /** Sessions that this one started (sub-agents'). */
  readonly children: readonly EventId[]
  /** Why the log could not be folded, where it could not: the session is listed all the same (INV-8). */
  readonly problem: string | null
  /** What kind of problem it is, as `verify` names it: a kind of damage, `lost-tail`, `newer-format`, or an error's tag. */
  readonly problemKind: string | null
}

export interface ListOptions {
  /** Real path; every workspace where absent. */
  readonly workspace?: string
  readonly sub?: boolean
  readonly status?: string
  /** In titles and first prompts, ignoring case. */
  readonly search?: string
  readonly limit?: number
}
