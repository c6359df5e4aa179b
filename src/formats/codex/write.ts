import { isAbsolute, join } from 'node:path'
import type { Event } from '../../events/event.js'
import { isObject } from '../remainder.js'
import { type Branch, type Shape, shapeOf, sourceEnd } from '../write/branches.js'
import { CallNames } from '../write/call-names.js'
import { replacementOf } from '../write/edits.js'
import { uuid7 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { extraOf, isOwn, membersOf, originIn } from '../write/own.js'
import { countNotes } from '../write/rest.js'
import type { Passage } from '../write/step.js'
import { callsOf, passageOf } from '../write/steps.js'
import { jsonLine, rawLine } from '../write/text.js'
import { newLine } from '../write/whole.js'
import type { Outgoing, Writer, WrittenFile } from '../writer.js'
import {
  allLines,
  format,
  type Heading,
  isLine,
  linesTo,
  type Manner,
  metaRecord,
  ownRecord,
  rawOf,
} from './write-own.js'
import { linesOf, TurnWriter } from './write-steps.js'
import { type Named, titlesFile } from './write-titles.js'

const write: Writer['write'] = async (session) => {
  const losses = new Losses()
  const threads: Named[] = []
  const files = rollouts(session, losses, threads, null)
  const titles = titlesFile(threads, losses)
  return {
    session: idOf(session),
    files: [...files, ...(titles === null ? [] : [titles])],
    losses: losses.list,
  }
}

const rootOf = ({ events }: Outgoing): Event | undefined => events[0]

const idOf = (session: Outgoing): string => {
  const root = rootOf(session)
  return root === undefined ? session.id : (originIn(root, format)?.id ?? uuid7(root.at, root.id))
}

/** The session's own rollout, those of branches that it cannot hold, and those of the sessions that it started. */
const rollouts = (
  session: Outgoing,
  losses: Losses,
  threads: Named[],
  startedBy: Heading['startedBy'],
): readonly WrittenFile[] => {
  const shape = shapeOf(session)
  const id = idOf(session)
  const options = { format, joins: true, hoists: true, losses }
  const passage = passageOf(shape.current.path, shape, options)
  const isWhole = holdsAll(session, shape, passage)
  threads.push({ id, session })
  countNotes(session.events, format, [], losses)
  const names = namesOf(session, losses)
  const main = rollout(session, shape, names, {
    heading: { id, forkedFrom: null, startedBy },
    branch: shape.current,
    passage,
    isWhole,
  })
  const forks = shape.others.flatMap((branch) => {
    const other = passageOf(branch.path, shape, options)
    if (isWhole && other.base?.id === branch.leaf) return []
    losses.add('forks', branch.leaf)
    const heading = { id: uuid7(shape.root.at, `${id}\n${branch.leaf}`), forkedFrom: id, startedBy }
    return [rollout(session, shape, names, { heading, branch, passage: other, isWhole: false })]
  })
  const depth = (startedBy?.depth ?? 0) + 1
  const children = session.children.flatMap((child) => rollouts(child, losses, threads, { id, depth }))
  return [main, ...forks, ...children]
}

/** Whether the file can stand as Codex left it, with what it rolled back, and go on at its end. */
const holdsAll = ({ events, only = false }: Outgoing, shape: Shape, { base }: Passage): boolean =>
  !only &&
  base !== null &&
  base.id === sourceEnd(shape, events, format) &&
  !events.some(({ redacted, note }) => redacted === true && note !== true)

/** What one file is to hold. */
interface Plan {
  readonly heading: Heading
  readonly branch: Branch
  readonly passage: Passage
  /** All lines of the source, not those of the branch alone. */
  readonly isWhole: boolean
}

/** Calls that stand in the file keep their ids. */
const namesOf = (session: Outgoing, losses: Losses): CallNames => {
  const names = new CallNames(losses, longestName)
  for (const event of session.events)
    if (isOwn(event, format)) for (const { id } of callsOf(event)) names.keep(event.id, id)
  return names
}
/** What OpenAI's models take (characters). */
const longestName = 64

const rollout = (session: Outgoing, { root }: Shape, names: CallNames, plan: Plan): WrittenFile => {
  const { heading, branch, passage, isWhole } = plan
  const { base, steps } = passage
  const own = isWhole ? allLines(session) : base === null ? [] : linesTo(session, branch, base)
  const isBare = isObject(root.agent) && root.agent.records === 'bare'
  const isSame =
    isWhole || (own.length === session.events.filter(isLine).length && heading.forkedFrom === null)
  const before = { isBare, isChanged: !isSame }
  const facts = {
    group: base?.group,
    systemsBefore: (compaction: Event) => systemsBefore(branch, compaction),
    editsAfter: (compaction: Event) => editsAfter(branch, compaction),
  }
  const turns = new TurnWriter(session, names.losses, before, facts, names)
  turns.write(steps)
  const manner = { isBare, isChanged: !isSame || turns.lines.length > 0 }
  return {
    name: nameOf(root.at, heading.id),
    content: () => contentOf({ session, root, heading, own, turns, manner }),
  }
}

/** A compaction leaves those that it names standing; all of them where it names none. */
const systemsBefore = ({ path }: Branch, { through, keep }: Event): readonly Event[] => {
  const end = path.findIndex(({ id }) => id === through)
  const named = Array.isArray(keep) ? new Set(keep.map((one: unknown) => isObject(one) && one.id)) : null
  return path
    .slice(0, end + 1)
    .filter((event) => event.role === 'system' && isLine(event) && named?.has(event.id) !== false)
}

const editsAfter = ({ path }: Branch, { id }: Event): ReadonlyMap<unknown, unknown> =>
  new Map(
    path
      .slice(path.findIndex((event) => event.id === id) + 1)
      .filter((event) => event.type === 'edit' && !isOwn(event, format))
      .map((event) => [membersOf(event).target, replacementOf(event)]),
  )

interface Content {
  readonly session: Outgoing
  readonly root: Event
  readonly heading: Heading
  readonly own: readonly Event[]
  readonly turns: TurnWriter
  readonly manner: Manner
}

async function* contentOf(content: Content): AsyncGenerator<string | Uint8Array> {
  const { session, root, heading, own, turns, manner } = content
  if (manner.isChanged || hadMeta(root))
    yield newLine(metaRecord(session, await session.resolve(root), heading, manner), turns.losses, root.id)
  for (const stored of own) {
    const event = await session.resolve(stored)
    const record = ownRecord(event, manner)
    const raw = rawOf(event, manner)
    turns.pass(record)
    yield raw === null ? jsonLine(record) : rawLine(raw)
  }
  for (const line of turns.lines) yield linesOf(await line(), turns.losses)
}

/** Foreign tools write rollouts without one; all that Codex writes has more in it than the root says. */
const hadMeta = (root: Event): boolean => !isOwn(root, format) || extraOf(root) !== undefined

/** Ids from outside never become a path unchecked (INV-12). */
const safeId = (id: string): string => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? id : uuid7('', id))

const nameOf = (at: string, id: string): string => {
  const [date = '', time = ''] = at.slice(0, 19).split('T')
  return `sessions/${date.replaceAll('-', '/')}/rollout-${date}T${time.replaceAll(':', '-')}-${safeId(id)}.jsonl`
}

const folder: Writer['folder'] = ({ home, env }) => {
  const root = env.CODEX_HOME
  return root && isAbsolute(root) ? root : join(home, '.codex')
}

/** Codex's rollouts: a chain in each, so that every other branch is a rollout of its own. */
export const codexWriter: Writer = {
  write,
  folder,
  resume: (session) => ['codex', 'resume', session],
}
