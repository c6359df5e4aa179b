import type { ToolCall } from '../../events/content.js'
import type { Event, EventId } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'
import type { Shape } from './branches.js'
import { type Edits, editedMembers, editsOf } from './edits.js'
import { joinMembers } from './groups.js'
import { hoisted } from './hoist.js'
import type { LossKind } from './losses.js'
import { isOwn, membersOf } from './own.js'
import type { MessageStep, Passage, PassageOptions, ResultStep, Step } from './step.js'

/** What is to be written of a path. */
export const passageOf = (path: readonly Event[], shape: Shape, options: PassageOptions): Passage =>
  new Passing(shape, options, path).all()

class Passing {
  readonly #steps: Step[] = []
  readonly #edits: Edits
  /** Results by the event that made the call, and call: the last one counts. */
  readonly #results = new Map<EventId, Map<string, Event>>()
  readonly #claimed = new Set<EventId>()
  /** Calls of messages that stay as they are, whose results do not stand there. */
  #owed: (() => readonly ResultStep[])[] = []
  /** Events that stay as they are. */
  readonly #standing = new Set<EventId>()
  readonly #answers = new Set<EventId>()
  /** Own events that nothing can be put below, as their own file has them. */
  readonly #anew = new Set<EventId>()
  #base: Event | null = null
  #isApart = false

  constructor(
    readonly shape: Shape,
    readonly options: PassageOptions,
    readonly path: readonly Event[],
  ) {
    this.#edits = editsOf(path, options.format)
    this.#pair()
  }

  all(): Passage {
    const order = this.#order()
    for (const event of order.filter(({ type }) => type !== 'session')) this.#take(event)
    if (this.#isApart || this.options.paysAll === true) this.#pay()
    const steps = this.options.joins ? joined(this.#steps, this.path) : this.#steps
    return { base: this.#base, steps: this.#withResults(steps) }
  }

  /** What stays is ended by an event that the format can go on after, and by that of each call whose result is new. */
  #order(): readonly Event[] {
    for (;;) {
      const order = this.options.hoists ? hoisted(this.path, (event) => this.#isNew(event)) : this.path
      const first = order.findIndex((event) => this.#isNew(event))
      const staying = order.slice(0, first === -1 ? undefined : first).filter((event) => this.#stays(event))
      const torn = this.#torn(staying)
      if (torn.size === 0) return order
      for (const id of torn) this.#anew.add(id)
    }
  }

  #torn(staying: readonly Event[]): ReadonlySet<EventId> {
    const { units } = this.options
    const last = staying.at(-1)
    if (units === undefined || last === undefined) return new Set()
    if (!units.isEndedBy(last)) return units.of(last)
    const end = units.of(last)
    const caller = staying.find(({ id }) => !end.has(id) && this.#isAnsweredAnew(id))
    return caller === undefined ? new Set() : units.of(caller)
  }

  #isAnsweredAnew(caller: EventId): boolean {
    return [...(this.#results.get(caller)?.values() ?? [])].some((result) => !this.#stays(result))
  }

  /** An own event that stays as it is loses nothing. */
  #lose(kind: LossKind, event: Event): void {
    if (!isOwn(event, this.options.format)) this.options.losses.add(kind, event.id)
  }

  #pair(): void {
    const callers = new Map<string, Event>()
    for (const event of this.path) {
      const { role, toolCallId } = membersOf(event)
      if (event.type !== 'message') continue
      if (role === 'assistant') for (const { id } of callsOf(membersOf(event))) callers.set(id, event)
      const caller = role === 'tool' && typeof toolCallId === 'string' ? callers.get(toolCallId) : undefined
      if (caller === undefined) continue
      const results = this.#results.get(caller.id) ?? new Map<string, Event>()
      const older = results.get(toolCallId as string)
      if (older !== undefined) this.#lose('older results', older)
      this.#results.set(caller.id, results.set(toolCallId as string, event))
      this.#claimed.add(event.id)
    }
  }

  /** Whether it says something that its own file does not hold, or not so. */
  #isNew(event: Event): boolean {
    return (isSpeaking(event) || event.type === 'compaction') && !this.#stays(event)
  }

  #take(event: Event): void {
    if (!this.#isApart && this.#stays(event)) {
      this.#base = event
      this.#standing.add(event.id)
      this.#owe(event)
    } else if (isSpeaking(event) || event.type === 'compaction') this.#speak(event)
    else this.#steps.push({ kind: 'other', key: event.id, at: event.at, event })
  }

  #speak(event: Event): void {
    this.#isApart = true
    this.#pay()
    // What answers an own message that stays was written with what is owed.
    if (this.#answers.has(event.id)) return
    if (event.type === 'message' && membersOf(event).role === 'tool') this.#orphan(event)
    else if (event.type === 'compaction') this.#compaction(event)
    else this.#message(event)
  }

  /** A result stands with the message that asked for it; one that nobody asked for stays only in its own file. */
  #orphan(event: Event): void {
    if (this.#claimed.has(event.id)) return
    if (isOwn(event, this.options.format)) this.#steps.push(this.#result(event, null, null))
    else this.options.losses.add('orphan results', event.id)
  }

  #message(event: Event): void {
    const edit = this.#edits.get(event.id)
    const members = editedMembers(event, this.#edits)
    if (edit !== undefined) this.options.losses.add('edits', edit.id)
    for (const i of repeatedCalls(members)) this.options.losses.add('repeated calls', `${event.id}/${i}`)
    this.#steps.push({
      kind: 'message',
      key: edit === undefined ? event.id : `${event.id}~${edit.id}`,
      at: event.at,
      events: [event],
      members: event.type === 'custom' ? { ...pick(members), role: 'user' } : members,
    })
  }

