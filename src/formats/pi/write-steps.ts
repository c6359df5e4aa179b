import type { Event, EventId } from '../../events/event.js'
import type { Json } from '../remainder.js'
import type { Branch } from '../write/branches.js'
import { isOwn } from '../write/own.js'
import { countOther } from '../write/rest.js'
import { isSilent, summaryText } from '../write/saying.js'
import type { CompactionStep, MessageStep, OtherStep, Passage, ResultStep, Step } from '../write/step.js'
import { wholeCount, wholeUsage } from '../write/usage.js'
import { newLine } from '../write/whole.js'
import { saidUsage } from './message.js'
import { type EntryId, format, type PiFile } from './write-file.js'
import { assistantMessage, callId, resultMessage, userContent } from './write-message.js'
import { movedRecord } from './write-own.js'

/** An entry on the branch, and the place on its path of the event that it stands for. */
interface Stand {
  readonly id: string
  readonly at: number
}

/** A branch that is being written: where its next entry hangs, and what stands above. */
export class BranchWriter {
  #parent: EntryId
  readonly #chain: Stand[] = []
  readonly #places: ReadonlyMap<EventId, number>
  readonly #entries = new Map<EventId, string>()

  constructor(
    readonly file: PiFile,
    readonly branch: Branch,
    readonly passage: Passage,
  ) {
    this.#places = new Map(branch.path.map(({ id }, i) => [id, i]))
    this.#parent = null
    if (passage.base === null) return
    const end = this.#places.get(passage.base.id) ?? -1
    for (const [at, event] of branch.path.slice(0, end + 1).entries()) {
      const id = file.own.get(event.id) ?? null
      if (id !== null && id !== this.#parent) this.#chain.push({ id, at })
      this.#parent = id ?? this.#parent
    }
  }

  /** Writes what is missing; gives the entry that the branch ends at. */
  write(): EntryId {
    this.#cover()
    for (const step of this.passage.steps) this.#step(step)
    return this.#parent
  }

  #step(step: Step): void {
    if (step.kind === 'other') this.#other(step)
    else if (step.kind === 'compaction') this.#compaction(step)
    else if (step.kind === 'result') this.#result(step)
    else this.#message(step)
  }

