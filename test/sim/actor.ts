import type { Event, EventId } from '../../src/events/event.js'
import { advancesHead } from '../../src/events/event.js'
import type { Session, Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { putByHand, SimWorkFs } from './disk/sim-work-fs.js'
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
  readonly open = new Map<EventId, Session>()
  readonly watched: Watched[] = []

  constructor(
    readonly machine: ProcessMachine,
    readonly known: Map<EventId, KnownSession>,
    seed: number,
  ) {
    const { fs, computer } = machine
    const work = new SimWorkFs(fs)
    this.store = openStore(storeFolder, {
      fs,
      work,
      userHome: '/root',
      clock: computer.clock,
      random: new Seeded(seed, 4),
    })
  }

  async act(step: Step): Promise<void> {
    const act = acts[step.kind]
    if (act !== undefined) await act(this, step, new Seeded(step.salt))
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
    else this.open.set(id, session)
    return this.open.get(id) as Session
  }

  async made(pick: number): Promise<Session> {
    const store = await this.store
    const more = pick % 3 === 0 ? { system: 'be brief' } : pick % 3 === 1 ? { title: 'a title' } : {}
    const session = await store.create({ workspace: workspaces[pick % workspaces.length] as string, ...more })
    this.stands(this.knownOf(session.id), session)
    this.open.set(session.id, session)
    return session
  }

  knownOf(id: EventId): KnownSession {
    const known = this.known.get(id) ?? new KnownSession(id)
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

type Act = (actor: Actor, step: Step, seeded: Seeded) => Promise<unknown>

const textFrom = (seeded: Seeded): string =>
  seeded
    .pick(['ok', 'é', 'line\nbreak', 'a\0b'])
    .padEnd(seeded.chance(0.3) ? seeded.below(1500) : seeded.below(120), 'x')

const draftFrom = (seeded: Seeded, pick: number): object => {
  const content = textFrom(seeded)
  const call = `c${pick % 4}`
  return seeded.pick([
    { type: 'message', role: 'user', content },
    { type: 'message', role: 'user', content },
    { type: 'message', role: 'assistant', content, model: 'm', usage: { input: 9, output: 3 } },
    {
      type: 'message',
      role: 'assistant',
      content: null,
      toolCalls: [{ id: call, name: 'run', arguments: '{}' }],
    },
    { type: 'message', role: 'tool', toolCallId: call, ok: true, content },
    { type: 'custom', name: 'mark', data: { content } },
    { type: 'status', note: true, status: seeded.pick(['processing', 'completed', 'waiting_for_user']) },
  ])
}

const append: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  const drafts = Array.from({ length: seeded.chance(0.2) ? 3 : 1 }, () => draftFrom(seeded, step.pick))
  const isSynced = step.kind !== 'unsynced'
  const events = await session.append(drafts as never, { durability: isSynced ? 'sync' : 'none' })
  actor.acked(known, events, isSynced)
}

const move: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  const node = seeded.pick(known.nodes)
  const prompt = known.prompts.length === 0 ? node : seeded.pick(known.prompts)
  const onConflict = seeded.pick(['stop', 'force', 'force', 'keep'] as const)
  switch (seeded.below(7)) {
    case 0:
    case 1:
      await session.undo(prompt, { onConflict })
      break
    case 6:
      await session.checkout(node, { what: seeded.pick(['both', 'code']), onConflict })
      break
    case 2:
      await session.redo()
      break
    case 3:
      await session.checkout(node)
      break
    case 4:
      await session.branch(`branch ${seeded.below(3)}`, seeded.chance(0.5) ? node : undefined)
      break
    default:
      await session.compact({ summary: textFrom(seeded) })
  }
  actor.stands(known, session)
}

/** A file is changed: by a tool that says so before and after, or by the user, who says nothing. */
const edit: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  const path = `${session.workspace}/${seeded.pick(['a', 'b', 'c/d'])}`
  const isTool = seeded.chance(0.7)
  if (isTool) await session.beforeEdit([path])
  if (!actor.machine.isAlive) return
  const text = textFrom(seeded) + step.salt
  putByHand(actor.machine.fs, path, Buffer.from(text))
  actor.machine.computer.precious.set(path, text)
  if (isTool) await session.afterEdit([path])
  actor.stands(known, session)
}

