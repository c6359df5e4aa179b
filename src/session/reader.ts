import type { FileDiff } from '../checkpoints/diff.js'
import { InPlaceOfBlob, resolveValues } from '../events/blob.js'
import type { BlobRef } from '../events/content.js'
import { Ambiguous, Damaged, type LogLostTail, NotFound, Refused } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId, is } from '../events/event.js'
import { eventOf, eventsOf } from '../events/event-of.js'
import type { Line } from '../events/line.js'
import type { EventLog } from '../events/log.js'
import { branchesOf, onceEach, treeOf } from '../events/tree.js'
import { walkBack } from '../events/walk.js'
import { context } from '../projections/context.js'
import { membersOf } from '../projections/members.js'
import { messages, type Transcript, viewMessages } from '../projections/messages.js'
import { branchEvents, fold } from '../projections/replay.js'
import {
  type AnthropicRequest,
  type OpenAIMessage,
  type PlainMessage,
  toAnthropic,
  toOpenAI,
  toPlain,
} from '../projections/shapes.js'
import { joinText, textOf } from '../projections/text.js'
import { type TreeView, tree } from '../projections/tree.js'
import { undoTargets, viewUndoTargets } from '../projections/undo-targets.js'
import type {
  CheckpointRow,
  ContextFormat,
  ContextShape,
  ReadView,
  SessionReader,
  SessionRow,
  UndoPoint,
} from './api.js'
import type { PathCode } from './code/reading.js'
import type { WorkspaceCode } from './code/workspace-code.js'
import { findLine, loadRecent } from './lookup.js'
import { bridged } from './salvage.js'

/** What a reader asks of the store that it came from. */
export interface ReaderHome {
  row(): Promise<SessionRow>
  savedAgrees(): Promise<boolean | null>
  /** See SessionReader. */
  lostTail(mustLook: boolean): Promise<LogLostTail | null>
  code(): Promise<WorkspaceCode>
}

/** Reads one session, locking and writing nothing. */
export class Reader implements SessionReader {
  constructor(
    readonly log: EventLog,
    readonly id: EventId,
    readonly workspace: string,
    readonly home: ReaderHome,
  ) {}

  async head(): Promise<EventId> {
    for await (const { line } of walkBack(this.log, this.id, null)) return line.id
    throw this.#noEvent('@')
  }

  /** The nearest event at or above `at` that is no `head` event: where the conversation stands. */
  async base(at: EventId | null = null, view: ReadView = {}): Promise<EventId> {
    for await (const { line } of walkBack(this.log, this.id, at, view))
      if (line.type !== 'head') return line.id
    throw this.#noEvent(at ?? '@')
  }

  row(): Promise<SessionRow> {
    return this.home.row()
  }

  savedAgrees(): Promise<boolean | null> {
    return this.home.savedAgrees()
  }

  lostTail(mustLook = false): Promise<LogLostTail | null> {
    return this.home.lostTail(mustLook)
  }

  async resolve(name: string, view: ReadView = {}): Promise<EventId> {
    if (name === '@') return view.salvage === true ? this.#salvaged('@', view) : this.base(null, view)
    if (name === '@^') return view.salvage === true ? this.#salvaged('@^', view) : this.#messageAbove()
    if (/^[0-9a-f]{32}$/.test(name)) {
      if ((await findLine(this.log, this.id, name, view)) !== null) return name
      throw this.#noEvent(name)
    }
    const found = await this.#named(name, view)
    if (found !== null) return found
    throw this.#noEvent(name)
  }

