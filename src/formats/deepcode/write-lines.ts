import type { Event, EventId } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'
import type { Branch } from '../write/branches.js'
import { uuid4 } from '../write/ids.js'
import type { Losses } from '../write/losses.js'
import { extraOf, isOwn, membersOf } from '../write/own.js'
import { countOther } from '../write/rest.js'
import { isSilent, summaryText } from '../write/saying.js'
import type { CompactionStep, MessageStep, Passage, ResultStep, Step } from '../write/step.js'
import type { Outgoing } from '../writer.js'
import { saidMessage, summaryPrefix } from './message.js'
import { answerPayload, countLost, promptPayload, resultPayload } from './write-message.js'
import { format, isLine, isOrphan, keyOf } from './write-own.js'

/** A line of the file that is to be. */
export interface Line {
  readonly id: string
  /** Of the model's conversation; none for what Coppice adds. */
  readonly events: readonly Event[]
  /** Where on the path it stands: a result with its call, a summary with the last that it covers. */
  readonly place: number
  readonly role: string
  readonly kind: 'message' | 'summary' | 'orphan' | 'other'
  /** A later summary stands for it since then; null: what its record says. */
  compacted: { readonly updateTime: unknown } | null
  /** The event that it came from; null: it is made anew. */
  readonly own: Event | null
  /** The record of a line that is made anew; members are resolved in it. `session`: the file's. */
  readonly record: (session: string) => Promise<Json>
}

/** A compaction on its way: its line, and what of it stands right after it. */
export interface Summary {
  readonly event: Event
  readonly line: Line
  readonly pinned: Line[]
}

export interface Drafted {
  readonly lines: readonly Line[]
  /** In the order of the path. */
  readonly summaries: readonly Summary[]
}

export interface Drafting {
  readonly session: Outgoing
  readonly branch: Branch
  readonly passage: Passage
  readonly losses: Losses
}

/** The lines of a branch, each where its event stands, and its compactions, which are yet to be placed. */
export const draft = (drafting: Drafting): Drafted => new Draft(drafting).all()

/** Own lines that stay as they are. A summary may stand among them that comes later on the path. */
const standing = ({ branch: { path }, passage: { base, steps } }: Drafting): readonly Event[] => {
  if (base === null) return []
  const end = path.findIndex(({ id }) => id === base.id)
  const again = new Set(
    steps.flatMap((step) => {
      if (step.kind === 'message') return step.events
      return step.event === null ? [] : [step.event]
    }),
  )
  return path.filter(
    (event, i) => isLine(event) && !again.has(event) && (i <= end || event.type === 'compaction'),
  )
}

class Draft {
  readonly #lines: Line[] = []
  readonly #summaries: Summary[] = []
  readonly #places: ReadonlyMap<EventId, number>
  #lastSummary = ''

  constructor(readonly drafting: Drafting) {
    this.#places = new Map(drafting.branch.path.map(({ id }, i) => [id, i]))
  }

  all(): Drafted {
    for (const event of standing(this.drafting)) this.#own(event)
    for (const step of this.drafting.passage.steps) this.#step(step)
    const lines = this.#lines.toSorted((a, b) => a.place - b.place)
    return { lines, summaries: this.#summaries }
  }

  #placeOf(event: EventId | null | undefined): number {
    return this.#places.get(event ?? '') ?? this.#places.size
  }

