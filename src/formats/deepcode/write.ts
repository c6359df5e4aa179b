import { join } from 'node:path'
import type { Json } from '../remainder.js'
import { type Branch, type Shape, shapeOf } from '../write/branches.js'
import { uuid4 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { originIn } from '../write/own.js'
import { countNotes } from '../write/rest.js'
import { passageOf } from '../write/steps.js'
import { jsonLine, rawLine } from '../write/text.js'
import { newLine } from '../write/whole.js'
import type { Outgoing, Writer, WrittenFile } from '../writer.js'
import { projectCode } from './project-code.js'
import { placed } from './write-compacted.js'
import { type Indexing, indexFile } from './write-index.js'
import { draft, type Line } from './write-lines.js'
import { type Commit, commitsIn, format, ownRecord, rawOf } from './write-own.js'

/** One file: the session's own, or that of a branch that it cannot hold. */
interface Part {
  readonly id: string
  readonly branch: Branch
  readonly lines: readonly Line[]
  readonly isAsLeft: boolean
}

const write: Writer['write'] = async (session) => {
  const losses = new Losses()
  const shape = shapeOf(session)
  const source = originIn(shape.root, format)?.id ?? null
  const id = source ?? uuid4(shape.root.id)
  const main = partOf(session, shape, shape.current, id, losses)
  const forks = shape.others
    .map((branch) => partOf(session, shape, branch, uuid4(`${id}\n${branch.leaf}`), losses))
    .filter(({ lines }) => lines.length > 0)
  for (const { branch } of forks) losses.add('forks', branch.leaf)
  countChildren(session, losses)
  countNotes(session.events, format, [], losses)
  const commits = commitsIn(session.events)
  const files = [main, ...forks].map((part): WrittenFile => {
    const texts = { session, source: source ?? id, id: part.id, commits }
    return { name: `${safeName(part.id)}.jsonl`, content: () => contentOf(part.lines, texts, losses) }
  })
  const entries = [main, ...forks].map((part) => indexing(session, part, main, commits, source ?? id))
  return {
    session: id,
    files: [...files, indexFile(entries, session.workspace, losses)],
    losses: losses.list,
  }
}

const partOf = (session: Outgoing, shape: Shape, branch: Branch, id: string, losses: Losses): Part => {
  const passage = passageOf(branch.path, shape, { format, joins: true, hoists: true, losses })
  const drafted = draft({ session, branch, passage, losses })
  const isAsLeft = passage.base !== null && passage.steps.every(({ kind }) => kind === 'other')
  return { id, branch, lines: placed(drafted, branch.path), isAsLeft }
}

/** Ids from outside never become a path unchecked (INV-12). */
const safeName = (id: string): string => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? id : uuid4(id))

const countChildren = (session: Outgoing, losses: Losses): void => {
  for (const child of session.children) {
    losses.add('sub-agents', child.id)
    countChildren(child, losses)
  }
}

interface Texts {
  readonly session: Outgoing
  /** The session as its own lines name it. */
  readonly source: string
  /** The file's. */
  readonly id: string
  readonly commits: ReadonlyMap<string, Commit>
}

async function* contentOf(
  lines: readonly Line[],
  texts: Texts,
  losses: Losses,
): AsyncGenerator<string | Uint8Array> {
  for (const line of lines) {
    const { own } = line
    const record = await recordOf(line, texts)
    const raw = own === null ? null : rawOf(await texts.session.resolve(own), record)
    if (raw !== null) yield rawLine(raw)
    else yield own === null ? newLine(record, losses, line.id) : jsonLine(record)
  }
}

const recordOf = async (line: Line, { session, source, id, commits }: Texts): Promise<Json> => {
  const { own, compacted } = line
  const record = own === null ? await line.record(id) : ownRecord(await session.resolve(own), source)
  const commit = own?.type === 'message' ? commits.get(line.id) : undefined
  const updateTime = compacted === null ? commit?.updateTime : compacted.updateTime
  return {
    ...record,
    ...(id === source ? {} : { sessionId: id }),
    ...(compacted === null ? {} : { compacted: true }),
    ...(updateTime === undefined ? {} : { updateTime }),
    ...(commit === undefined ? {} : { checkpointHash: commit.hash }),
  }
}

const indexing = (
  session: Outgoing,
  { id, branch, lines, isAsLeft }: Part,
  main: Part,
  commits: Texts['commits'],
  source: string,
): Indexing => {
  const record = async (line: Line | undefined): Promise<Json | null> =>
    line === undefined ? null : recordOf(line, { session, source, id, commits })
  const shared = new Set(main.lines.map((line) => line.id))
  const last = lines.findLast((line) => shared.has(line.id))
  return {
    id,
    session,
    path: branch.path,
    prompt: () => record(lines.find(({ role, events }) => role === 'user' && events.length > 0)),
    answer: () => record(lines.findLast(({ role, compacted }) => role === 'assistant' && compacted === null)),
    isAsLeft,
    forkedFrom: id === main.id || last === undefined ? null : { sessionId: main.id, messageId: last.id },
  }
}

const folder: Writer['folder'] = ({ home }, workspace) =>
  join(home, '.deepcode', 'projects', projectCode(workspace))

/** Deep Code's sessions: a list of messages in each, so that every other branch is a session of its own. */
export const deepcodeWriter: Writer = {
  write,
  folder,
  resume: (session) => ['deepcode', '--resume', session],
}