const mark: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  if (seeded.chance(0.5)) return session.label(seeded.pick(known.nodes), seeded.pick(['here', 'there', null]))
  return session.title(textFrom(seeded).slice(0, 80) || 'none', seeded.chance(0.5) ? 'auto' : 'user')
}

const moveFolder =
  (to: 'live' | 'archived'): Act =>
  async (actor, { pick }) => {
    const ids = [...actor.known.keys()]
    const id = ids[pick % Math.max(1, ids.length)]
    if (id === undefined) return
    const known = actor.knownOf(id)
    const store = await actor.store
    actor.open.get(id)?.close()
    actor.open.delete(id)
    const isAlone = known.moving === 0
    known.moving++
    known.place = 'unsure'
    await (to === 'archived' ? store.archive(id, 'archive') : store.unarchive(id))
    if (!actor.machine.isAlive) return
    known.moving--
    if (isAlone && known.moving === 0) known.place = to
  }

const acts: Partial<Record<Step['kind'], Act>> = {
  append,
  unsynced: append,
  large: async (actor, step) => {
    const { session, known } = await actor.session(step)
    const content = [
      { type: 'text', text: String(step.salt).padEnd(66_000, 'z') },
      { type: 'image', media: 'image/png', data: Buffer.from(String(step.salt)).toString('base64') },
    ]
    actor.acked(known, await session.append({ type: 'message', role: 'user', content } as never), true)
  },
  together: async (actor, step, seeded) => {
    const { session, known } = await actor.session(step)
    const appends = Array.from({ length: 3 }, () =>
      session
        .append(draftFrom(seeded, step.pick) as never)
        .then((events) => actor.acked(known, events, true)),
    )
    const moved = session.branch('at once', seeded.pick(known.nodes))
    const results = await Promise.allSettled([...appends, moved])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  },
  move,
  edit,
  mark,
  open: (actor, { pick }) => actor.opened(pick),
  create: (actor, { pick }) => actor.made(pick),
  close: async (actor, { pick }) => {
    const sessions = [...actor.open.values()]
    const session = sessions[pick % Math.max(1, sessions.length)]
    session?.close()
    if (session !== undefined) actor.open.delete(session.id)
  },
  refresh: async (actor, step) => (await actor.session(step)).session.refresh(),
  list: async (actor) => (await actor.store).list(),
  read: async (actor, { pick }, seeded) => {
    const ids = [...actor.known.keys()]
    const id = ids[pick % Math.max(1, ids.length)]
    if (id === undefined) return
    const reader = await (await actor.store).reader(id)
    if (seeded.chance(0.4)) await reader.context()
    else if (seeded.chance(0.5)) await reader.messages()
    else await reader.undoTargets()
  },
  watch: async (actor, step) => {
    const { session } = await actor.session(step)
    const { log } = await (await actor.store).reader(session.id)
    const watched: Watched = { session: session.id, ids: [], stop: new AbortController(), after: session.id }
    actor.watched.push(watched)
    void follow(watched, log.watch(session.id, { after: session.id, signal: watched.stop.signal }))
  },
  fork: async (actor, { pick }) => {
    const ids = [...actor.known.keys()]
    const id = ids[pick % Math.max(1, ids.length)]
    if (id === undefined) return
    const { session } = await (await actor.store).fork(id)
    actor.knownOf(session)
  },
  archive: moveFolder('archived'),
  unarchive: moveFolder('live'),
  reindex: async (actor) => (await actor.store).reindex(),
  'drop-index': async ({ machine }) => {
    for (const [path] of machine.disk.files()) if (path.endsWith('/metadata.jsonl')) machine.fs.remove(path)
  },
}

/** A watch ends with an error where its log is gone, or cannot be read: what it gave before stands. */
const follow = async (
  watched: Watched,
  lines: AsyncIterable<readonly { readonly id: EventId }[]>,
): Promise<void> => {
  try {
    for await (const batch of lines) for (const { id } of batch) watched.ids.push(id)
  } catch {
    watched.stop.abort()
  }
}
