import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Event, type EventId, noteTypes } from '../../src/events/event.js'
import { branchesOf, treeOf } from '../../src/events/tree.js'
import type { Format, Item, SessionItem } from '../../src/formats/format.js'
import type { Loss, Outgoing, Written } from '../../src/formats/writer.js'
import { type ContextMessage, context } from '../../src/projections/context.js'
import { branchEvents, fold } from '../../src/projections/replay.js'
import { idFor } from './check-items.js'

/** What tests of writers share: sessions as a reader's items give them, written, and read again. */

/** Events as an importer makes them of items, ids derived from keys. Values are as the reader gave them: no blobs. */
export const sessionsIn = (format: Format, items: readonly Item[]): readonly Outgoing[] => {
  const events = new Map<string, Event[]>()
  const roots = new Map<string, SessionItem>()
  const id = (session: string, key: string): EventId => idFor(`${session}\n${key}`)
  for (const item of items) {
    if (item.kind === 'session') {
      roots.set(item.session, item)
      events.set(item.session, [rootOf(format, item)])
    }
    if (item.kind !== 'event' && item.kind !== 'move') continue
    const { session, key, at } = item
    const log = events.get(session) ?? []
    const known = new Set(log.map((event) => event.id))
    const place = (name: string | null): EventId => {
      const found = name === null ? null : id(session, name)
      return found !== null && known.has(found) ? found : idFor(session)
    }
    const origin = { format: format.name, id: key }
    if (item.kind === 'move') {
      const from = log.findLast(({ note }) => note !== true)?.id ?? ''
      const to = place(item.to)
      const moved = { to, from, reason: item.reason, row: {}, origin }
      log.push({ id: id(session, key), parent: to, at, type: 'head', ...moved })
      continue
    }
    const { extra, raw, type } = item
    const kept = { ...(extra === undefined ? {} : { extra }), ...(raw === undefined ? {} : { raw }) }
    const idOf = (name: string): EventId | null => (known.has(id(session, name)) ? id(session, name) : null)
    log.push({
      id: id(session, key),
      parent: place(item.parent),
      at,
      type,
      ...(noteTypes.has(type) ? { note: true as const } : {}),
      ...item.payload(idOf),
      origin: { ...origin, ...kept },
    })
  }
  return [...events].flatMap(([session, log]) =>
    isChild(roots.get(session), roots) ? [] : [outgoing(session, log, roots, events)],
  )
}

const rootOf = (format: Format, item: SessionItem): Event => {
  const { session, at, workspace, cwd, agent, extra } = item
  return {
    id: idFor(session),
    parent: null,
    at,
    type: 'session',
    format: 1,
    nonce: '',
    ...(workspace === null ? {} : { workspace }),
    ...(cwd === null ? {} : { cwd }),
    ...(agent === undefined ? {} : { agent }),
    origin: { format: format.name, id: session, ...(extra === undefined ? {} : { extra }) },
  }
}

const isChild = (item: SessionItem | undefined, roots: ReadonlyMap<string, SessionItem>): boolean =>
  item?.startedBy !== undefined &&
  roots.has(item.startedBy.session) &&
  item.startedBy.session !== item.session

const outgoing = (
  session: string,
  log: readonly Event[],
  roots: ReadonlyMap<string, SessionItem>,
  logs: ReadonlyMap<string, readonly Event[]>,
): Outgoing => {
  const root = roots.get(session)
  const workspace = root?.workspace ?? '/home/u/proj'
  const children = [...roots].filter(
    ([key, item]) => item.startedBy?.session === session && key !== session && isChild(item, roots),
  )
  return {
    id: idFor(session),
    events: log,
    resolve: async (value) => value,
    head: log.findLast(({ note }) => note !== true)?.id ?? idFor(session),
    title: titleOf(log),
    workspace,
    cwd: root?.cwd ?? workspace,
    children: children.map(([key]) => outgoing(key, logs.get(key) ?? [], roots, logs)),
  }
}

export const titleOf = (log: readonly Event[]): string | null => {
  const titles = log.filter(({ type }) => type === 'title')
  const title = (titles.findLast(({ by }) => by !== 'auto') ?? titles.at(-1))?.title
  return typeof title === 'string' ? title : null
}

/** What a writer gave, in files below a folder; the bytes of each by its name. */
export const put = async (written: Written, folder: string): Promise<ReadonlyMap<string, Buffer>> => {
  const files = new Map<string, Buffer>()
  for (const { name, content, merge } of written.files) {
    const pieces: Buffer[] = []
    if (merge === undefined) for await (const piece of content()) pieces.push(Buffer.from(piece))
    else pieces.push(Buffer.from(await merge(null)))
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, Buffer.concat(pieces))
    files.set(name, Buffer.concat(pieces))
  }
  return files
}

export const readAll = async (format: Format, folder: string): Promise<Item[]> => {
  const items: Item[] = []
  for (const source of (await format.find(folder)).toSorted())
    for await (const item of format.read(source)) items.push(item)
  return items
}

/** What the model gets at the head, or at the end of another branch. */
export const contextOf = ({ events, head }: Outgoing, leaf: EventId = head): readonly ContextMessage[] => {
  const tree = treeOf(events)
  return tree === null ? [] : context.view(fold(context, branchEvents(events, tree, leaf)))
}

/** The ends of a session's branches, the head's among them. */
export const leavesOf = ({ events, head }: Outgoing): readonly EventId[] => {
  const tree = treeOf(events)
  const ends = tree === null ? [] : branchesOf(tree).map(({ leaf }) => leaf)
  return [...new Set([...ends, head])]
}

export const kindsOf = (losses: readonly Loss[]): readonly string[] => losses.map(({ kind }) => kind)
