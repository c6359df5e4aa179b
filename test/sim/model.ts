import type { EventId } from '../../src/events/event.js'

/** A process, as far as one must know whether it lives. */
export interface Living {
  readonly isAlive: boolean
}

/** What the programs were told of one session. */
export class KnownSession {
  /** Acknowledged as on disk: there for good. */
  readonly acked = new Set<EventId>()
  /** Acknowledged without a sync: there until the power is cut, or a sync fails. */
  readonly soft = new Set<EventId>()
  /** Every event that was ever acknowledged so: that a session stands on it says nothing of the disk. */
  readonly #everSoft = new Set<EventId>()
  /** Where steps may go: events that advance the head, and those that are prompts. */
  readonly nodes: EventId[]
  readonly prompts: EventId[] = []
  /** `unsure`: a move to or from the archive did not say how it ended. */
  place: 'live' | 'archived' | 'unsure' = 'live'
  /** How many moves are under way. */
  moving = 0
  /** A purge may have taken it from the archive. */
  mayBeGone = false
  /** A purge said that it took it. */
  isPurged = false
  /** Processes that hold it open, if they live. */
  readonly holders = new Set<Living>()
  /** How often something set out to put another log in the place of its log. */
  rewrites = 0
  /** Texts that a redaction took out, and said so: they stand nowhere but in the archive. */
  readonly hidden = new Set<string>()
  /** An import made it; and the records that imports said they brought. */
  isImported = false
  readonly records = new Set<string>()

  constructor(readonly id: EventId) {
    this.acked.add(id)
    this.nodes = [id]
  }

  /** An append with a sync resolved: what was written before it is on disk too. */
  ack(ids: readonly EventId[], isSynced: boolean): void {
    for (const id of ids) (isSynced ? this.acked : this.soft).add(id)
    if (!isSynced) {
      for (const id of ids) this.#everSoft.add(id)
      return
    }
    for (const id of this.soft) this.acked.add(id)
    this.soft.clear()
  }

  /** It is on its way to or from the archive; gives the way to say where it arrived. */
  leaves({ purges }: { readonly purges: number }): (place: KnownSession['place']) => void {
    const isAlone = this.moving === 0
    this.moving++
    this.place = 'unsure'
    if (purges > 0) this.mayBeGone = true
    return (place) => {
      this.moving--
      if (isAlone && this.moving === 0) this.place = place
    }
  }

  /** A call that syncs what it writes has ended, and its session stands on this event, which its process wrote. */
  stands(position: EventId): void {
    // Where the call had nothing to write, it synced nothing.
    if (!this.#everSoft.has(position) && !this.acked.has(position)) this.ack([position], true)
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
