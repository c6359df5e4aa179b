import { isAbsolute, join } from 'node:path'
import type { Event } from '../../events/event.js'
import { type Branch, type Shape, shapeOf } from '../write/branches.js'
import { HexIds, uuid7 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { originIn } from '../write/own.js'
import { countNotes } from '../write/rest.js'
import { passageOf } from '../write/steps.js'
import type { Outgoing, Writer } from '../writer.js'
import { isOwnId } from './entry.js'
import { format, type Making, type PiFile } from './write-file.js'
import { headerLine, isRepeated, type OwnEntries, ownEntries, ownLine } from './write-own.js'
import { BranchWriter } from './write-steps.js'
import { type BranchEnd, writeTail } from './write-tail.js'

const write: Writer['write'] = async (session) => {
  const losses = new Losses()
  const shape = shapeOf(session)
  const id = originIn(shape.root, format)?.id ?? uuid7(shape.root.at, shape.root.id)
  const name = `${shape.root.at.replaceAll(/[:.]/g, '-')}_${safeName(id)}.jsonl`
  countChildren(session, losses)
  countNotes(session.events, format, ['label'], losses)
  const lines = linesOf(session, shape, losses, id)
  return { session: id, files: [{ name, content: () => contentOf(lines) }], losses: losses.list }
}

/** Ids from outside never become a path unchecked (INV-12). */
const safeName = (id: string): string => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? id : uuid7('', id))

async function* contentOf(lines: readonly Making[]): AsyncGenerator<string | Uint8Array> {
  for (const line of lines) yield await line()
}

/** What is added names entries by their ids: where one has none, all of them get one, as Pi does to old files itself. */
const linesOf = (session: Outgoing, shape: Shape, losses: Losses, id: string): readonly Making[] => {
  const asItStands = fileOf(session, shape, losses, false)
  const lacksIds = asItStands.source.events.some((event) => !isRepeated(event) && !hasId(event))
  const isChanged = asItStands.file.lines.length > 0
  const { file, source } = isChanged && lacksIds ? fileOf(session, shape, losses, true) : asItStands
  return [
    () => headerLine(file, shape.root, id),
    ...source.events.map((event) => () => ownLine(file, event)),
    ...file.lines,
  ]
}

const hasId = (event: Event): boolean => isOwnId(originIn(event, format)?.id ?? '#')

interface Planned {
  readonly file: PiFile
  readonly source: OwnEntries
}

const fileOf = (session: Outgoing, shape: Shape, losses: Losses, isUpgraded: boolean): Planned => {
  const taken = session.events.flatMap((event) => {
    const key = originIn(event, format)?.id ?? '#'
    return isOwnId(key) ? [key] : []
  })
  const ids = new HexIds(8, taken)
  const wanted = session.only === true ? new Set(shape.current.path.map(({ id }) => id)) : null
  const source = ownEntries(session, wanted, isUpgraded ? ids : null)
  const file: PiFile = {
    session,
    losses,
    ids,
    lines: [],
    isUpgraded,
    own: source.own,
    written: new Map(),
    entries: new Map(),
    last: null,
  }
  const ends = [...shape.others, shape.current].map((branch) => writeBranch(file, shape, branch))
  writeTail({ file, source, shape, ends })
  return { file, source }
}

const writeBranch = (file: PiFile, shape: Shape, branch: Branch): BranchEnd => {
  const options = { format, joins: true, hoists: false, losses: file.losses }
  const passage = passageOf(branch.path, shape, options)
  return { entry: new BranchWriter(file, branch, passage).write(), base: passage.base?.id ?? null }
}

const countChildren = (session: Outgoing, losses: Losses): void => {
  for (const child of session.children) {
    losses.add('sub-agents', child.id)
    countChildren(child, losses)
  }
}

/** As Pi names folders: a folder of sessions of one's own has none for each project. */
const folder: Writer['folder'] = ({ home, env }, workspace) => {
  const inHome = (path: string): string => (path.startsWith('~') ? join(home, path.slice(1)) : path)
  const sessions = env.PI_CODING_AGENT_SESSION_DIR
  if (sessions && isAbsolute(inHome(sessions))) return inHome(sessions)
  const agent = env.PI_CODING_AGENT_DIR ? inHome(env.PI_CODING_AGENT_DIR) : join(home, '.pi', 'agent')
  return join(agent, 'sessions', `--${workspace.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`)
}

/** Pi's sessions: the whole tree in one file. */
export const piWriter: Writer = {
  write,
  folder,
  resume: (session) => ['pi', '--session', session],
}
