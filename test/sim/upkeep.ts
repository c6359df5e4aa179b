import type { Format, Item } from '../../src/formats/format.js'
import { importSources } from '../../src/session/import.js'
import type { Act, Actor } from './actor.js'
import { Broken, type KnownSession, type Living } from './model.js'

/** What is done to sessions from outside their conversation: to and from the archive, out of it, rewritten, imported. */

const formatName = 'sim'
const sources = ['/foreign/a', '/foreign/b']
/** Imports go into the one, and pruning is done in the other: a session that comes back from its source is a new one. */
const importedInto = '/nowhere/w'
const pruned = '/nowhere/v'

const knownAt = ({ known }: Actor, pick: number): KnownSession | undefined => {
  const all = [...known.values()]
  return all[pick % Math.max(1, all.length)]
}

/** Who held the session open when it began to go, and holds it still: the move must not have been made. */
const holdersOf = (known: KnownSession): ReadonlySet<Living> =>
  new Set([...known.holders].filter(({ isAlive }) => isAlive))

const mustBeFree = (known: KnownSession, before: ReadonlySet<Living>): void => {
  for (const machine of known.holders)
    if (machine.isAlive && before.has(machine))
      throw new Broken(
        'PRESENCE',
        `${known.id} went to the archive, and a process held it open all the while`,
      )
}

export const moveFolder =
  (to: 'live' | 'archived'): Act =>
  async (actor, { pick }) => {
    const known = knownAt(actor, pick)
    if (known === undefined || known.isImported) return
    const store = await actor.store
    actor.closed(known.id)
    const held = holdersOf(known)
    const arrived = known.leaves(actor.machine.computer)
    await (to === 'archived' ? store.archive(known.id, 'archive') : store.unarchive(known.id))
    if (!actor.machine.isAlive) return
    if (to === 'archived') mustBeFree(known, held)
    arrived(to)
  }

/** All but the newest of one workspace go to the archive. */
export const prune: Act = async (actor, _, seeded) => {
  const { computer } = actor.machine
  const store = await actor.store
  computer.prunes++
  const going = [...actor.known.values()]
    .filter(({ isImported }) => !isImported)
    .map((known) => ({
      known,
      was: known.place,
      held: holdersOf(known),
      arrived: known.leaves(computer),
    }))
  const gone = new Set((await store.prune(seeded.between(1, 2), { workspace: pruned })).map(({ id }) => id))
  if (!actor.machine.isAlive) return
  for (const { known, was, held, arrived } of going) {
    if (gone.has(known.id)) mustBeFree(known, held)
    arrived(gone.has(known.id) ? 'archived' : was)
  }
}

/** The archive is emptied: what is in it, or on its way there, may be nowhere from now on. */
export const purge: Act = async (actor) => {
  actor.machine.computer.purges++
  for (const known of actor.known.values()) if (known.place !== 'live') known.mayBeGone = true
  const { sessions } = await (await actor.store).purge()
  if (!actor.machine.isAlive) return
  for (const { id } of sessions) {
    const known = actor.known.get(id)
    if (known !== undefined) known.isPurged = true
  }
}

/** Something is said that must not stay, and taken out again. */
export const redact: Act = async (actor, step, seeded) => {
  const { session, known } = await actor.session(step)
  const text = `hidden ${step.salt} ${'x'.repeat(seeded.chance(0.1) ? 66_000 : 10)}`
  const events = await session.append({ type: 'message', role: 'user', content: text } as never)
  actor.acked(known, events, true)
  const event = events.find(({ type, role }) => type === 'message' && role === 'user')
  if (event === undefined || !actor.machine.isAlive) return
  if (seeded.chance(0.3)) await session.compact({ summary: 'short' })
  if (seeded.chance(0.3)) await session.checkout(session.id)
  actor.stands(known, session)
  actor.closed(session.id)
  known.rewrites++
  const { redacted } = await (await actor.store).redact(session.id, { events: [event.id] })
  if (actor.machine.isAlive && redacted.includes(event.id)) known.hidden.add(text)
}

export const repair: Act = async (actor, { pick }) => {
  const known = knownAt(actor, pick)
  if (known === undefined) return
  actor.closed(known.id)
  known.rewrites++
  await (await actor.store).repair(known.id)
}

/** Another tool's file, so far: it grows between imports, and while they are under way. */
export const importFile: Act = async (actor, step, seeded) => {
  const { foreign } = actor.machine.computer
  const path = seeded.pick(sources)
  const records = foreign.get(path) ?? []
  foreign.set(path, records)
  for (let count = seeded.below(4); count > 0; count--) records.push(`${step.salt} ${records.length}`)
  await imported(actor, path, records)
}

/** Imports all there is once more; again it adds nothing. */
export const importAgain = async (actor: Actor): Promise<void> => {
  for (const [path, records] of actor.machine.computer.foreign) {
    await imported(actor, path, records)
    const added = await imported(actor, path, records)
    if (added !== 0) throw new Broken('IMPORT', `importing ${path} again added ${added} events`)
  }
}

/** How many events it added. */
const imported = async (actor: Actor, path: string, records: readonly string[]): Promise<number> => {
  const read: string[] = []
  const format = { name: formatName, read: () => itemsOf(path, records, read) } as unknown as Format
  const report = await importSources(await actor.store, [{ format, path }], { workspace: importedInto })
  if (!actor.machine.isAlive) return 0
  const [row] = report.imported
  if (report.failed.length > 0 || row === undefined) return 0
  const known = actor.knownOf(row.session)
  known.isImported = true
  for (const record of read) known.records.add(record)
  return row.new
}

async function* itemsOf(path: string, records: readonly string[], read: string[]): AsyncGenerator<Item> {
  const at = (count: number): string => new Date(Date.UTC(2026, 10, 1) + count * 1000).toISOString()
  yield { kind: 'session', session: path, at: at(0), workspace: importedInto, cwd: null }
  for (const [i, key] of records.entries()) {
    yield {
      kind: 'event',
      session: path,
      key,
      parent: records[i - 1] ?? null,
      at: at(i + 1),
      type: 'message',
      payload: () => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: key }),
    }
    read.push(key)
  }
}