  /** Pinned messages that it covers stand after it once more: the model goes on seeing them. */
  #compaction(event: Event): void {
    const members = membersOf(event)
    this.#steps.push({ kind: 'compaction', key: event.id, at: event.at, event, members })
    for (const kept of Array.isArray(members.keep) ? (members.keep as unknown[]) : []) {
      const message = isObject(kept) && isObject(kept.message) ? kept.message : null
      const id = isObject(kept) ? kept.id : undefined
      const original = typeof id === 'string' ? this.shape.tree.nodes.get(id) : undefined
      if (message === null || original === undefined || message.role === 'system' || message.role === 'tool')
        continue
      this.options.losses.add('pinned messages', original.id)
      this.#steps.push({
        kind: 'message',
        key: `${event.id}+${original.id}`,
        at: event.at,
        events: [original],
        members: message,
      })
    }
  }

  /** Whether a result stands is known once nothing more does: one may come after what no longer stays. */
  #owe(event: Event): void {
    const results = this.#results.get(event.id)
    for (const { call } of callsFor([event], membersOf(event))) {
      const result = results?.get(call.id)
      this.#owed.push(() => {
        if (result === undefined) return [this.#missing(event, call)]
        if (this.#standing.has(result.id)) return []
        this.#answers.add(result.id)
        return [this.#result(result, call, event)]
      })
    }
  }

  #stays(event: Event): boolean {
    return isOwn(event, this.options.format) && !this.#edits.has(event.id) && !this.#anew.has(event.id)
  }

  #pay(): void {
    this.#steps.push(...this.#owed.flatMap((results) => results()))
    this.#owed = []
  }

  /** A call that several events of a group name is one call; its last result counts. */
  #withResults(steps: readonly Step[]): readonly Step[] {
    return steps.flatMap((step) => {
      if (step.kind !== 'message' || step.key.includes('+')) return [step]
      const results = callsFor(step.events, step.members).map(({ call, caller }) => {
        const found = step.events.map(({ id }) => this.#results.get(id)?.get(call.id))
        const result = found.findLast((one) => one !== undefined)
        return result === undefined ? this.#missing(caller, call) : this.#result(result, call, caller)
      })
      return [step, ...results]
    })
  }

  #result(event: Event, call: ToolCall | null, caller: Event | null): ResultStep {
    const edit = this.#edits.get(event.id)
    const key = edit === undefined ? event.id : `${event.id}~${edit.id}`
    if (edit !== undefined) this.options.losses.add('edits', edit.id)
    return {
      kind: 'result',
      key,
      at: event.at,
      event,
      members: editedMembers(event, this.#edits),
      call,
      caller: caller?.id ?? null,
    }
  }

  #missing(caller: Event, call: ToolCall): ResultStep {
    const { id, at } = caller
    const started = (this.shape.notes.get(id) ?? []).some(
      (note) => note.type === 'tool' && note.state === 'started' && note.toolCallId === call.id,
    )
    const content = started
      ? 'The call was interrupted, outcome unknown: check before retrying.'
      : 'The call was not started: it had no effect.'
    const members = { role: 'tool', content, toolCallId: call.id, ok: false }
    const key = `${id}!${call.id}`
    this.options.losses.add('interrupted calls', key)
    return { kind: 'result', key, at, event: null, members, call, caller: id }
  }
}

