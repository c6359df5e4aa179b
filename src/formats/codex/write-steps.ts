import type { Usage } from '../../events/content.js'
import type { Event } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import { countIn, objectIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import type { CallNames } from '../write/call-names.js'
import { uuid7 } from '../write/ids.js'
import { Losses } from '../write/losses.js'
import { isOwn } from '../write/own.js'
import { countOther } from '../write/rest.js'
import { isSilent, summaryText } from '../write/saying.js'
import type { CompactionStep, MessageStep, OtherStep, ResultStep, Step } from '../write/step.js'
import { callsOf } from '../write/steps.js'
import { wholeUsage } from '../write/usage.js'
import { newLine } from '../write/whole.js'
import type { Outgoing } from '../writer.js'
import { saidUsage } from './usage.js'
import {
  answerItems,
  countAnswer,
  messageItem,
  mirrorsOf,
  outcomeEvent,
  outputItem,
  type Telling,
} from './write-items.js'
import { format, isLine, kindOf, type Manner, ownRecord } from './write-own.js'

/** Lines of one step, made when they are asked for. */
export type Making = () => Promise<readonly Json[]>

/** Lines that Codex makes beside what was said; they are made anew beside what is written anew. */
const made = new Set([
  'event_msg:task_started',
  'event_msg:task_complete',
  'event_msg:turn_aborted',
  'event_msg:thread_rolled_back',
  'event_msg:context_compacted',
  'event_msg:user_message',
  'event_msg:agent_message',
  'event_msg:agent_reasoning',
  'event_msg:token_count',
  'session_meta',
])

/** What a writer of steps asks of the branch that they are on. */
export interface BranchFacts {
  /** The reply that the lines before end in: more of it goes on in their turn. */
  readonly group: unknown
  /** Codex's own system messages that a compaction leaves standing. */
  readonly systemsBefore: (compaction: Event) => readonly Event[]
  /** What messages say instead since a compaction. */
  readonly editsAfter: (compaction: Event) => ReadonlyMap<unknown, unknown>
}

/** Writes steps as turns. Tokens are counted on from what the lines before had. */
export class TurnWriter {
  readonly lines: Making[] = []
  #turn: string | null = null
  /** Of the turn: known once its lines were made. */
  #lastMessage: string | null = null
  #total: Usage = { input: 0, output: 0 }
  #endedAt = ''
  /** An answer without calls came last: in the same turn, what the model says next would read as more of it. */
  #isAnswered = false

  constructor(
    readonly session: Outgoing,
    readonly losses: Losses,
    readonly manner: Manner,
    readonly branch: BranchFacts,
    readonly names: CallNames,
  ) {}

  /** Tells of a line that stands before: how many tokens there were so far. */
  pass(record: Json): void {
    const total = objectIn(objectIn(objectIn(record, 'payload'), 'info'), 'total_token_usage')
    const input = countIn(total, 'input_tokens')
    const output = countIn(total, 'output_tokens')
    if (input === undefined || output === undefined) return
    this.#total = {
      input,
      output,
      cacheRead: countIn(total, 'cached_input_tokens') ?? 0,
      reasoning: countIn(total, 'reasoning_output_tokens') ?? 0,
    }
  }

  write(steps: readonly Step[]): void {
    for (const [i, step] of steps.entries()) {
      this.#endedAt = step.at
      if (step.kind === 'other') this.#other(step)
      else if (step.kind === 'compaction') this.#compaction(step, pinnedAfter(steps, i))
      else if (step.kind === 'result') this.#result(step)
      else if (!isPinned(step)) this.#message(step)
    }
    this.#close(this.#endedAt)
  }

  #open(key: string, at: string): void {
    this.#close(at)
    const turn = uuid7(at, `${this.session.id}\n${key}`)
    this.#turn = turn
    this.lines.push(async () => {
      this.#lastMessage = null
      return [event(at, { type: 'task_started', turn_id: turn, model_context_window: null })]
    })
  }

  #close(at: string): void {
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    this.lines.push(async () => {
      const last = this.#lastMessage
      return [event(at, { type: 'task_complete', turn_id: turn, last_agent_message: last })]
    })
  }

  #other({ event: own, ...step }: OtherStep): void {
    if (!isOwn(own, format)) countOther({ event: own, ...step }, this.losses)
    else if (own.type === 'custom' && isLine(own) && !made.has(kindOf(own))) this.#again([own])
  }

  /** Lines of Codex's own that have to stand here once more. */
  #again(events: readonly Event[], isMirrored = false): void {
    this.lines.push(async () => {
      const records: Json[] = []
      for (const stored of events) {
        const record = ownRecord(await this.session.resolve(stored), { ...this.manner, isChanged: true })
        this.pass(record)
        const item = record.type === 'response_item' ? objectIn(record, 'payload') : {}
        records.push(record, ...(isMirrored ? this.#mirrors(stored.at, item) : []))
      }
      return records
    })
  }

  #mirrors(at: string, item: Json): readonly Json[] {
    return mirrorsOf(item).map((payload) => {
      if (payload.type === 'agent_message') this.#lastMessage = String(payload.message)
      return event(at, payload)
    })
  }

  #message(step: MessageStep): void {
    const { members, key, events } = step
    const { losses } = this
    // Neither edited nor repeated.
    const isOwnStep = events.every((one) => isLine(one)) && !/[~+]/.test(key)
    if (!isOwnStep && members.role === 'system') losses.add('system messages', key)
    else if (members.aside === true) losses.add('asides', key)
    else if (members.context === false) losses.add('kept from the model', key)
    else if (members.role === 'user' || members.role === 'system') this.#prompt(step, isOwnStep)
    else if (isSilent(members) && !isOwnStep) this.#silent(step)
    else this.#answer(step, isOwnStep)
  }

  /** What people do not see has no line beside it, and begins no turn. */
  #prompt({ key, at, members, events }: MessageStep, isOwnStep: boolean): void {
    const { losses, session } = this
    const isHidden = members.visible === false || members.role === 'system' || events[0]?.type === 'custom'
    this.#isAnswered = false
    if (!isHidden) this.#open(key, at)
    if (isOwnStep) {
      this.#again(events, !isHidden)
      return
    }
    if (isSilent(members)) losses.add('empty messages', key)
    if (isSilent(members)) return
    if (members.visible === false) losses.add('hidden messages', key)
    if (members.meta !== undefined) losses.add('marks', key)
    this.lines.push(async () => {
      const { content } = await session.resolve({ content: members.content })
      const payload = messageItem('user', content, { losses, key })
      return [item(at, payload), ...(isHidden ? [] : this.#mirrors(at, payload))]
    })
  }

  #silent({ key, at, members }: MessageStep): void {
    if (isObject(members.usage)) this.#usage(members.usage, at, key)
    else this.losses.add('empty messages', key)
  }

  #answer({ key, at, members, events }: MessageStep, isOwnStep: boolean): void {
    const { losses, session } = this
    const telling: Telling = { losses, key }
    const isMore =
      this.#turn === null && typeof members.group === 'string' && members.group === this.branch.group
    if (!isMore && (this.#turn === null || this.#isAnswered)) this.#open(key, at)
    this.#isAnswered = callsOf(members).length === 0
    if (isOwnStep) {
      this.#again(events, true)
      return
    }
    countAnswer(members, telling)
    this.lines.push(async () => {
      const items = answerItems(await session.resolve(members), events, this.names, telling)
      return items.flatMap((payload) => [item(at, payload), ...this.#mirrors(at, payload)])
    })
    if (isObject(members.usage)) this.#usage(members.usage, at, key)
  }

  /** What the answer cost, and all answers so far: whole objects, as Codex's reader needs them. */
  #usage(given: unknown, at: string, key: string): void {
    const usage = wholeUsage(given, this.losses, key)
    if (usage === null) return
    const { costUsd: _cost, ...tokens } = usage
    this.lines.push(async () => {
      const sum = (name: keyof Usage): number => (this.#total[name] ?? 0) + (usage[name] ?? 0)
      this.#total = {
        input: sum('input'),
        output: sum('output'),
        cacheRead: sum('cacheRead'),
        reasoning: sum('reasoning'),
      }
      const info = {
        total_token_usage: saidUsage(this.#total),
        last_token_usage: saidUsage({ cacheRead: 0, reasoning: 0, ...tokens }),
        model_context_window: null,
      }
      return [event(at, { type: 'token_count', info, rate_limits: null })]
    })
  }

  #result({ key, at, event: given, members, call, caller }: ResultStep): void {
    const { losses, session } = this
    this.#isAnswered = false
    if (this.#turn === null) this.#open(key, at)
    const id = call === null ? String(members.toolCallId) : this.names.idOf(caller ?? '', call.id)
    const outcome = outcomeEvent(members, id, call === null ? '' : this.names.toolOf(call.name))
    const isOwnResult = given !== null && isLine(given) && key === given.id
    if (outcome === null && members.timing !== undefined) losses.add('timing', key)
    if (members.context === false) losses.add('kept from the model', key)
    if (outcome !== null) this.lines.push(async () => [event(at, outcome)])
    if (isOwnResult) {
      this.#again([given])
      return
    }
    this.lines.push(async () => {
      const kept = members.context === false ? { ...members, content: '[removed]' } : members
      return [item(at, outputItem(await session.resolve(kept), id, { losses, key }))]
    })
  }

  /** In a turn of its own: right after a rollback, Codex would take it back with that. */
  #compaction({ key, at, event: own, members }: CompactionStep, pinned: readonly MessageStep[]): void {
    const { losses, session } = this
    this.#open(key, at)
    this.#isAnswered = false
    const edits = this.branch.editsAfter(own)
    const isAsKept = pinned.every(({ events }) => !edits.has(events[0]?.id))
    if (isLine(own) && isAsKept) this.#again([own])
    else {
      const untold = ['usage', 'trigger', 'model', 'prompt', 'tokensBefore', 'tokensAfter']
      if (untold.some((name) => members[name] !== undefined))
        losses.addOwn('compactions', 'what made a compaction, and what it cost: left out', key)
      this.lines.push(async () => {
        const { summary } = await session.resolve({ summary: members.summary })
        const message = summaryText(summary, () => losses.add('images', key))
        const kept: Json[] = []
        for (const stored of this.branch.systemsBefore(own)) {
          const { content } = await session.resolve({ content: stored.content })
          kept.push(messageItem('developer', content, { losses, key }))
        }
        for (const step of pinned) {
          const role = step.members.role === 'assistant' ? 'assistant' : 'user'
          const id = step.events[0]?.id
          const said = edits.has(id) ? edits.get(id) : step.members.content
          const { content } = await session.resolve({ content: said })
          if (!isSilent({ content })) kept.push(messageItem(role, content, { losses, key: step.key }))
        }
        const history = [...kept, messageItem('user', message, { losses, key })]
        const payload = { message, replacement_history: history }
        return [{ timestamp: at, type: 'compacted', payload }]
      })
    }
    this.lines.push(async () => [event(at, { type: 'context_compacted' })])
    this.#close(at)
  }
}

const event = (at: string, payload: Json): Json => ({ timestamp: at, type: 'event_msg', payload })
const item = (at: string, payload: Json): Json => ({ timestamp: at, type: 'response_item', payload })

/** Messages that a compaction keeps stand in its new history. */
const isPinned = ({ key }: Step): boolean => key.includes('+')

const pinnedAfter = (steps: readonly Step[], i: number): readonly MessageStep[] => {
  const after = steps.slice(i + 1)
  const end = after.findIndex((step) => !isPinned(step))
  return after
    .slice(0, end === -1 ? after.length : end)
    .flatMap((step) => (step.kind === 'message' ? [step] : []))
}

/** What an event line repeats of an item counts with that. */
export const linesOf = (records: readonly Json[], losses: Losses): string =>
  records
    .map((record) => newLine(record, record.type === 'event_msg' ? new Losses() : losses, keyOf(record)))
    .join('')

const keyOf = ({ payload }: Json): string => sha256(JSON.stringify(payload) ?? '')
