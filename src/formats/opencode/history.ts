import { sha256 } from '../../events/id.js'
import type { EventItem, Item, SessionItem } from '../format.js'
import { isAbsolute, objectIn, textIn, titleOf } from '../members.js'
import { isObject, type Json, remainder } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { coverable, isAbove, type Node, Thread } from '../thread.js'
import { epoch, normalTime } from '../time.js'
import { derivedTitle, split } from './changing.js'
import { createdAt, endOf, isWhole, modelOf, saidEnd } from './info.js'
import { replyOf, resultOf, saidReply, saidSpoken, spokenOf } from './parts.js'
import { Steps } from './steps.js'
import type { StoredMessage, StoredSession } from './stored.js'

/** A message of OpenCode's own that was met: what it hangs on. */
interface Cut {
  readonly before: Node | null
  readonly tail: string | null
  readonly isAuto: boolean
}

/** One session as items: its messages in their order, each part of a reply an event of the reply's group. */
export class History {
  readonly #thread: Thread
  readonly #item: SessionItem
  readonly #changes: Json
  /** What each message, and each part, hangs on. */
  readonly #before = new Map<string, Node | null>()
  #cut: Cut | null = null

  constructor(
    readonly stored: StoredSession,
    session: string,
    remarks: Remarks,
  ) {
    const { info, line } = stored
    const at = normalTime(objectIn(info, 'time').created) ?? createdAt(stored.messages[0]?.info ?? {})
    const cwd = textIn(info, 'directory')
    const version = textIn(info, 'version')
    const parent = textIn(info, 'parentID')
    const forked = textIn(info, 'forkSessionID')
    const { stays, changes } = split(info)
    const began = at ?? epoch
    const said = { id: session, directory: cwd ?? undefined, version: version ?? undefined, parentID: parent }
    const extra = remainder(stays, { ...said, time: { created: Date.parse(began) } })
    this.#changes = changes
    this.#thread = new Thread(session, began, remarks)
    if (at === null) this.#thread.say('session names no time: set to 1970-01-01')
    this.#item = {
      kind: 'session',
      session,
      at: began,
      workspace: isAbsolute(cwd) ? cwd : null,
      cwd,
      agent: { name: 'opencode', ...(version === null ? {} : { version }) },
      ...(parent === null ? {} : { startedBy: { session: parent, event: null } }),
      ...(forked === null ? {} : { forkedFrom: { session: forked, event: textIn(info, 'forkMessageID') } }),
      ...(extra === undefined ? {} : { extra }),
      ...(line === undefined ? {} : { line }),
    }
  }

  *items(): Generator<Item> {
    yield this.#item
    const { messages, info } = this.stored
    for (const [i, message] of messages.entries()) yield* this.#message(message, i === messages.length - 1)
    yield* this.#reverted(info.revert)
    yield* this.#title(info.title)
  }

  *#message(message: StoredMessage, isLast: boolean): Generator<Item> {
    const { info } = message
    const thread = this.#thread
    const id = textIn(info, 'id') ?? `message#${sha256(JSON.stringify(info)).slice(0, 16)}`
    if (this.#before.has(id)) {
      thread.say('message stands in the session again: left out', message.line)
      return
    }
    this.#before.set(id, thread.tip)
    const at = createdAt(info)
    if (at === null) thread.say('message without a time: the one before it counts')
    thread.timeIs(at)
    if (info.role === 'user') yield* this.#prompt(message, id)
    else if (info.role !== 'assistant') yield this.#own(message, id, 'message')
    else if (info.summary === true && isWhole(info)) yield this.#compaction(message, id)
    else yield* this.#reply(message, id, isLast)
  }

  /** What every record of a message says beside its own members. */
  #saidInfo(id: string): Json {
    return { id, sessionID: this.#thread.session, time: { created: Date.parse(this.#thread.at) } }
  }

  #saidPart(message: string): Json {
    return { sessionID: this.#thread.session, messageID: message }
  }

  #own({ info, parts, line, raw }: StoredMessage, key: string, kind: string): EventItem {
    this.#thread.say(`${kind} kept as a custom event`)
    const data = { info: remainder(info, this.#saidInfo(key)) ?? {}, parts }
    return this.#thread.append({
      key,
      line,
      raw,
      type: 'custom',
      payload: { name: `opencode:${kind}`, data },
    })
  }

  #prompt(message: StoredMessage, id: string): Item[] {
    const { info, parts, line, raw } = message
    const thread = this.#thread
    const cut = parts.find(({ type }) => type === 'compaction')
    if (cut !== undefined) {
      this.#cut = { before: thread.tip, tail: textIn(cut, 'tail_start_id'), isAuto: cut.auto === true }
      return [this.#own(message, id, 'compaction')]
    }
    const spoken = parts.map(spokenOf)
    const content = spoken.filter((part) => part !== null)
    if (content.length === 0) return [this.#own(message, id, 'message')]
    for (const [i, { type }] of parts.entries())
      if (spoken[i] === null) thread.say(`${String(type)} part of a prompt kept beside it`)
    const [only] = content
    const isPlain = content.length === 1 && only?.type === 'text' && 'text' in only
    const isHidden = parts.every((part, i) => spoken[i] === null || part.synthetic === true)
    const rest = parts.map((part, i) => {
      const told = spoken[i] as Json | null
      return remainder(part, told === null ? {} : { ...this.#saidPart(id), ...saidSpoken(told) }) ?? {}
    })
    const extra = { info: remainder(info, { ...this.#saidInfo(id), role: 'user' }) ?? {}, parts: rest }
    const payload = {
      role: 'user',
      content: isPlain ? only.text : content,
      ...(isHidden ? { visible: false } : {}),
    }
    return [thread.append({ key: id, line, raw, type: 'message', payload, isTurn: true, extra })]
  }

  *#reply(message: StoredMessage, id: string, isLast: boolean): Generator<Item> {
    const { info, parts, line, raw } = message
    const thread = this.#thread
    const steps = new Steps(id)
    const model = modelOf(info)
    for (const [i, part] of parts.entries()) {
      const told = { ...model, group: steps.groupOf(part) }
      yield* this.#part(part, id, `${id}/${textIn(part, 'id') ?? i + 1}`, told, line)
    }
    if (isLast && !isWhole(info)) {
      thread.say('reply is still being written: what it cost comes when it is whole')
      const data = { info, parts: [] }
      const payload = { name: 'opencode:unfinished', data }
      yield thread.append({ key: `${id}#unfinished`, line, raw, type: 'custom', payload })
      return
    }
    const isCounted = parts.some((part) => replyOf(part)?.usage !== undefined)
    const end = { ...model, group: steps.group, ...endOf(info, isCounted) }
    const payload: Json = { role: 'assistant', content: null, ...end }
    const said = { ...this.#saidInfo(id), role: 'assistant', ...saidEnd(payload) }
    const time = { ...(this.#saidInfo(id).time as Json), ...objectIn(said, 'time') }
    yield thread.append({
      key: id,
      line,
      raw,
      type: 'message',
      payload,
      extra: remainder(info, { ...said, time }),
    })
    yield* this.#status(info, id, line)
  }

  *#part(part: Json, message: string, key: string, told: Json, line?: number): Generator<Item> {
    const thread = this.#thread
    this.#before.set(key, thread.tip)
    const state = objectIn(part, 'state')
    const type = textIn(part, 'type') ?? 'untyped'
    const reply = state.status === 'pending' ? null : replyOf(part)
    if (reply === null) {
      thread.say(`${type} part kept as a custom event`)
      const data = remainder(part, { ...this.#saidPart(message), type }) ?? {}
      // A call that the model is still writing says something else later: then it is another event.
      const name = state.status === 'pending' ? `${key}#pending` : key
      yield thread.append({
        key: name,
        line,
        type: 'custom',
        payload: { name: `opencode:part:${type}`, data },
      })
      return
    }
    const result = resultOf(part)
    const call = textIn(part, 'callID')
    const extra = remainder(part, { ...this.#saidPart(message), ...saidReply(reply, result) })
    const calls = type === 'tool' && call !== null ? [call] : []
    yield thread.append({ key, line, type: 'message', payload: { ...reply, ...told }, calls, extra })
    if (result === null) return
    const at = normalTime(objectIn(state, 'time').end) ?? thread.at
    yield thread.append({ key: `${key}#result`, line, at, type: 'message', payload: result, results: calls })
    if (objectIn(state, 'time').compacted === undefined) return
    const payload: EventItem['payload'] = (idOf) => ({ target: idOf(`${key}#result`), replacement: cleared })
    yield thread.append({ key: `${key}#cleared`, line, type: 'edit', payload })
  }

  *#status(info: Json, id: string, line?: number): Generator<Item> {
    const error = objectIn(info, 'error')
    const name = textIn(error, 'name')
    if (name === 'MessageAbortedError') yield* this.#thread.status(id, 'interrupted', line)
    else if (name !== null)
      yield* this.#thread.status(id, 'failed', line, textIn(objectIn(error, 'data'), 'message') ?? name)
    else if (info.finish !== 'tool-calls') yield* this.#thread.status(id, 'completed', line)
  }

  /** The reply to a compaction's prompt is the summary: all before that prompt is cut, or before the tail that stays. */
  #compaction(message: StoredMessage, id: string): EventItem {
    const { info, parts, line, raw } = message
    const thread = this.#thread
    const { before = thread.tip, tail = null, isAuto = null } = this.#cut ?? {}
    this.#cut = null
    const kept = tail === null ? undefined : this.#before.get(tail)
    const upTo = kept !== undefined && (kept === null || isAbove(kept, thread.tip)) ? kept : before
    if (tail !== null && upTo !== kept)
      thread.say('compaction whose tail is not in the session: nothing before it is kept')
    const through = coverable(upTo, thread.tip)
    const texts = parts.flatMap(({ type, text }) =>
      type === 'text' && typeof text === 'string' ? [text] : [],
    )
    const end = endOf(info)
    const members = {
      ...(isAuto === null ? {} : { trigger: isAuto ? 'auto' : 'manual' }),
      ...(end.usage === undefined ? {} : { usage: end.usage }),
      ...('model' in modelOf(info) ? { model: modelOf(info).model } : {}),
    }
    const extra = { info: remainder(info, this.#saidInfo(id)) ?? {}, parts }
    if (through === null || texts.length === 0) {
      thread.say('compaction that covers nothing kept as a custom event that the model reads')
      const payload = { name: 'opencode:summary', data: extra, content: texts.join('\n') }
      return thread.append({ key: id, line, raw, type: 'custom', payload })
    }
    return thread.append({
      key: id,
      line,
      raw,
      type: 'compaction',
      payload: (idOf) => ({ summary: texts.join('\n'), through: idOf(through.key), ...members }),
      through,
      extra,
    })
  }

  /** An undo that no prompt has made final: the head stands before the message that it took back. */
  *#reverted(revert: unknown): Generator<Item> {
    if (!isObject(revert)) return
    const thread = this.#thread
    const message = textIn(revert, 'messageID')
    const part = textIn(revert, 'partID')
    const before = this.#before.get(part === null ? (message ?? '') : `${message}/${part}`)
    const key = `${thread.session}#revert:${sha256(JSON.stringify(revert)).slice(0, 16)}`
    if (before === undefined) thread.say('undo of a message that is not in the session: the head stays')
    else {
      if (before !== null) yield* thread.moveTo(before, `${key}#move`, 'undo')
      thread.stand(before)
    }
    yield thread.append({ key, type: 'custom', payload: { name: 'opencode:revert', data: revert } })
  }

  *#title(given: unknown): Generator<Item> {
    const thread = this.#thread
    const title = typeof given === 'string' && !derivedTitle.test(given) ? titleOf(given) : ''
    const changes = Object.keys(this.#changes)
    if (changes.length > 0)
      thread.say('members that change while the session goes on are kept as they were at the first import')
    if (title === '') return
    const key = `${thread.session}#title:${sha256(title).slice(0, 16)}`
    const extra = {
      ...this.#changes,
      ...(title === given ? {} : { title: given }),
    }
    yield thread.annotate({ key, type: 'title', payload: { title, by: 'import' }, extra })
  }
}

/** What OpenCode shows the model instead of an old result. */
const cleared = '[Old tool result content cleared]'