  #own(event: Event, place = this.#placeOf(event.id)): void {
    const isCompaction = event.type === 'compaction'
    const line: Line = {
      id: keyOf(event),
      events: [event],
      place: isCompaction ? this.#placeOf(String(event.through)) : place,
      role: event.type === 'message' ? String(event.role) : 'system',
      kind: isCompaction
        ? 'summary'
        : isOrphan(event)
          ? 'orphan'
          : event.type === 'custom'
            ? 'other'
            : 'message',
      compacted: null,
      own: event,
      record: async () => ({}),
    }
    if (isCompaction) this.#summaries.push({ event, line, pinned: [] })
    else this.#lines.push(line)
  }

  #step(step: Step): void {
    const { losses } = this.drafting
    if (step.kind === 'compaction') this.#compaction(step)
    else if (step.kind === 'result') this.#result(step)
    else if (step.kind === 'message') this.#message(step)
    else if (isLine(step.event)) this.#own(step.event)
    else if (!isOwn(step.event, format)) countOther(step, losses)
  }

  #add(step: Step, line: Pick<Line, 'events' | 'place' | 'role'>, payload: () => Promise<Json>): void {
    const made = this.#made(step, line, payload)
    const summary = this.#summaries.at(-1)
    if (summary !== undefined && step.key.startsWith(`${summary.event.id}+`)) summary.pinned.push(made)
    else this.#lines.push(made)
  }

  #made(
    { key, at }: Step,
    line: Pick<Line, 'events' | 'place' | 'role'>,
    payload: () => Promise<Json>,
  ): Line {
    const id = uuid4(`${this.drafting.session.id}\n${key}`)
    return {
      id,
      ...line,
      kind: 'message',
      compacted: null,
      own: null,
      record: async (session) => saidMessage(await payload(), { key: id, session, at }, at),
    }
  }

  #message(step: MessageStep): void {
    const { key, events } = step
    const { session, losses } = this.drafting
    const [event] = events
    if (event === undefined) return
    const members = this.#asKept(step, event)
    const role = String(members.role)
    if (events.length === 1 && isLine(event) && key === event.id) this.#own(event)
    else if (members.aside === true) losses.add('asides', key)
    else if (members.context === false) losses.add('kept from the model', key)
    else if (isSilent(members)) losses.add(members.usage === undefined ? 'empty messages' : 'usage', key)
    else {
      const isHidden = event.type === 'custom'
      const place = key.includes('+') ? this.#lastPlace() : this.#placeOf(event.id)
      if (isHidden) losses.add('marks', key)
      countLost(members, { losses, key })
      this.#add(step, { events, place, role }, async () => {
        const resolved = await session.resolve(isHidden ? { ...members, visible: false } : members)
        const telling = { losses, key }
        return role === 'assistant'
          ? answerPayload(resolved, telling)
          : promptPayload(role, resolved, telling)
      })
    }
  }

  /** A system message that a compaction keeps reads as that has it, but for edits after what it covers. */
  #asKept({ members, key }: MessageStep, event: Event): Json {
    if (members.role !== 'system' || key === event.id) return members
    const { path } = this.drafting.branch
    const last = path.findLast(({ type }) => type === 'compaction')
    if (!Array.isArray(last?.keep)) return members
    const kept = (last.keep as unknown[]).filter(isObject).find(({ id }) => id === event.id)?.message
    const through = this.#placeOf(String(last.through))
    const isEdited = path
      .slice(through + 1)
      .some((one) => one.type === 'edit' && membersOf(one).target === event.id)
    return isObject(kept) && !isEdited ? kept : members
  }

  #lastPlace(): number {
    return this.#summaries.at(-1)?.line.place ?? 0
  }

  #result(step: ResultStep): void {
    const { event, members, call, caller, key } = step
    const { session, losses } = this.drafting
    const place = caller === null ? this.#placeOf(event?.id) : this.#placeOf(caller)
    if (event !== null && isLine(event) && key === event.id) {
      this.#own(event, place)
      return
    }
    if (caller !== null) this.#replace(String(call?.id), place)
    if (members.timing !== undefined) losses.add('timing', key)
    if (members.context === false) losses.add('kept from the model', key)
    this.#add(step, { events: event === null ? [] : [event], place, role: 'tool' }, async () => {
      const called = { id: call?.id ?? members.toolCallId, name: call?.name, arguments: call?.arguments }
      const [told, asked] = await session.resolve([members, called] as const)
      return resultPayload(told, { ...asked, id: called.id }, { losses, key })
    })
  }

  /** Of two results Deep Code takes the first, Coppice the last: the one that stood there before goes. */
  #replace(call: string, caller: number): void {
    const older = this.#lines.findIndex(
      ({ own, place }) => own?.role === 'tool' && own.toolCallId === call && place > caller,
    )
    const [line] = older === -1 ? [] : this.#lines.splice(older, 1)
    if (line !== undefined) this.drafting.losses.add('older results', line.id)
  }

  #compaction(step: CompactionStep): void {
    const { session, losses } = this.drafting
    const { event, members, key } = step
    if (isLine(event)) {
      this.#own(event)
      return
    }
    if (untold.some((name) => members[name] !== undefined))
      losses.addOwn('compactions', 'what made a compaction, and what it cost: left out', key)
    // A summary that is older than one before it would be read as replaced by that.
    const at = [step.at, this.#lastSummary].sort().at(-1) ?? step.at
    this.#lastSummary = at
    const place = this.#placeOf(String(members.through))
    const line = this.#made({ ...step, at }, { events: [event], place, role: 'system' }, async () => {
      const { summary } = await session.resolve({ summary: members.summary })
      const text = summaryText(summary, () => losses.add('images', key))
      return {
        role: 'system',
        content: `${summaryPrefix}${text}`,
        visible: false,
        meta: { isSummary: true },
      }
    })
    this.#summaries.push({ event, line: { ...line, kind: 'summary' }, pinned: [] })
  }
}

const untold = ['usage', 'trigger', 'model', 'prompt', 'tokensBefore', 'tokensAfter']

/** Messages that were marked as compacted though no summary stands for them, by event, and when. */
export const hiddenIn = (path: readonly Event[]): ReadonlyMap<EventId, unknown> =>
  new Map(
    path.flatMap((event) => {
      const isMark = event.type === 'edit' && isOwn(event, format) && keyOf(event).endsWith('#compacted')
      const extra = isMark ? extraOf(event) : undefined
      return isMark ? [[String(event.target), isObject(extra) ? extra.updateTime : undefined] as const] : []
    }),
  )
