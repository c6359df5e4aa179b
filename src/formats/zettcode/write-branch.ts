import type { Event, EventId } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'
import { uuid7 } from '../write/ids.js'
import type { Losses } from '../write/losses.js'
import { isOwn } from '../write/own.js'
import { countOther } from '../write/rest.js'
import { isSilent, summaryText } from '../write/saying.js'
import type { CompactionStep, MessageStep, OtherStep, ResultStep, Step } from '../write/step.js'
import { callsOf, isForModel } from '../write/steps.js'
import type { Outgoing } from '../writer.js'
import { saidMessage } from './message.js'
import { saidCheckpoint, summaryPrefix } from './said.js'
import { answerPayload, countLost, promptPayload, resultPayload } from './write-message.js'
import { format, isRecord, listed, type OwnRecords, ownRecord } from './write-own.js'
import type { Planned } from './write-plan.js'
import { losesTiming, timingOf } from './write-timing.js'

/** A record to be written; what it holds is made when it is asked for. */
type Making = () => Promise<Json>

/** A session's file on its way. */
export interface ZettFile {
  readonly session: Outgoing
  readonly id: string
  readonly losses: Losses
  readonly own: OwnRecords
  /** By id, as they came: a path may hold them without their origin. */
  readonly events: ReadonlyMap<EventId, Event>
  readonly records: Making[]
  /** Records by the one above and the step: branches share what they share. */
  readonly written: Map<string, string>
  /** The last message of the file, where ZettCode goes on. */
  last: string | null
  /** The highest number of a checkpoint. */
  version: number
}

interface Stand {
  readonly id: string
  readonly at: number
}

/** A branch that is being written: where its next message hangs, and what stands above. */
export class BranchWriter {
  #parent: string | null = null
  #request: string
  readonly #chain: Stand[] = []
  readonly #places: ReadonlyMap<EventId, number>
  #covered = 0

  constructor(
    readonly file: ZettFile,
    readonly plan: Planned,
  ) {
    const { path } = plan.branch
    const { base, steps } = plan.passage
    this.#places = new Map(path.map(({ id }, i) => [id, i]))
    this.#request = uuid7(path[0]?.at ?? '', file.session.id)
    const end = base === null ? -1 : (this.#places.get(base.id) ?? -1)
    const again = new Set(
      steps.flatMap((step) => (step.kind === 'message' ? step.events.map(({ id }) => id) : [step.event?.id])),
    )
    for (const [at, event] of path.slice(0, end + 1).entries()) {
      const id = event.type === 'message' && !again.has(event.id) ? file.own.messages.get(event.id) : null
      if (typeof id !== 'string') continue
      this.#chain.push({ id, at })
      this.#parent = id
    }
  }

  /** Writes what is missing; gives the message that the branch ends at. */
  write(): string | null {
    for (const step of this.plan.passage.steps) this.#step(step)
    return this.#parent
  }

  /** Puts the branch's end last in the file. */
  end(): void {
    const at = this.plan.branch.path.at(-1)?.at ?? ''
    this.#silent('head', at, this.#places.size)
  }

  #step(step: Step): void {
    if (step.kind === 'other') this.#other(step)
    else if (step.kind === 'compaction') this.#compaction(step)
    else if (step.kind === 'result') this.#result(step)
    else this.#message(step)
  }