  /** Adds an entry below the last one, unless another branch did. */
  #add(step: Step, events: readonly Event[], at: number, record: (id: string) => Promise<Json>): void {
    const { written, ids, lines } = this.file
    const parent = this.#parent
    const name = `${parent}\n${step.key}`
    const found = written.get(name)
    const id = found ?? ids.take(step.key)
    if (found === undefined) {
      written.set(name, id)
      lines.push(async () => {
        const { type, ...rest } = await record(id)
        const entry = { type, id, parentId: parent, timestamp: step.at, ...rest }
        return newLine(entry, this.file.losses, step.key)
      })
      this.file.last = id
    }
    for (const event of events) this.#entries.set(event.id, id)
    for (const event of events) this.file.entries.set(event.id, id)
    this.#chain.push({ id, at })
    this.#parent = id
  }

  #placeOf(event: EventId | undefined): number {
    return this.#places.get(event ?? '') ?? this.#places.size
  }

  /** An entry of Pi's own that has to stand here once more. */
  #moved(step: Step, event: Event, place = this.#placeOf(event.id)): void {
    const parent = this.#parent
    const keyOf = (target: unknown): unknown =>
      this.#entries.get(String(target)) ?? this.file.own.get(String(target))
    this.#add(step, [event], place, async (id) => {
      const record = movedRecord(await this.file.session.resolve(event), { id, parent, keyOf })
      if (event.type !== 'compaction') return record
      const { firstKeptEntryIndex: _index, ...rest } = record
      return { ...rest, firstKeptEntryId: this.#firstKept(event, id) }
    })
  }

  #other(step: OtherStep): void {
    const { event } = step
    if (isOwn(event, format)) {
      if (event.type === 'custom' || event.type === 'edit') this.#moved(step, event)
    } else countOther(step, this.file.losses)
  }

  #message(step: MessageStep): void {
    const { members, key, events } = step
    const { losses } = this.file
    const [only] = events
    if (only !== undefined && events.length === 1 && isOwn(only, format) && key === only.id)
      this.#moved(step, only)
    else if (members.role === 'system') losses.add('system messages', key)
    else if (members.aside === true) losses.add('asides', key)
    else if (isSilent(members)) losses.add(members.usage === undefined ? 'empty messages' : 'usage', key)
    else if (members.role === 'assistant') this.#answer(step)
    else if (members.context === false) losses.add('kept from the model', key)
    else this.#prompt(step)
  }

  #answer(step: MessageStep): void {
    const { session, losses } = this.file
    const { members, at, key } = step
    if (members.visible === false) losses.add('hidden messages', key)
    this.#add(step, step.events, this.#placeOf(step.events[0]?.id), async () => ({
      type: 'message',
      message: assistantMessage(await session.resolve(members), at, { losses, key }),
    }))
  }

  /** What people do not see is an extension's message, which Pi can hide. */
  #prompt(step: MessageStep): void {
    const { session, losses } = this.file
    const { members, at, key, events } = step
    const [event] = events
    const isHidden = members.visible === false || event?.type === 'custom'
    if (members.meta !== undefined) losses.add('marks', key)
    this.#add(step, events, this.#placeOf(event?.id), async () => {
      const { content } = await session.resolve({ content: members.content })
      const told = userContent(content, { losses, key })
      if (!isHidden)
        return { type: 'message', message: { role: 'user', content: told, timestamp: Date.parse(at) } }
      const customType = event?.type === 'custom' ? String(event.name) : 'coppice:hidden'
      return { type: 'custom_message', customType, content: told, display: false }
    })
  }

  /** Stands with its call, wherever its event does. */
  #result(step: ResultStep): void {
    const { session, losses } = this.file
    const { event, members, call, caller, at, key } = step
    const place = this.#placeOf(caller ?? event?.id)
    if (event !== null && isOwn(event, format) && key === event.id) {
      this.#moved(step, event, place)
      return
    }
    if (members.timing !== undefined) losses.add('timing', key)
    if (members.context === false) losses.add('kept from the model', key)
    this.#add(step, event === null ? [] : [event], place, async () => {
      const kept = members.context === false ? { ...members, content: '[removed]' } : members
      const told = {
        ...(await session.resolve(kept)),
        toolCallId: callId(String(call?.id ?? members.toolCallId)),
      }
      return { type: 'message', message: resultMessage(told, at, call?.name ?? '', { losses, key }) }
    })
  }

  #compaction(step: CompactionStep): void {
    const { session, losses } = this.file
    const { event, members, key } = step
    if (isOwn(event, format)) {
      this.#moved(step, event)
      return
    }
    const usage = wholeUsage(members.usage, losses, key)
    if (['trigger', 'model', 'prompt', 'tokensAfter'].some((name) => members[name] !== undefined))
      losses.addOwn('compactions', 'what made a compaction, and what it left: left out', key)
    this.#add(step, [event], this.#placeOf(event.id), async (id) => {
      const { summary } = await session.resolve({ summary: members.summary })
      return {
        type: 'compaction',
        summary: summaryText(summary, () => losses.add('images', key)),
        firstKeptEntryId: this.#firstKept(event, id),
        tokensBefore: wholeCount(members.tokensBefore),
        ...(usage === null ? {} : { usage: saidUsage(usage) }),
      }
    })
  }

  /** Nothing of what a compaction covers is written: an entry stands for it, since a compaction of nothing is none. */
  #cover(): void {
    if (this.#parent !== null) return
    const first = this.passage.steps.find(isWritten)
    const covering = this.passage.steps.find(
      (step) =>
        step.kind === 'compaction' &&
        (first === undefined ||
          this.#placeOf(first.events[0]?.id) > this.#placeOf(String(step.event.through))),
    )
    if (covering === undefined) return
    const covered = { ...covering, key: `${covering.key}#covered` }
    this.#add(covered, [], -1, async () => ({ type: 'custom', customType: 'coppice:covered' }))
  }

  /** The first entry after what a compaction covers; one that stands nowhere before it where that is all: its own. */
  #firstKept({ through }: Event, id: string): string {
    const covered = this.#places.get(String(through)) ?? this.#places.size
    const end = this.#chain.findIndex((stand) => stand.id === id)
    return this.#chain.slice(0, end).find(({ at }) => at > covered)?.id ?? id
  }
}

/** Whether a message becomes an entry. */
const isWritten = (step: Step): step is MessageStep =>
  step.kind === 'message' &&
  (step.events.some((event) => isOwn(event, format)) ||
    (step.members.role !== 'system' &&
      step.members.aside !== true &&
      !isSilent(step.members) &&
      (step.members.role === 'assistant' || step.members.context !== false)))
