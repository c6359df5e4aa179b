import * as E from 'fp-ts/lib/Either.js'
import { InStoredForm, storeValues } from '../events/blob.js'
import { type Draft, decodeDraft } from '../events/draft.js'
import { InvalidDraft, LogLostTail, NotFound, Refused, StaleTail } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../events/event.js'
import { encodeLine, type Line } from '../events/line.js'
import type { Durability, EventLog } from '../events/log.js'
import type { Ports } from '../events/system.js'
import { rowAt, sessionIndex } from '../projections/session-index.js'
import type { Presence } from './api.js'
import { type Branch, nodeOf, nodesOf } from './branch.js'
import type { Command } from './command.js'
import { advances, branchNeededBy, decide, type SessionState } from './decide.js'
import { evolve } from './evolve.js'
import { findLine, loadBranch, loadRow } from './lookup.js'
import { eventOf } from './saved-fold.js'
import { nextTime, place } from './stamp.js'

interface Waiting {
  readonly command: Command
  readonly durability: Durability
  readonly resolve: (events: readonly Event[]) => void
  readonly reject: (error: unknown) => void
}

/** A command's lines, ready to append. */
interface Prepared {
  readonly waiting: Waiting
  readonly lines: readonly Line[]
  readonly events: readonly Event[]
}

interface Made {
  readonly lines: readonly Line[]
  readonly events: readonly Event[]
  readonly state: SessionState
}

export interface OpenSessionOptions {
  readonly log: EventLog
  readonly ports: Ports
  readonly id: EventId
  /** Of appends that do not say. */
  readonly durability: Durability
  readonly state: SessionState
  /** Where the last event that the state holds begins and ends in the log, in bytes. */
  readonly tail: TailPlace
  readonly others: readonly Presence[]
  /** Told the state as the log has it: to save the fold. */
  readonly onClose: (state: SessionState, tail: TailPlace) => void
}

export interface TailPlace {
  readonly from: number
  readonly end: number
}

/**
 * The thin shell round `decide` and `evolve`: it runs commands one batch after the other against the log. Commands that
 * arrive while an append is under way share the next one (group commit).
 */
export class OpenSession {
  readonly id: EventId
  readonly others: readonly Presence[]
  readonly #log: EventLog
  readonly #ports: Ports
  readonly #onClose: OpenSessionOptions['onClose']
  readonly #durability: Durability
  #tail: TailPlace
  #state: SessionState
  #queue: Waiting[] = []
  #isBusy = false
  #lastOwn = 0
  #mustReload = false

  constructor({ log, ports, id, durability, state, tail, others, onClose }: OpenSessionOptions) {
    this.#tail = tail
    this.#durability = durability
    this.#log = log
    this.#ports = ports
    this.id = id
    this.#state = state
    this.others = others
    this.#onClose = onClose
  }

  get state(): SessionState {
    return this.#state
  }

