import { join } from 'node:path'
import type { Event } from '../../events/event.js'
import { type Branch, type Shape, shapeOf } from '../write/branches.js'
import { uuid7 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { originIn } from '../write/own.js'
import { countNotes } from '../write/rest.js'
import { newLine } from '../write/whole.js'
import type { Outgoing, Writer, WrittenFile } from '../writer.js'
import { workspaceKey } from './workspace-key.js'
import { BranchWriter, type ZettFile } from './write-branch.js'
import { recordLine } from './write-line.js'
import { type Listing, metadataFile } from './write-metadata.js'
import { format, headerOf, ownLine, ownRecords, versionOf } from './write-own.js'
import { planOf } from './write-plan.js'

const write: Writer['write'] = async (session) => {
  const losses = new Losses()
  const listings: Listing[] = []
  const files = dataFiles(session, null, losses, listings)
  return {
    session: idOf(session),
    files: [...files, metadataFile(listings, losses)],
    losses: losses.list,
  }
}

const idOf = (session: Outgoing): string => {
  const [root] = session.events
  return root === undefined ? session.id : (originIn(root, format)?.id ?? uuid7(root.at, root.id))
}

/** Ids from outside never become a path unchecked (INV-12). */
const safeName = (id: string): string =>
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) && !id.includes('..') ? id : uuid7('', id)

/** The session's own file, and those of the sessions that it started. */
const dataFiles = (
  session: Outgoing,
  startedBy: string | null,
  losses: Losses,
  listings: Listing[],
): readonly WrittenFile[] => {
  const shape = shapeOf(session)
  const id = idOf(session)
  const file = fileOf(session, shape, id, losses)
  const isChanged = writeBranches(file, shape)
  countNotes(session.events, format, [], losses)
  listings.push({ id, session })
  return [
    {
      name: `${safeName(id)}/data.jsonl`,
      content: () => contentOf(file, shape.root, startedBy, isChanged),
    },
    ...session.children.flatMap((child) => dataFiles(child, id, losses, listings)),
  ]
}

const fileOf = (session: Outgoing, shape: Shape, id: string, losses: Losses): ZettFile => {
  const wanted = session.only === true ? new Set(shape.current.path.map((event) => event.id)) : null
  const own = ownRecords(session, wanted)
  const last = own.events.findLast(({ type }) => type === 'message')
  return {
    session,
    id,
    losses,
    own,
    events: new Map(session.events.map((event) => [event.id, event])),
    records: [],
    written: new Map(),
    last: last === undefined ? null : (own.keys.get(last.id) ?? null),
    version: Math.max(0, ...own.events.map(versionOf)),
  }
}

/** The current branch comes last: ZettCode goes on at the last message of the file. Whether anything is added. */
const writeBranches = (file: ZettFile, { others, current, ...shape }: Shape): boolean => {
  const writer = (branch: Branch, last: string | null): BranchWriter =>
    new BranchWriter(file, planOf(branch, { others, current, ...shape }, file.own, file.losses, last))
  for (const branch of others) writer(branch, null).write()
  const main = writer(current, file.last)
  const end = main.write()
  if (file.last !== end) main.end()
  return file.records.length > 0
}

async function* contentOf(
  file: ZettFile,
  root: Event,
  startedBy: string | null,
  isChanged: boolean,
): AsyncGenerator<string | Uint8Array> {
  const { session, id, own, records } = file
  const header = headerOf(await session.resolve(root), id, startedBy, isChanged)
  if (header !== null) yield recordLine(header)
  for (const event of own.events) yield await ownLine(session, event, id, own)
  for (const [i, record] of records.entries())
    yield newLine(await record(), file.losses, `${id}#${i}`, recordLine)
}

const folder: Writer['folder'] = ({ home }, workspace) =>
  join(home, '.zettcode', 'sessions', workspaceKey(workspace))

/** ZettCode's sessions: the whole tree in one file, sub-agents' beside it. */
export const zettcodeWriter: Writer = {
  write,
  folder,
  resume: (session, workspace) => ['zettcode', '--resume', session, '--workspace', workspace],
}