  /** The same along a path whose lost parents are bridged, which only events at hand can give. */
  async #salvaged(name: '@' | '@^', view: ReadView): Promise<EventId> {
    const path = (await this.path(view)).filter((event) => advancesHead(event) && event.type !== 'head')
    const found = name === '@' ? path.at(-1) : path.slice(0, -1).findLast(({ type }) => type === 'message')
    if (found === undefined) throw this.#noEvent(name)
    return found.id
  }

  async #messageAbove(): Promise<EventId> {
    let isBelow = false
    for await (const { line } of walkBack(this.log, this.id, null)) {
      if (isBelow && line.type === 'message') return line.id
      isBelow ||= line.type !== 'head'
    }
    throw this.#noEvent('@^')
  }

  /** By label, branch name, or a prefix of the id; in this order only where the name could be each. */
  async #named(name: string, view: ReadView): Promise<EventId | null> {
    const events = await this.events(view)
    const labelled = labelsOf(events).get(name)
    if (labelled !== undefined) return labelled
    const nodes = treeOf(events)
    const branch = nodes === null ? undefined : branchesOf(nodes).find((end) => end.name === name)
    if (branch !== undefined) return branch.leaf
    if (!/^[0-9a-f]{4,31}$/.test(name)) return null
    const candidates = [...new Set(events.filter(({ id }) => id.startsWith(name)).map(({ id }) => id))]
    if (candidates.length > 1) throw new Ambiguous('event', name, candidates)
    return candidates[0] ?? null
  }

  #noEvent(name: string): NotFound {
    return new NotFound(
      'event',
      name,
      `session ${this.id}`,
      'see `coppice log SESSION` and `coppice tree SESSION`',
    )
  }

  /** Refuses an id that is no event, or a note, which nothing can hang on. */
  async mustBeNode(id: EventId): Promise<void> {
    const line = await findLine(this.log, this.id, id)
    if (line === null) throw this.#noEvent(id)
    if (line.note)
      throw new Refused(
        `${id} is a ${line.type} note`,
        `session ${this.id}`,
        'name the event that it annotates',
      )
  }

  /** The whole text of a user message. */
  async promptOf(id: EventId): Promise<string> {
    const line = await findLine(this.log, this.id, id)
    if (line === null) throw this.#noEvent(id)
    return joinText(await this.resolved(textOf(membersOf(eventOf(line, this.id)).content)))
  }

  async events(view: ReadView = {}): Promise<readonly Event[]> {
    const events: Event[] = []
    for await (const batch of this.log.readForward(this.id, view))
      for (const event of eventsOf(batch, this.id, view)) events.push(event)
    return view.salvage === true ? bridged(events) : events
  }

  async *backward(view: ReadView = {}): AsyncIterable<readonly Line[]> {
    if (view.at === undefined) {
      yield* this.#wholeBackward(view)
      return
    }
    const path = await this.#pathLines(view)
    yield path.reverse()
  }

  /** The whole log, newest first. A parent that no line gave is damage, which a forward scan then places (INV-4, 6). */
  async *#wholeBackward(view: ReadView): AsyncGenerator<readonly Line[]> {
    const owed = new Set<EventId>()
    for await (const lines of this.log.readBackward(this.id, view)) {
      for (const { id, parent } of lines) {
        owed.delete(id)
        if (parent !== null) owed.add(parent)
      }
      yield lines
    }
    if (owed.size > 0) for await (const _ of this.log.readForward(this.id, view));
  }

  async path(view: ReadView = {}): Promise<readonly Event[]> {
    if (view.salvage === true) {
      const events = await this.events(view)
      const nodes = treeOf(events)
      if (view.at !== undefined && nodes?.nodes.has(view.at) !== true) throw this.#noEvent(view.at)
      return nodes === null ? [] : onceEach(branchEvents(events, nodes, view.at ?? nodes.head))
    }
    return (await this.#pathLines(view)).map((line) => eventOf(line, this.id))
  }

  /** In log order. */
  async #pathLines(view: ReadView): Promise<Line[]> {
    const lines: Line[] = []
    for await (const { line, notes } of walkBack(this.log, this.id, view.at ?? null, view))
      lines.push(line, ...notes)
    if (lines.length === 0 && view.at !== undefined) await this.mustBeNode(view.at)
    return lines.sort((a, b) => a.offset - b.offset)
  }

  async messages(view: ReadView & { readonly all?: boolean } = {}): Promise<Transcript> {
    const path = fold(messages, await this.path(view))
    return this.resolved(viewMessages(path, { hidden: view.all === true }), view)
  }

  context(view?: ReadView & { readonly format?: 'openai' }): Promise<readonly OpenAIMessage[]>
  context(view: ReadView & { readonly format: 'anthropic' }): Promise<AnthropicRequest>
  context(view: ReadView & { readonly format: 'plain' }): Promise<readonly PlainMessage[]>
  context(view: ReadView & { readonly format?: ContextFormat }): Promise<ContextShape>
  async context(view: ReadView & { readonly format?: ContextFormat } = {}): Promise<ContextShape> {
    const events = view.salvage === true ? await this.path(view) : await this.#recent(view)
    const found = await this.resolved(context.view(fold(context, events)), view)
    if (view.format === 'anthropic') return toAnthropic(found)
    return view.format === 'plain' ? toPlain(found) : toOpenAI(found)
  }

  /** The path down from what the newest compaction on it left; to the root where that keeps no system messages itself. */
  async #recent(view: ReadView): Promise<readonly Event[]> {
    const events = await loadRecent(this.#upward(view))
    if (events.length === 0 && view.at !== undefined) await this.mustBeNode(view.at)
    return events
  }

  /** Nearest first, each event before the `tool` notes on it, which are all that the context asks of notes. */
  async *#upward(view: ReadView): AsyncGenerator<Event> {
    for await (const { line, notes } of walkBack(this.log, this.id, view.at ?? null, view)) {
      yield eventOf(line, this.id)
      for (const note of notes) if (note.type === 'tool') yield eventOf(note, this.id)
    }
  }

  async undoTargets({ all = false }: { readonly all?: boolean } = {}): Promise<readonly UndoPoint[]> {
    const path = await this.path()
    const targets = await this.resolved(viewUndoTargets(fold(undoTargets, path), { all }))
    const shown = targets.map((target) => ({ ...target, text: joinText(target.text) }))
    if (!shown.some(({ restorable }) => restorable)) return shown
    return (await import('./code/reading.js')).withWhatIsHere(await this.#codeOf(path), shown)
  }

  async checkpoints(view: ReadView = {}): Promise<readonly CheckpointRow[]> {
    const { checkpointRows } = await import('./code/reading.js')
    return checkpointRows(await this.path(view), (ref) => this.log.blobs.get(this.id, ref))
  }

  async diff(from: EventId, to: EventId, view: ReadView = {}): Promise<readonly FileDiff[]> {
    const { diffBetween } = await import('./code/reading.js')
    const [before, after] = [await this.path({ ...view, at: from }), await this.path({ ...view, at: to })]
    return diffBetween(await this.#codeOf(before), await this.#codeOf(after))
  }

  async #codeOf(path: readonly Event[]): Promise<PathCode> {
    const { filesAlong } = await import('./code/code-at.js')
    const events = await filesAlong(path, (ref) => this.log.blobs.get(this.id, ref))
    return { path, events, code: await this.home.code() }
  }

  async tree(view: ReadView = {}): Promise<TreeView> {
    return tree.view(fold(tree, await this.events(view)))
  }

  resolved<T>(value: T, view: ReadView = {}): Promise<T> {
    return resolveValues(value, (ref) => this.#blob(ref, view))
  }

  /** In salvage words stand in the place of a blob that is missing or damaged, and it is told. */
  async #blob(ref: BlobRef, { salvage, report }: ReadView): Promise<Buffer | InPlaceOfBlob> {
    try {
      return await this.log.blobs.get(this.id, ref)
    } catch (error) {
      const isMissing = error instanceof NotFound
      if (salvage !== true || !(isMissing || error instanceof Damaged)) throw error
      const what = isMissing ? 'missing' : 'damaged'
      const detail = `blob ${ref.$blob} is ${what}`
      report?.({ kind: 'blob', line: 0, offset: 0, bytes: ref.bytes, detail })
      return new InPlaceOfBlob(`[blob ${what}]`)
    }
  }
}

/** The last label given to each name; a label that was taken away names nothing. */
const labelsOf = (events: readonly Event[]): ReadonlyMap<string, EventId> => {
  const byTarget = new Map<EventId, string>()
  for (const event of events) {
    if (!is(event, 'label')) continue
    if (event.label === null) byTarget.delete(event.target)
    else byTarget.set(event.target, event.label)
  }
  return new Map([...byTarget].map(([target, label]) => [label, target]))
}