  run(command: Command, durability: Durability = this.#durability): Promise<readonly Event[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, durability, resolve, reject })
      if (!this.#isBusy) void this.#drain()
    })
  }

  /** Reads what others appended since. */
  async refresh(): Promise<void> {
    if (!this.#isBusy) await this.#reload(new Set())
  }

  close(): void {
    this.#onClose(this.#state, this.#tail)
  }

  async #drain(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length > 0) await this.#runBatch(this.#queue.splice(0))
    this.#isBusy = false
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    const stamped = new Set<EventId>()
    try {
      if (this.#mustReload) await this.#reload(stamped)
      for (let waiting = batch; waiting.length > 0; ) waiting = await this.#attempt(waiting, stamped)
    } catch (error) {
      // Whoever waits behind a rejected append decides again, on what the log then holds (DESIGN §6).
      const all = [...batch, ...this.#queue.splice(0)]
      await this.#reload(stamped).catch(() => {
        this.#mustReload = true
      })
      for (const { reject } of all) reject(error)
    }
  }

  /** Decides a batch and appends it; gives what is still to be decided, be it because another writer came first. */
  async #attempt(batch: readonly Waiting[], stamped: Set<EventId>): Promise<readonly Waiting[]> {
    const before = this.#state
    const { prepared, state, left } = await this.#prepare(batch)
    if (prepared.length === 0) return left
    const lines = prepared.flatMap((one) => one.lines)
    const durability = prepared.some(({ waiting }) => waiting.durability === 'sync') ? 'sync' : 'none'
    for (const { id } of lines) stamped.add(id)
    const appended = await this.#log.append(this.id, before.index.tail ?? this.id, lines, durability)()
    if (E.isLeft(appended)) {
      if (!(appended.left instanceof StaleTail)) throw appended.left
      await this.#reload(new Set())
      return [...prepared.map(({ waiting }) => waiting), ...left]
    }
    const extra = appended.right.lines.slice(0, appended.right.lines.length - lines.length)
    this.#state = extra.length === 0 ? state : this.#replayed(before, appended.right.lines)
    this.#tail = tailPlace(appended.right.lines) ?? this.#tail
    this.#resolve(prepared, extra)
    return left
  }

  #resolve(prepared: readonly Prepared[], extra: readonly Line[]): void {
    const first = extra.map((line) => eventOf(line, this.id))
    for (const [i, { waiting, events }] of prepared.entries())
      waiting.resolve(i === 0 ? [...first, ...events] : events)
  }

  #replayed(before: SessionState, lines: readonly Line[]): SessionState {
    return lines.reduce((state, line) => evolve(state, eventOf(line, this.id)), before)
  }

  /**
   * Decides each command on the state that the ones before it lead to. What is refused is rejected, and the rest goes
   * on. A command that needs the branch from the log waits until what comes before it is written: `left`.
   */
  async #prepare(batch: readonly Waiting[]): Promise<{
    readonly prepared: readonly Prepared[]
    readonly state: SessionState
    readonly left: readonly Waiting[]
  }> {
    const prepared: Prepared[] = []
    let state = this.#state
    for (const [i, waiting] of batch.entries()) {
      try {
        const made = await this.#decide(state, waiting)
        if (made === null) return { prepared, state, left: batch.slice(i) }
        state = made.state
        prepared.push({ waiting, lines: made.lines, events: made.events })
      } catch (error) {
        waiting.reject(error)
      }
    }
    return { prepared, state, left: [] }
  }

  /** Null: the branch is needed and cannot be read, since the state is ahead of the log. */
  async #decide(from: SessionState, { command, durability }: Waiting): Promise<Made | null> {
    const lines: Line[] = []
    const events: Event[] = []
    let state = from
    for (const step of stepsOf(command)) {
      const base = await this.#withBranch(state, step)
      if (base === null) return null
      const decision = decide(base, step)
      if (E.isLeft(decision)) throw decision.left
      const made = await this.#make(base, decision.right, durability)
      lines.push(...made.lines)
      events.push(...made.events)
      state = made.state
    }
    return { lines, events, state }
  }

  async #withBranch(state: SessionState, command: Command): Promise<SessionState | null> {
    const needed = branchNeededBy(command)
    if (needed === null || (state.branch !== null && holds(state.branch, needed.must))) return state
    if (state.position !== this.#state.position) return null
    const recent = await loadBranch(this.#log, this.id, state.position, 'recent')
    if (holds(recent, needed.must)) return { ...state, branch: recent }
    return { ...state, branch: await loadBranch(this.#log, this.id, state.position, 'whole') }
  }

  /** Stamps drafts into lines, with the `head` event that each jump needs before it. */
  async #make(from: SessionState, drafts: readonly Draft[], durability: Durability): Promise<Made> {
    const lines: Line[] = []
    const events: Event[] = []
    const blobs = new Map<string, Buffer>()
    let state = from
    for (const draft of drafts) {
      for (const one of await this.#withHead(state, draft)) {
        const { line, moved } = this.#encode(state, one)
        const known = one.at === undefined ? null : await this.#known(state, line)
        for (const [name, bytes] of moved) blobs.set(name, bytes)
        if (known !== null) {
          events.push(known)
          if (advancesHead(known)) state = { ...state, position: known.id, branch: null }
          continue
        }
        const event = eventOf(line, this.id)
        lines.push(line)
        events.push(event)
        state = evolve(state, event)
      }
    }
    const stored = await this.#log.blobs.put(this.id, blobs, durability)()
    if (E.isLeft(stored)) throw stored.left
    return { lines, events, state }
  }

  #encode(
    state: SessionState,
    draft: Draft,
  ): { readonly line: Line; readonly moved: ReadonlyMap<string, Buffer> } {
    const time = nextTime(this.#ports.clock.now(), this.#lastOwn, state.index.tailAt)
    if (draft.at === undefined) this.#lastOwn = time
    const { envelope, payload } = place(draft, state.position, time)
    const stored = storeValues(payload)
    if (E.isLeft(stored)) throw stored.left
    return { line: encodeLine(envelope, stored.right.payload), moved: stored.right.blobs }
  }

  /** The same draft with the same time on the same parent is the same event: a retry finds what it wrote before. */
  async #known(state: SessionState, line: Line): Promise<Event | null> {
    if (line.at > state.index.tailAt) return null
    const found = await findLine(this.#log, this.id, line.id)
    return found === null ? null : eventOf(found, this.id)
  }

  /** A draft, after the `head` event that it needs where it hangs on no open end (DESIGN §4); rows filled in. */
  async #withHead(state: SessionState, draft: Draft): Promise<readonly Draft[]> {
    const parent = draft.parent ?? state.position
    if (draft.type === 'head') return [{ ...draft, row: await this.#row(state, parent) }]
    if (Object.hasOwn(state.index.open, parent)) return [draft]
    if (draft.parent !== undefined && draft.parent !== state.position) await this.#mustExist(draft.parent)
    if (!advances(draft)) return [draft]
    if (draft.at !== undefined && (await this.#isKnown(state, draft, parent))) return [draft]
    // A race leaves the other's end open, to be seen (INV-7); a caller who names another parent leaves the head.
    const from =
      draft.parent === undefined || draft.parent === state.position
        ? state.position
        : (state.index.head ?? state.position)
    const { parent: _parent, ...rest } = draft
    return [
      { type: 'head', parent, to: parent, from, reason: 'branch', row: await this.#row(state, parent) },
      rest,
    ]
  }

  async #isKnown(state: SessionState, draft: Draft, parent: EventId): Promise<boolean> {
    return (await this.#known(state, this.#encode({ ...state, position: parent }, draft).line)) !== null
  }

  async #mustExist(id: EventId): Promise<void> {
    const line = await findLine(this.#log, this.id, id)
    if (line === null) throw new NotFound('event', id, `session ${this.id}`, 'see `coppice log SESSION`')
    if (line.note)
      throw new Refused(
        `${id} is a ${line.type} note`,
        `session ${this.id}`,
        'nothing can hang on a note: name the event that it annotates',
      )
  }

  /** In its stored form, as the folds that it comes from hold it. */
  async #row(state: SessionState, at: EventId): Promise<InStoredForm> {
    const open = rowAt(state.index, at)
    return new InStoredForm(open ?? (await loadRow(this.#log, this.id, at, this.#branchNameAt(state, at))))
  }

  /** The branch's name at an event above the position, where no other branch or move lies between. */
  #branchNameAt(state: SessionState, at: EventId): string | null {
    const nodes = state.branch === null ? [] : nodesOf(state.branch)
    const index = nodes.findIndex(({ id }) => id === at)
    if (index < 0 || nodes.slice(index + 1).some(({ type }) => type === 'branch' || type === 'head'))
      return null
    return rowAt(state.index, state.position)?.branch ?? null
  }

  /**
   * Reads what came after the known tail and decides where to stand (DESIGN §6): on the last of `own` stamped events
   * that is there, else on top of notes and context-neutral descendants, else where it stood.
   */
  async #reload(own: ReadonlySet<EventId>): Promise<void> {
    const lines = await this.#newLines()
    const news = lines.map((line) => eventOf(line, this.id))
    const lastOwn = news.findLast((event) => own.has(event.id) && advancesHead(event))
    const stood = lastOwn?.id ?? this.#state.position
    const after = news.slice(lastOwn === undefined ? 0 : news.indexOf(lastOwn) + 1)
    const position = onTop(stood, after)
    const index = news.reduce(sessionIndex.apply, this.#state.index)
    this.#state = { index, position, branch: position === this.#state.position ? this.#state.branch : null }
    this.#tail = tailPlace(lines) ?? this.#tail
    this.#mustReload = false
  }

  async #newLines(): Promise<Line[]> {
    const tail = this.#state.index.tail ?? this.id
    const news: Line[] = []
    for await (const batch of this.#log.readBackward(this.id)) {
      for (const line of batch) {
        if (line.id === tail) return news.reverse()
        news.push(line)
      }
    }
    throw new LogLostTail(this.id, tail)
  }
}

const tailPlace = (lines: readonly Line[]): TailPlace | null => {
  const last = lines[lines.length - 1]
  return last === undefined ? null : { from: last.offset, end: last.offset + last.bytes.length + 1 }
}

/** Drafts are decided one after the other: a later one may rest on an earlier one (a `tool` note on its call). */
const stepsOf = (command: Command): readonly Command[] =>
  command.do === 'append' && command.drafts.length > 1
    ? command.drafts.map((draft) => ({ do: 'append', drafts: [draft] }))
    : [command]

const holds = (branch: Branch, must: EventId | null): boolean =>
  must === null || branch.isWhole || nodesOf(branch).some(({ id }) => id === must)

/** The last of what came, where all of it is notes and context-neutral events one under the other; else where it stood. */
const onTop = (stood: EventId, news: readonly Event[]): EventId => {
  let position = stood
  for (const event of news) {
    if (!advancesHead(event)) continue
    if (event.parent !== position || !nodeOf(event).isNeutral) return stood
    position = event.id
  }
  return position
}

/** What callers may append themselves: the rest has a command of its own, or belongs to the log. */
const reservedTypes = new Set(['session', 'head', 'recovered', 'redaction', 'repaired', 'lost'])

/** Drafts from outside, checked one by one; throws what is wrong with the first that is none. */
export const checkedDrafts = (drafts: readonly unknown[]): readonly Draft[] =>
  drafts.map((draft) => {
    const checked = decodeDraft(draft)
    if (E.isLeft(checked)) throw checked.left
    const { type } = checked.right
    if (reservedTypes.has(type))
      throw new InvalidDraft([`type ${type} cannot be appended: it is written by a command of its own`])
    return checked.right
  })
