import type { EventId } from '../../src/events/event.js'
import type { Act, Actor, Watched } from './actor.js'
import { putByHand } from './disk/sim-work-fs.js'
import { Seeded } from './random.js'
import { type Step, searched } from './step.js'
import { importAgain, importFile, moveFolder, prune, purge, redact, repair } from './upkeep.js'

/** Begins a step; `ended` is told of its end, with the error where it failed. */
export const act = (actor: Actor, step: Step, ended: (error: unknown) => void): void => {
  const doing = acts[step.kind]
  if (doing === undefined) ended(null)
  else
    doing(actor, step, new Seeded(step.salt)).then(
      () => ended(null),
      (error: unknown) => ended(error ?? new Error('nothing was thrown')),
    )
}

/** Imports all there is, twice. */
export const importAll = (actor: Actor, ended: (error: unknown) => void): void => {
  importAgain(actor).then(() => ended(null), ended)
}

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
  putByHand(actor.fs, path, Buffer.from(text))
  actor.machine.computer.precious.set(path, text)
  if (isTool) await session.afterEdit([path])
  actor.stands(known, session)
}

const mark: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  if (seeded.chance(0.5)) return session.label(seeded.pick(known.nodes), seeded.pick(['here', 'there', null]))
  return session.title(textFrom(seeded).slice(0, 80) || 'none', seeded.chance(0.5) ? 'auto' : 'user')
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
  open: async (actor, { pick }) => actor.opened(pick),
  create: async (actor, { pick }) => actor.made(pick),
  close: async (actor, { pick }) => {
    const sessions = [...actor.open.values()]
    const session = sessions[pick % Math.max(1, sessions.length)]
    if (session !== undefined) actor.closed(session.id)
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
  search: async (actor, _, seeded) => {
    const hits = (await actor.store).search({ text: seeded.pick(searched) })
    for await (const _hit of hits);
  },
  prune,
  purge,
  redact,
  repair,
  import: importFile,
  reindex: async (actor) => (await actor.store).reindex(),
  'drop-index': async ({ machine, fs }) => {
    for (const [path] of machine.disk.files()) if (path.endsWith('/metadata.jsonl')) fs.remove(path)
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
