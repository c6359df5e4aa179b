import type { EventItem, Item } from '../format.js'
import { listIn, objectIn, textIn, titleOf } from '../members.js'
import { isObject, type Json, sameJson } from '../remainder.js'
import type { Thread } from '../thread.js'
import { type Call, Calls, nameOf } from './calls.js'
import { contentOf, outputOf } from './content.js'
import { type Frame, restOf } from './frame.js'
import { Keys } from './keys.js'
import { usageOf } from './usage.js'

type Speaker = 'user' | 'agent' | 'thought'

const speakers: Readonly<Record<string, Speaker>> = {
  user_message_chunk: 'user',
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
}

/** A message that comes in chunks. */
interface Streaming {
  readonly speaker: Speaker
  readonly id: string | null
  readonly frames: Frame[]
  readonly blocks: unknown[]
}

/** One session of a trace: chunks become messages, updates of a call its call and its result. */
export class Talk {
  readonly #keys = new Keys()
  readonly #calls = new Calls()
  #streaming: Streaming | null = null
  #calling: Call | null = null
  #group: string | null = null
  #prompt: { readonly content: unknown } | null = null
  #isReplay = false
  #hadEvents = false

  constructor(readonly thread: Thread) {}

  /** A load tells the whole session again before it is answered. */
  *loading(): Generator<Item> {
    yield* this.flush()
    this.#isReplay = true
    this.#hadEvents = this.thread.tip !== null
    this.#keys.again()
    this.#group = null
  }

  *loaded(): Generator<Item> {
    yield* this.flush()
    this.#isReplay = false
    this.#keys.live()
    this.#group = null
  }

  *update(frame: Frame): Generator<Item> {
    const update = objectIn(frame.params, 'update')
    const kind = textIn(update, 'sessionUpdate') ?? 'untyped'
    const speaker = speakers[kind]
    if (speaker !== undefined) return yield* this.#chunk(frame, speaker, update)
    if (kind === 'tool_call' || kind === 'tool_call_update') return yield* this.#callUpdate(frame, update)
    yield* this.flush()
    if (this.#isReplay && this.#hadEvents) return this.#leaveOut(frame)
    if (kind === 'session_info_update') return yield* this.#info(frame, update)
    yield this.own(frame, `update:${kind}`)
  }

  *#chunk(frame: Frame, speaker: Speaker, update: Json): Generator<Item> {
    const id = textIn(update, 'messageId')
    const before = this.#streaming
    if (before === null || before.speaker !== speaker || before.id !== id) {
      yield* this.flush()
      this.#streaming = { speaker, id, frames: [], blocks: [] }
    }
    this.#streaming?.frames.push(frame)
    this.#streaming?.blocks.push(update.content)
  }

  /** What streamed is whole, as far as it goes: something else comes, or the trace ends. */
  *flush(): Generator<Item> {
    const { thread } = this
    const calling = this.#calling
    this.#calling = null
    if (calling !== null) yield* this.#called(calling)
    const streaming = this.#streaming
    this.#streaming = null
    if (streaming === null) return
    const { speaker, id, frames, blocks } = streaming
    const content = contentOf(blocks)
    if (speaker === 'user' && this.#prompt !== null && sameJson(this.#prompt.content, content)) {
      for (const { line } of frames) thread.say('prompt that the agent repeats: left out', line)
      this.#prompt = null
      return
    }
    const { key, isKnown } = this.#keys.next(speaker, content, id)
    if (isKnown) for (const frame of frames) this.#leaveOut(frame)
    else yield this.#say(speaker, content, key, frames)
  }

