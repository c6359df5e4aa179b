import type { Event, EventId } from '../../events/event.js'
import { pathTo, type Tree, treeOf } from '../../events/tree.js'
import { type CompactionRow, compactions } from '../../projections/compactions.js'
import { type ContextMessage, context } from '../../projections/context.js'
import { callsOf, isPrompt, type Members, membersOf, stringOf } from '../../projections/members.js'
import { branchEvents, fold } from '../../projections/replay.js'
import { type SessionRow, sessionIndex } from '../../projections/session-index.js'
import { joinText, oneLine } from '../../projections/text.js'
import { type TreeView, tree as treeProjection } from '../../projections/tree.js'
import { emptyTally, type Tally, tallyUp } from '../../projections/usage-tally.js'
import type { ReportAsk, ReportSource } from '../source.js'
import { visible } from '../visible.js'
import { type Segments, segmentsOf } from './segments.js'
import { thin } from './thin.js'
import { countIn, newTurn, type Turn } from './turns.js'

/** All of a report but its texts: what one pass over the log leaves. */
export interface Outline {
  readonly row: SessionRow
  readonly title: string
  /** The branch's last event; the head where none was asked for. */
  readonly leaf: EventId
  /** Whether it is where the conversation stands. */
  readonly isHead: boolean
  readonly tree: TreeView
  readonly segments: Segments
  readonly turns: readonly Turn[]
  /** For each event that is shown, notes too: its turn. */
  readonly turnOf: ReadonlyMap<EventId, number>
  /** For each prompt: its first words. */
  readonly titles: ReadonlyMap<EventId, string>
  /** What the model gets at the leaf, texts left out; and what each message of it was edited by. */
  readonly context: readonly ContextMessage[]
  readonly editedBy: ReadonlyMap<EventId, EventId>
  readonly compaction: CompactionRow | null
  readonly compacted: ReadonlySet<EventId>
  /** Tools' names by call, and the results of calls in log order. */
  readonly callNames: ReadonlyMap<string, string>
  readonly resultsOf: ReadonlyMap<string, readonly EventId[]>
  /** Of the branch that is shown. */
  readonly spent: Tally
  readonly asides: number
  readonly hidden: number
  readonly isPart: boolean
}

/** Null where the log holds no event. */
export const outlineOf = async (source: ReportSource, ask: ReportAsk): Promise<Outline | null> => {
  const { events, titles } = await skim(source)
  const nodes = treeOf(events)
  if (nodes === null) return null
  const leaf = ask.to ?? ask.branch ?? nodes.head
  const segments = segmentsOf(nodes, leaf)
  const path = branchEvents(events, nodes, leaf)
  const shown = shownIn(nodes, segments, leaf, ask)
  const rows = fold(compactions, path)
  const row = sessionIndex.view(fold(sessionIndex, events))
  return {
    row,
    title: await titleOf(source, row, events, titles),
    leaf,
    isHead: leaf === nodes.head || leaf === treeProjection.view(fold(treeProjection, events)).head,
    tree: await namesRedacted(source, treeProjection.view(fold(treeProjection, events))),
    segments,
    titles,
    ...(await sorted(source, events, segments, shown, titles, ask)),
    context: context.view(fold(context, path)),
    editedBy: editsIn(path),
    compaction: compactions.view(rows).at(-1) ?? null,
    compacted: coveredIn(path),
    ...callsIn(events),
    spent: path.reduce((tally: Tally, event) => tallyUp(tally, event, membersOf(event)), emptyTally),
    isPart: ask.from !== null || ask.to !== null,
  }
}

/** Every event without its weight, and the first words of each prompt. */
const skim = async (
  source: ReportSource,
): Promise<{ readonly events: readonly Event[]; readonly titles: ReadonlyMap<EventId, string> }> => {
  const events: Event[] = []
  const titles = new Map<EventId, string>()
  for await (const batch of source.events()) {
    const prompts = batch.filter((event) => isPrompt(event, membersOf(event)))
    const contents = await source.resolve(prompts.map((event) => membersOf(event).content))
    const texts = await source.redactAgain(contents.map((content) => joinText(content)))
    prompts.forEach(({ id, redacted }, at) => {
      const line = clipped(visible(texts[at] ?? ''))
      titles.set(id, redacted === true ? '[redacted]' : line || '[image]')
    })
    for (const event of batch) events.push(thin(event))
  }
  return { events, titles }
}

const longestTitle = 100

/** The first words of a text, and a sign where there are more. */
const clipped = (text: string): string => {
  const line = oneLine(text, longestTitle + 1)
  return [...line].length > longestTitle ? `${oneLine(line, longestTitle)}…` : line
}

const titleOf = async (
  source: ReportSource,
  row: SessionRow,
  events: readonly Event[],
  titles: ReadonlyMap<EventId, string>,
): Promise<string> => {
  if (row.titleBy !== null) return visible(await source.redactAgain(row.title))
  const first = events.find((event) => isPrompt(event, membersOf(event)))
  return (first === undefined ? undefined : titles.get(first.id)) ?? row.title
}