  #placeOf(event: EventId | null | undefined): number {
    return this.#places.get(event ?? '') ?? this.#places.size
  }

  /** Adds a message below the last one, unless another branch did. */
  #add(
    key: string,
    at: string,
    place: number,
    record: (id: string, parent: string | null) => Promise<Json>,
  ): void {
    const { file } = this
    const parent = this.#parent
    const name = `${parent}\n${key}`
    const found = file.written.get(name)
    const id = found ?? uuid7(at, `${file.id}\n${name}`)
    if (found === undefined) {
      file.written.set(name, id)
      file.records.push(() => record(id, parent))
      file.last = id
    }
    this.#chain.push({ id, at: place })
    this.#parent = id
  }

  /** A message of ZettCode's own that has to stand here once more. */
  #moved(key: string, event: Event, place: number): void {
    const { session, id: name } = this.file
    this.#add(key, event.at, place, async (id, parent) => {
      const record = ownRecord(await session.resolve(event), name, parent)
      return { ...record, id, parent }
    })
  }

  #said(step: MessageStep | ResultStep, place: number, payload: () => Promise<Json>, more: Json = {}): void {
    const { key, at, members } = step
    const request = this.#request
    this.#add(key, at, place, async (id, parent) => {
      const record = saidMessage(await payload(), { key: id, session: this.file.id, parent })
      const message = record.message as Json
      return listed({
        ...record,
        message: { ...message, data: { ...(message.data as Json), ...more } },
        request_id: request,
        timing: timingOf(members.timing, at),
        created_at: at,
      })
    })
  }

  /** A stored instruction without words: no request holds it. It marks a place. */
  #silent(key: string, at: string, place: number): void {
    const request = this.#request
    this.#add(`${this.file.session.id}#${key}`, at, place, async (id, parent) => {
      const payload = { role: 'system', content: '', context: false }
      const record = saidMessage(payload, { key: id, session: this.file.id, parent })
      return listed({ ...record, request_id: request, timing: timingOf(undefined, at), created_at: at })
    })
  }

  #other({ event, key }: OtherStep): void {
    const { file } = this
    const original = file.events.get(event.id) ?? event
    if (!isOwn(original, format)) countOther({ kind: 'other', event, key, at: event.at }, file.losses)
    else if (isRecord(original) && !file.own.messages.has(event.id)) file.losses.add('own events', key)
  }

  /** The event as it came, where the step says it as it is. */
  #sameAs(step: MessageStep | ResultStep, event: Event | null | undefined): Event | null {
    const original = this.file.events.get(event?.id ?? '')
    const isSame = original !== undefined && step.key === original.id && isRecord(original)
    return isSame && original.type === 'message' ? original : null
  }

  #message(step: MessageStep): void {
    const { key, at, events } = step
    const { session, losses } = this.file
    const [event] = events
    const same = events.length === 1 ? this.#sameAs(step, event) : null
    const place = key.includes('+') ? this.#covered : this.#placeOf(event?.id)
    const members = same === null ? this.#withoutApart(step) : step.members
    const telling = { losses, key }
    if (members.role === 'user') this.#request = uuid7(at, `${this.file.id}\n${key}`)
    if (same !== null) this.#moved(key, same, place)
    else if (members.role === 'system') losses.add('system messages', key)
    else if (isSilent(members)) losses.add(members.usage === undefined ? 'empty messages' : 'usage', key)
    else {
      countLost(members, telling)
      if (event?.type === 'custom') losses.add('hidden messages', key)
      if (losesTiming(members.timing)) losses.add('timing', key)
      this.#said(step, place, async () => {
        const resolved = await session.resolve(members)
        return members.role === 'assistant'
          ? answerPayload(resolved, telling)
          : promptPayload(resolved, telling)
      })
    }
  }

  /** What the model does not get calls nothing: nobody waits for its results. */
  #withoutApart({ members, key }: MessageStep): Json {
    if (isForModel(members) || callsOf(members).length === 0) return members
    this.file.losses.addOwn('calls apart', 'call that the model does not get, with its result: left out', key)
    const { toolCalls: _calls, ...rest } = members
    return rest
  }

  /** Stands with its call, wherever its event does. */
  #result(step: ResultStep): void {
    const { event, members, call, caller, key } = step
    const { session, losses } = this.file
    const place = this.#placeOf(caller ?? event?.id)
    const same = this.#sameAs(step, event)
    if (same !== null) {
      this.#moved(key, same, place)
      return
    }
    if (members.context === false) losses.add('kept from the model', key)
    if (members.meta !== undefined) losses.add('marks', key)
    if (losesTiming(members.timing)) losses.add('timing', key)
    const payload = async (): Promise<Json> =>
      resultPayload(
        { ...(await session.resolve(members)), toolCallId: call?.id ?? members.toolCallId },
        { losses, key },
      )
    this.#said(step, place, payload, { name: call?.name ?? '' })
  }

  #compaction(step: CompactionStep): void {
    const { file, plan } = this
    const { key, at, event, members } = step
    const original = file.events.get(event.id) ?? event
    const isOurs = isOwn(original, format)
    this.#covered = this.#placeOf(String(members.through))
    if (!isOurs && untold.some((name) => members[name] !== undefined))
      file.losses.addOwn('compactions', 'what made a compaction, and what it cost: left out', key)
    for (const id of keptSystems(members)) file.losses.add('system messages', id)
    if (this.#needsOwnEnd(plan.apart.has(event.id))) this.#silent(`${key}#covered`, at, this.#covered)
    const boundary = this.#boundary()
    if (boundary === null) {
      file.losses.add('compactions', key)
      return
    }
    const name = `${boundary}\n${key}`
    if (file.written.has(name)) return
    const id = uuid7(at, `${file.id}\n${name}`)
    const version = ++file.version
    file.written.set(name, id)
    file.records.push(async () => {
      if (isRecord(original)) {
        const record = ownRecord(await file.session.resolve(original), file.id, boundary)
        return { ...record, id, parent: boundary, version }
      }
      const { summary } = await file.session.resolve({ summary: members.summary })
      const text = summaryText(summary, () => file.losses.add('images', key))
      return { ...saidCheckpoint(id, boundary, at), version, message: [checkpoint(text)] }
    })
  }

  /**
   * Whether what a compaction covers is to end in a record that no other branch holds: where it must not count there, and
   * where the file stands on another branch, on which a checkpoint may cover more.
   */
  #needsOwnEnd(isApart: boolean): boolean {
    const boundary = this.#boundary()
    return boundary === null || (boundary === this.#parent && (isApart || this.file.last !== boundary))
  }

  /** The last message that the compaction at hand covers; a late result of a covered call may stand further down. */
  #boundary(): string | null {
    const end = this.#chain.findIndex(({ at }) => at > this.#covered)
    return this.#chain[(end === -1 ? this.#chain.length : end) - 1]?.id ?? null
  }
}

const untold = ['usage', 'trigger', 'model', 'prompt', 'tokensBefore', 'tokensAfter']

/** System messages that a compaction keeps for the model. */
const keptSystems = ({ keep }: Json): readonly string[] =>
  (Array.isArray(keep) ? (keep as unknown[]) : []).flatMap((one) =>
    isObject(one) && isObject(one.message) && one.message.role === 'system' ? [String(one.id)] : [],
  )

const checkpoint = (summary: string): Json => ({
  kind: 5,
  data: {
    attributes: {},
    persist: true,
    include_in_messages: true,
    content: `${summaryPrefix}${summary}`,
  },
})