  #say(
    speaker: Speaker,
    content: ReturnType<typeof contentOf>,
    key: string,
    frames: readonly Frame[],
  ): EventItem {
    const { thread } = this
    const [first, ...others] = frames
    for (const { line } of others) thread.say('chunk joined with the one before it', line)
    const words = typeof content === 'string' ? content : JSON.stringify(content)
    const payload =
      speaker === 'user'
        ? { role: 'user', content }
        : speaker === 'agent'
          ? { role: 'assistant', content, group: this.#groupFor(key) }
          : { role: 'assistant', content: null, reasoning: [{ text: words }], group: this.#groupFor(key) }
    if (speaker === 'user') this.#group = null
    else this.#prompt = null
    return thread.append({
      key,
      line: first?.line,
      raw: first?.raw,
      at: first?.at ?? undefined,
      type: 'message',
      payload,
      isTurn: speaker === 'user',
      extra: { frames: frames.map(restOf) },
    })
  }

  #groupFor(key: string): string {
    this.#group ??= key
    return this.#group
  }

  #leaveOut({ line }: Frame): void {
    this.thread.say('update that a load tells again: left out', line)
  }

  /** `session/prompt`: what the user said. */
  *prompt(frame: Frame): Generator<Item> {
    yield* this.flush()
    const content = contentOf(listIn(frame.params, 'prompt'))
    this.#prompt = null
    const { key, isKnown } = this.#keys.next('user', content, null)
    if (isKnown) this.#leaveOut(frame)
    else yield this.#say('user', content, key, [frame])
    this.#prompt = { content }
  }

  /** How a turn ended: the answer to its prompt. */
  *ended(frame: Frame): Generator<Item> {
    yield* this.flush()
    const { thread } = this
    const result = objectIn(frame.message, 'result')
    const stop = textIn(result, 'stopReason')
    const usage = usageOf(result.usage)
    const key = thread.unused(`session/prompt:response#${frame.hash.slice(0, 16)}`)
    if (usage !== undefined && this.#group !== null) {
      const payload = { role: 'assistant', content: null, usage, group: this.#group }
      yield thread.append({ key: `${key}#usage`, line: frame.line, type: 'message', payload })
    }
    this.#group = null
    const error = frame.message.error
    const reason = isObject(error) ? (textIn(error, 'message') ?? 'error') : stop
    const status = isObject(error) ? 'failed' : stop === 'cancelled' ? 'interrupted' : 'completed'
    const payload = { status, ...(reason === null || reason === 'end_turn' ? {} : { reason }) }
    const { line, raw } = frame
    yield thread.annotate({ key, line, raw, type: 'status', payload, extra: frame.value })
  }

  *#callUpdate(frame: Frame, update: Json): Generator<Item> {
    const id = textIn(update, 'toolCallId')
    if (id === null) {
      yield* this.flush()
      return yield this.own(frame, 'update:tool_call')
    }
    const call = this.#calls.of(id, update, this.#isReplay)
    if (call !== this.#calling) yield* this.flush()
    const { sessionUpdate: _, ...told } = update
    const isTold = call.node !== null
    const status = textIn(update, 'status')
    const isEnd = status === 'completed' || status === 'failed'
    if (this.#isReplay && isTold && (call.isDone || !isEnd)) return this.#leaveOut(frame)
    call.told = { ...call.told, ...told }
    // A call that ends at once is told by the frame that ends it.
    const isCalls = !isTold && (!isEnd || call.frames.length === 0)
    if (isCalls) call.frames.push(frame)
    if (!isTold && (status === null || status === 'pending')) {
      this.#calling = call
      return
    }
    this.#calling = null
    if (!isTold) yield* this.#called(call)
    if (isEnd) yield* this.#done(call, frame, status, !isCalls)
    else if (status === 'in_progress' && isTold) yield this.#note(frame, call, 'started')
    else if (isTold) yield this.own(frame, 'update:tool_call_update')
  }

  *#called(call: Call): Generator<Item> {
    const { thread } = this
    const { id, told, frames } = call
    const { key, isKnown } = this.#keys.next('call', null, id)
    if (isKnown) {
      for (const frame of frames) this.#leaveOut(frame)
      return
    }
    const [first, ...others] = frames
    for (const { line } of others) thread.say('update of a call joined with the call', line)
    const { rawInput } = told
    const toolCalls = [{ id, name: nameOf(told), arguments: JSON.stringify(rawInput ?? {}) }]
    this.#prompt = null
    yield thread.append({
      key,
      line: first?.line,
      raw: first?.raw,
      at: first?.at ?? undefined,
      type: 'message',
      payload: { role: 'assistant', content: null, toolCalls, group: this.#groupFor(key) },
      calls: [id],
      extra: { frames: frames.map(({ value }) => value) },
    })
    call.node = thread.tip
  }

  *#done(call: Call, frame: Frame, status: string, isOwnFrame: boolean): Generator<Item> {
    const { thread } = this
    if (call.isDone) return yield this.own(frame, 'update:tool_call_update')
    call.isDone = true
    this.#group = null
    const { key, isKnown } = this.#keys.next('result', null, call.id)
    if (isKnown) return isOwnFrame ? this.#leaveOut(frame) : undefined
    const content = outputOf(call.told.content, call.told.rawOutput)
    yield thread.append({
      key,
      line: frame.line,
      at: frame.at ?? undefined,
      type: 'message',
      payload: { role: 'tool', content, toolCallId: call.id, ok: status === 'completed' },
      results: [call.id],
      ...(isOwnFrame ? { raw: frame.raw, extra: { frames: [frame.value] } } : {}),
    })
  }

  #note(frame: Frame, call: Call, state: string, by?: string): EventItem {
    const payload = { toolCallId: call.id, state, ...(by === undefined ? {} : { by }) }
    const key = this.thread.unused(`tool:${state}#${frame.hash.slice(0, 16)}`)
    const { line, raw, value } = frame
    return this.thread.annotate({ key, line, raw, type: 'tool', payload, extra: value }, call.node)
  }

  /** `session/request_permission`: the agent waits for the user. */
  *asked(frame: Frame): Generator<Item> {
    const told = objectIn(frame.params, 'toolCall')
    const id = textIn(told, 'toolCallId')
    if (id === null) {
      yield* this.flush()
      return yield this.own(frame, 'session/request_permission')
    }
    const call = this.#calls.of(id, {}, this.#isReplay)
    if (call !== this.#calling) yield* this.flush()
    this.#calling = null
    if (call.node === null) {
      call.told = { ...call.told, ...told }
      if (call.frames.length === 0) call.frames.push(frame)
      yield* this.#called(call)
    }
    yield this.#note(frame, call, 'asked')
    yield* this.thread.status(`permission#${frame.hash.slice(0, 16)}`, 'ask_permission', frame.line)
  }

  /** What the user chose; `request` is the frame that asked. */
  *answered(frame: Frame, request: Frame): Generator<Item> {
    yield* this.flush()
    const id = textIn(objectIn(request.params, 'toolCall'), 'toolCallId')
    const call = id === null ? undefined : this.#calls.get(id)
    if (call === undefined) return yield this.own(frame, 'session/request_permission:response')
    const outcome = objectIn(objectIn(frame.message, 'result'), 'outcome')
    const chosen = listIn(request.params, 'options')
      .filter(isObject)
      .find(({ optionId }) => optionId === outcome.optionId)
    const isAllowed =
      outcome.outcome === 'selected' && textIn(chosen ?? {}, 'kind')?.startsWith('allow') === true
    yield this.#note(frame, call, isAllowed ? 'allowed' : 'denied', 'user')
    yield* this.thread.status(`permission#${frame.hash.slice(0, 16)}`, 'processing', frame.line)
  }

  *#info(frame: Frame, update: Json): Generator<Item> {
    const given = textIn(update, 'title')
    const title = given === null ? '' : titleOf(given)
    if (title === '') return yield this.own(frame, 'update:session_info_update')
    const key = this.thread.unused(`title#${frame.hash.slice(0, 16)}`)
    const { line, raw, value } = frame
    yield this.thread.annotate({
      key,
      line,
      raw,
      type: 'title',
      payload: { title, by: 'auto' },
      extra: value,
    })
  }

  /** A frame that is no part of the conversation, kept whole. */
  own(frame: Frame, kind: string): EventItem {
    const { thread } = this
    thread.say(`${kind} frame kept as a custom event`)
    const key = thread.unused(`${kind}#${frame.hash.slice(0, 16)}`)
    const { line, raw, value, at } = frame
    const payload = { name: `acp:${kind}`, data: value }
    return thread.append({ key, line, raw, at: at ?? undefined, type: 'custom', payload })
  }
}
