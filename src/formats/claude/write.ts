import { join } from 'node:path'
import { sha256 } from '../../events/id.js'
import { isObject, type Json } from '../remainder.js'
import { labelsOf, type Shape, shapeOf, sourceEnd } from '../write/branches.js'
import { CallNames } from '../write/call-names.js'
import { uuid4 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { isOwn, originIn } from '../write/own.js'
import { countNotes } from '../write/rest.js'
import { callsOf, passageOf } from '../write/steps.js'
import type { Outgoing, Writer, WrittenFile } from '../writer.js'
import type { Making, Scribe } from './write-lines.js'
import { type OwnLine, type OwnLines, ownLines, ownText } from './write-own.js'
import { outputFiles } from './write-side.js'
import { writeSteps } from './write-steps.js'
import { tailLines } from './write-tail.js'
import { ownUnits } from './write-units.js'

const format = 'claude'
/** The version whose form new lines have. */
const version = '2.1.197'

/** A session as it stands in files: what names it, and where. */
interface Named {
  /** The session to resume: that of a sub-agent is its parent's. */
  readonly session: string
  /** null for a session that a user began. */
  readonly agent: string | null
  /** Its lines stand among those of the session that a user began. */
  readonly isInline: boolean
  readonly file: string
}

/**
 * The key that the reader gave a session (sessions.ts) says where it stood. A sub-agent's that went on since, and is
 * written without the one that began it, is a session like any other: only those can be resumed.
 */
const nameOf = (session: Outgoing, parent: Named | null): Named => {
  const [root] = session.events
  const wentOn = session.events.some((event) => event.note !== true && !isOwn(event, format))
  const known = (root === undefined ? null : originIn(root, format)?.id) ?? null
  const key = parent === null && wentOn && known !== null && /\/|^agent-/.test(known) ? null : known
  const [, above, name] = /^(.+)\/([^/]+)$/.exec(key ?? '') ?? []
  const own = above ?? parent?.session
  if (own === undefined) {
    const id = key ?? uuid4(session.id)
    return { session: id, agent: null, isInline: false, file: `${safeFile(id)}.jsonl` }
  }
  if (name?.startsWith('sidechain-'))
    return { session: own, agent: null, isInline: true, file: `${safeFile(own)}.jsonl` }
  const agent = name?.replace(/^agent-/, '') ?? `a${sha256(session.id).slice(0, 16)}`
  return {
    session: own,
    agent,
    isInline: false,
    file: `${safeFile(own)}/subagents/agent-${safeFile(agent)}.jsonl`,
  }
}

/** Ids from outside never become a path unchecked (INV-12). */
const safeFile = (id: string): string => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? id : uuid4(id))

const write: Writer['write'] = async (session) => {
  const losses = new Losses()
  const named = nameOf(session, null)
  const files = new Map<string, Making[]>()
  for (const [one, name] of withChildren(session, named)) {
    const lines = [...(files.get(name.file) ?? []), ...(await linesOf(one, name, losses))]
    // A sub-agent that said nothing has no file.
    if (lines.length > 0 || files.size === 0) files.set(name.file, lines)
  }
  const beside = withChildren(session, named).flatMap(([one]) =>
    outputFiles(one, format, safeFile(named.session)),
  )
  return {
    session: named.session,
    files: [
      ...[...files].map(([name, lines]): WrittenFile => ({ name, content: () => contentOf(lines) })),
      ...new Map(beside.map((file) => [file.name, file])).values(),
    ],
    losses: losses.list,
  }
}

async function* contentOf(lines: readonly Making[]): AsyncGenerator<string | Uint8Array> {
  for (const line of lines) yield await line()
}

/** A session and those that it started, theirs too: Claude Code keeps them all beside the first. */
const withChildren = (session: Outgoing, named: Named): (readonly [Outgoing, Named])[] => [
  [session, named],
  ...session.children.flatMap((child) => withChildren(child, nameOf(child, named))),
]

const linesOf = async (session: Outgoing, named: Named, losses: Losses): Promise<Making[]> => {
  const shape = shapeOf(session)
  const repeated = await repeatedOf(session, shape, named)
  const own = ownLines(session, format)
  const kept = session.only === true ? onPath(own, shape) : own.lines
  const scribe: Scribe = {
    session,
    format,
    repeated,
    losses,
    calls: new CallNames(losses, 128),
    lines: [],
    placed: new Map(
      kept.flatMap(({ uuid, parentUuid }) => (uuid === null ? [] : [[uuid, parentUuid] as const])),
    ),
  }
  for (const event of session.events)
    if (isOwn(event, format)) for (const { id } of callsOf(event)) scribe.calls.keep(event.id, id)
  const end = writeBranches(scribe, shape, own, kept)
  countNotes(session.events, format, ['tool'], losses)
  for (const id of labelsOf(session.events).keys()) losses.add('labels', id)
  const isAsLeft =
    scribe.lines.length === 0 && sourceEnd(shape, session.events, format) === shape.current.leaf
  return [
    ...kept.map((line) => () => ownText(session, line, repeated)),
    ...scribe.lines,
    ...(named.agent === null && !named.isInline
      ? tailLines(scribe, shape, { end, isAsLeft, hasOwn: kept.length > 0 })
      : []),
  ]
}

/** The `uuid` at which the current branch ends; it is written last. */
const writeBranches = (
  scribe: Scribe,
  shape: Shape,
  own: OwnLines,
  kept: readonly OwnLine[],
): string | null => {
  let end: string | null = null
  const units = ownUnits(own.lines, kept, shape.tree)
  for (const { path } of [...shape.others, shape.current]) {
    const { losses, lines } = scribe
    // A line that says where the head is would be read after the results that another branch gave.
    const paysAll = lines.length > 0
    const options = { format, joins: true, hoists: true, units, paysAll, losses }
    const { base, steps } = passageOf(path, shape, options)
    end = writeSteps(scribe, steps, own.uuidAt(base?.id ?? null))
  }
  return end
}

/** Lines of the wanted branch, and those that stand outside of any. */
const onPath = (own: OwnLines, { current, tree }: Shape): readonly OwnLine[] => {
  const ids = new Set(current.path.map(({ id }) => id))
  return own.lines.filter(({ events }) => events.every(({ id }) => ids.has(id) || !tree.nodes.has(id)))
}

const repeatedOf = async (session: Outgoing, shape: Shape, named: Named): Promise<Json> => {
  const { origin } = shape.root
  if (isOwn(shape.root, format) && isObject(origin)) {
    const { extra } = await session.resolve({ extra: origin.extra })
    const { agentId, ...rest } = isObject(extra) ? extra : {}
    const wentOn = named.agent === null && !named.isInline && origin.id !== named.session
    if (wentOn && rest.isSidechain === true) return { ...rest, isSidechain: false, sessionId: named.session }
    return agentId === undefined ? rest : { ...rest, agentId }
  }
  return {
    isSidechain: named.agent !== null,
    ...(named.agent === null ? {} : { agentId: named.agent }),
    userType: 'external',
    cwd: session.cwd,
    sessionId: named.session,
    version,
  }
}

const folder: Writer['folder'] = ({ home, env }, workspace) =>
  join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects', workspace.replace(/[^A-Za-z0-9]/g, '-'))

/** Claude Code's transcripts: the whole tree in one file, sub-agents beside it. */
export const claudeWriter: Writer = {
  write,
  folder,
  resume: (session) => ['claude', '--resume', session],
}