const isSpeaking = (event: Event): boolean =>
  event.type === 'message' ||
  (event.type === 'custom' && event.redacted !== true && event.content !== undefined)

const pick = ({ content, context, aside }: Json): Json => ({
  content,
  ...(context === undefined ? {} : { context }),
  ...(aside === undefined ? {} : { aside }),
})

/** The calls of a message that have an id, each once. */
export const callsOf = ({ toolCalls }: Json): readonly ToolCall[] => {
  const seen = new Set<string>()
  return (Array.isArray(toolCalls) ? (toolCalls as unknown[]) : []).flatMap((call): ToolCall[] => {
    if (!isObject(call) || typeof call.id !== 'string' || seen.has(call.id)) return []
    seen.add(call.id)
    const { id, name, arguments: given = '' } = call
    return [
      {
        id,
        name: typeof name === 'string' ? name : '',
        arguments: (typeof given === 'string' || isObject(given) ? given : '') as ToolCall['arguments'],
      },
    ]
  })
}

/** The places of calls that `callsOf` leaves out. */
const repeatedCalls = ({ toolCalls }: Json): readonly number[] => {
  const ids = (Array.isArray(toolCalls) ? (toolCalls as unknown[]) : []).map((call) =>
    isObject(call) ? call.id : undefined,
  )
  return ids.flatMap((id, i) => (typeof id === 'string' && ids.indexOf(id) === i ? [] : [i]))
}

interface Calling {
  readonly call: ToolCall
  readonly caller: Event
}

/** Only the model calls; what the model does not get needs no answers. `members` are those of all the events together. */
const callsFor = (events: readonly Event[], members: Json): readonly Calling[] =>
  members.role !== 'assistant' || !isForModel(members)
    ? []
    : callsOf(members).flatMap((call) => {
        const caller = events.find(
          (event) => event.type === 'message' && callsOf(membersOf(event)).some(({ id }) => id === call.id),
        )
        return caller === undefined ? [] : [{ call, caller }]
      })

/** Whether the model gets it: no side question, nothing that was kept from it. */
export const isForModel = ({ context, aside }: Json): boolean => context !== false && aside !== true

/** Events of one group are one message, whatever stands between them that says nothing to the model. */
const joined = (steps: readonly Step[], path: readonly Event[]): readonly Step[] => {
  const places = new Map(path.map(({ id }, i) => [id, i]))
  const found: Step[] = []
  for (const step of steps) {
    const at = isSaid(step) ? found.findLastIndex(isSaid) : -1
    const last = found[at]
    const isOne =
      step.kind === 'message' &&
      last?.kind === 'message' &&
      isSameGroup(last.members, step.members) &&
      found.slice(at).every((one) => !isCutAt(one, last, places))
    if (isOne)
      found[at] = {
        ...last,
        key: `${last.key}&${step.key}`,
        events: [...last.events, ...step.events],
        members: joinMembers(last.members, step.members),
      }
    else found.push(step)
  }
  return found
}

const isSaid = (step: Step): boolean => step.kind === 'message' && isForModel(step.members)

/** Whether a compaction covers what stands before it: the rest of a message stays where the model still gets it. */
const isCutAt = (step: Step, { events }: MessageStep, places: ReadonlyMap<EventId, number>): boolean =>
  step.kind === 'compaction' &&
  (places.get(String(step.event.through)) ?? places.size) >= (places.get(events[0]?.id ?? '') ?? 0)

const isSameGroup = (a: Json, b: Json): boolean =>
  a.role === 'assistant' && b.role === 'assistant' && typeof a.group === 'string' && a.group === b.group