const namesRedacted = async (source: ReportSource, view: TreeView): Promise<TreeView> => {
  const clean = async (names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const cleaned = await source.redactAgain(names)
    return new Map(names.map((name, at) => [name, visible(cleaned[at] ?? '')]))
  }
  const given = [
    ...view.branches.map(({ name }) => name),
    ...view.nodes.flatMap(({ label, name }) => [label ?? '', name ?? '']),
  ]
  const names = await clean([...new Set(given)])
  const nameFor = (name: string): string => names.get(name) ?? ''
  return {
    ...view,
    branches: view.branches.map((branch) => ({ ...branch, name: nameFor(branch.name) })),
    nodes: view.nodes.map((node) => ({
      ...node,
      label: node.label === null ? null : nameFor(node.label),
      ...(node.name === undefined ? {} : { name: nameFor(node.name) }),
    })),
  }
}

/** The events that a report shows: all of the tree, or the asked part of one path. */
const shownIn = (
  nodes: Tree<Event>,
  segments: Segments,
  leaf: EventId,
  { from, to }: ReportAsk,
): ReadonlySet<EventId> => {
  if (from === null && to === null) return new Set(segments.of.keys())
  const path = pathTo(nodes, leaf)
  const first = from === null ? 0 : path.findIndex(({ id }) => id === from)
  return new Set(path.slice(Math.max(0, first)).map(({ id }) => id))
}

/** Whether people see an event: not what was said aside, and what is hidden only with `all`. */
export const isShown = (members: Members, all: boolean): boolean =>
  members.aside !== true && (all || members.visible !== false)

interface Sorted {
  readonly turns: readonly Turn[]
  readonly turnOf: ReadonlyMap<EventId, number>
  readonly asides: number
  readonly hidden: number
}

/** Every shown event into its turn, in log order. */
const sorted = async (
  source: ReportSource,
  events: readonly Event[],
  segments: Segments,
  shown: ReadonlySet<EventId>,
  titles: ReadonlyMap<EventId, string>,
  { all }: ReportAsk,
): Promise<Sorted> => {
  const turns: Turn[] = []
  const turnOf = new Map<EventId, number>()
  const newest = new Map<number, number>()
  const leftOut = { asides: 0, hidden: 0 }
  for (const event of events) {
    const node = event.note === true ? (event.parent ?? '') : event.id
    const segment = segments.of.get(node)
    if (segment === undefined || !shown.has(node) || turnOf.has(event.id)) continue
    if (event.note === true && !turnOf.has(node)) continue
    const members = membersOf(event)
    if (!isShown(members, all)) {
      if (members.aside === true) leftOut.asides++
      else leftOut.hidden++
      if (event.type === 'message') continue
    }
    const place = { event, members, segment, newest: newest.get(segment) }
    const at = turnAt(place, turns, segments, turnOf, titles)
    newest.set(segment, at)
    turnOf.set(event.id, at)
    countIn(turns[at] as Turn, event)
  }
  for (const turn of turns) if (turn.files.size > 0) await cleanFiles(source, turn)
  return { turns, turnOf, ...leftOut }
}

const cleanFiles = async (source: ReportSource, turn: Turn): Promise<void> => {
  const paths = await source.redactAgain([...turn.files])
  turn.files.clear()
  for (const path of paths) turn.files.add(visible(path.replace(/^workspace\//, '').replace(/^outside/, '')))
}

interface Place {
  readonly event: Event
  readonly members: Members
  readonly segment: number
  /** The last turn of the segment; undefined before its first. */
  readonly newest: number | undefined
}

const turnAt = (
  { event, members, segment, newest }: Place,
  turns: Turn[],
  segments: Segments,
  turnOf: ReadonlyMap<EventId, number>,
  titles: ReadonlyMap<EventId, string>,
): number => {
  const begins = isPrompt(event, members)
  if (newest !== undefined && !begins) return newest
  const fork = segments.list[segment]?.from ?? null
  const left = fork === null ? undefined : turns[turnOf.get(fork) ?? -1]
  const before = newest === undefined ? left : turns[newest]
  const number = (before?.number ?? 0) + (begins ? 1 : 0)
  const title = begins ? (titles.get(event.id) ?? '') : (before?.title ?? 'Before the first prompt')
  turns.push(newTurn(event, { segment, number, title, continues: !begins && before !== undefined }))
  return turns.length - 1
}

const editsIn = (path: readonly Event[]): ReadonlyMap<EventId, EventId> => {
  const edits = new Map<EventId, EventId>()
  for (const event of path) {
    const target = event.type === 'edit' ? stringOf(membersOf(event).target) : null
    if (target !== null) edits.set(target, event.id)
  }
  return edits
}

const coveredIn = (path: readonly Event[]): ReadonlySet<EventId> => {
  const newest = path.findLast(({ type }) => type === 'compaction')
  const through = newest === undefined ? null : stringOf(membersOf(newest).through)
  const cut = through === null ? -1 : path.findIndex(({ id }) => id === through)
  return new Set(path.slice(0, cut + 1).map(({ id }) => id))
}

const callsIn = (events: readonly Event[]): Pick<Outline, 'callNames' | 'resultsOf'> => {
  const callNames = new Map<string, string>()
  const resultsOf = new Map<string, EventId[]>()
  for (const event of events) {
    if (event.type !== 'message') continue
    const members = membersOf(event)
    for (const { id, name } of callsOf(members)) callNames.set(id, name)
    const call = members.role === 'tool' ? stringOf(members.toolCallId) : null
    if (call === null) continue
    const results = resultsOf.get(call)
    if (results === undefined) resultsOf.set(call, [event.id])
    else results.push(event.id)
  }
  return { callNames, resultsOf }
}
