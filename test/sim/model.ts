import type { EventId } from '../../src/events/event.js'

/** What the programs were told of one session. */
export class KnownSession {
  /** Acknowledged as on disk: there for good. */
  readonly acked = new Set<EventId>()
  /** Acknowledged without a sync: there until the power is cut, or a sync fails. */
  readonly soft = new Set<EventId>()
  /** Where steps may go: events that advance the head, and those that are prompts. */
  readonly nodes: EventId[]
  readonly prompts: EventId[] = []
  /** `unsure`: a move to or from the archive did not say how it ended. */
  place: 'live' | 'archived' | 'unsure' = 'live'
  /** How many moves are under way. */
  moving = 0

  constructor(readonly id: EventId) {
    this.acked.add(id)
    this.nodes = [id]
  }

  /** An append with a sync resolved: what was written before it is on disk too. */
  ack(ids: readonly EventId[], isSynced: boolean): void {
    for (const id of ids) (isSynced ? this.acked : this.soft).add(id)
    if (!isSynced) return
    for (const id of this.soft) this.acked.add(id)
    this.soft.clear()
  }
}

/** A law that did not hold. */
export class Broken extends Error {
  constructor(
    readonly law: string,
    detail: string,
  ) {
    super(`${law}: ${detail}`)
  }
}
