import type { Event, EventId } from '../../src/events/event.js'
import { advancesHead } from '../../src/events/event.js'
import type { Session, Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { SimFs } from './disk/sim-fs.js'
import { SimWorkFs } from './disk/sim-work-fs.js'
import type { ProcessMachine } from './machine.js'
import { KnownSession } from './model.js'
import { Seeded } from './random.js'
import type { Step } from './step.js'

export const storeFolder = '/s'
const workspaces = ['/nowhere/w', '/nowhere/w', '/nowhere/w', '/nowhere/v']

/** Lines that a watcher was given, in order. */
export interface Watched {
  readonly session: EventId
  readonly ids: EventId[]
  readonly stop: AbortController
  /** Where it began: after this event. */
  readonly after: EventId
}

/** One process: its own store, and the sessions that it holds open. */
export class Actor {
  readonly store: Promise<Store>
  readonly fs: SimFs
  readonly open = new Map<EventId, Session>()
  readonly watched: Watched[] = []

  constructor(
    readonly machine: ProcessMachine,
    readonly known: Map<EventId, KnownSession>,
    seed: number,
  ) {
    const { computer } = machine
    const fs = new SimFs(machine)
    this.fs = fs
    machine.closeAll = () => fs.closeAll()
    const work = new SimWorkFs(fs)
    this.store = openStore(storeFolder, {
      fs,
      work,
      userHome: '/root',
      clock: computer.clock,
      random: new Seeded(seed, 4),
    })
  }

  /** Opens a session as a newcomer does, and appends. */
  comeLast(id: EventId, ended: (error: unknown) => void): void {
    const come = async (): Promise<void> => {
      const session = await (await this.store).open(id)
      const known = this.knownOf(id)
      const draft = { type: 'message', role: 'user', content: 'all is well' }
      this.acked(known, await session.append(draft as never), true)
      session.close()
    }
    come().then(() => ended(null), ended)
  }

  /** Ends as programs do. */
  leave(): void {
    for (const session of this.open.values()) session.close()
    for (const { stop } of this.watched) stop.abort()
  }

  /** The session that a step means: an open one, or else one that it opens, or makes. */
  async session({ pick }: Step): Promise<{ readonly session: Session; readonly known: KnownSession }> {
    const open = [...this.open.values()]
    const session = open.length > 0 ? (open[pick % open.length] as Session) : await this.opened(pick)
    return { session, known: this.knownOf(session.id) }
  }

  async opened(pick: number): Promise<Session> {
    const ids = [...this.known.keys()]
    const id = ids[pick % Math.max(1, ids.length)]
    if (id === undefined) return this.made(pick)
    const there = this.open.get(id)
    if (there !== undefined) return there
    const session = await (await this.store).open(id)
    if (this.open.has(id)) session.close()
    else this.holds(session)
    return this.open.get(id) as Session
  }

  async made(pick: number): Promise<Session> {
    const store = await this.store
    const more = pick % 3 === 0 ? { system: 'be brief' } : pick % 3 === 1 ? { title: 'a title' } : {}
    const session = await store.create({ workspace: workspaces[pick % workspaces.length] as string, ...more })
    this.stands(this.knownOf(session.id), session)
    this.holds(session)
    return session
  }

  holds(session: Session): void {
    this.open.set(session.id, session)
    this.known.get(session.id)?.holders.add(this.machine)
  }

  /** Closes a session, if it is open here. */
  closed(id: EventId): void {
    this.known.get(id)?.holders.delete(this.machine)
    this.open.get(id)?.close()
    this.open.delete(id)
  }

  knownOf(id: EventId): KnownSession {
    const known = this.known.get(id) ?? new KnownSession(id)
    // Whoever prunes may have seen it already.
    if (!this.known.has(id) && this.machine.computer.prunes > 0) known.place = 'unsure'
    if (this.machine.isAlive) this.known.set(id, known)
    return known
  }

  /** What a program does when an append is acknowledged. */
  acked(known: KnownSession, events: readonly Event[], isSynced: boolean): void {
    if (!this.machine.isAlive) return
    known.ack(
      events.map(({ id }) => id),
      isSynced,
    )
    this.machine.computer.counts.acked += events.length
    for (const event of events) if (advancesHead(event)) known.nodes.push(event.id)
    for (const { type, role, id } of events) if (type === 'message' && role === 'user') known.prompts.push(id)
  }

  /** The same where a call tells only where the session then stands: on what it wrote itself, or else on others'. */
  stands(known: KnownSession, { position }: Session): void {
    const { isAlive, hadFault, attempted } = this.machine
    if (!isAlive) return
    if (!hadFault && attempted.has(position)) known.stands(position)
    known.nodes.push(position)
  }
}

export type Act = (actor: Actor, step: Step, seeded: Seeded) => Promise<unknown>
