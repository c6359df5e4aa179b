import type { Item } from '../format.js'
import { isAbsolute, objectIn, textIn } from '../members.js'
import type { Json } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { Thread } from '../thread.js'
import { epoch } from '../time.js'
import { type Frame, isUpdate } from './frame.js'
import { Talk } from './talk.js'

/** Requests that a session begins with: their answer names it. */
const beginning = new Set(['session/new', 'session/fork'])
/** Requests that wait until their session was told again. */
const telling = new Set(['session/load'])

/** Turns the frames of one trace into items: who asked what, which session a frame belongs to, live or told again. */
export class Trace {
  readonly #talks = new Map<string, Talk>()
  /** Requests that wait for their answer, newest last, by JSON-RPC id. */
  readonly #requests = new Map<string, Frame[]>()
  /** Frames that came before their session. */
  #held: Frame[] = []
  #agent: Json = {}
  #last: Talk | null = null

  constructor(
    readonly folder: string | null,
    readonly remarks: Remarks,
  ) {}

  *take(frame: Frame): Generator<Item> {
    if (frame.method !== null && frame.id !== null)
      this.#requests.set(frame.id, [...(this.#requests.get(frame.id) ?? []), frame])
    const request = frame.method === null ? this.#answered(frame) : null
    const session = textIn(frame.params, 'sessionId') ?? this.#sessionOf(frame, request)
    if (session === null) return yield* this.#global(frame, request)
    const talk = yield* this.#talkOf(session, frame, request)
    this.#last = talk
    talk.thread.timeIs(frame.at)
    yield* this.#carry(talk, frame, request)
  }

  /** The request that a response answers: of that id, and from the other side where the recorder tells sides. */
  #answered({ id, direction }: Frame): Frame | null {
    const waiting = id === null ? undefined : this.#requests.get(id)
    const found = waiting?.findLast((one) => one.direction === null || one.direction !== direction)
    if (waiting === undefined || found === undefined) return null
    this.#requests.set(
      id as string,
      waiting.filter((one) => one !== found),
    )
    return found
  }

  #sessionOf(frame: Frame, request: Frame | null): string | null {
    if (request === null) return null
    const begun = textIn(objectIn(frame.message, 'result'), 'sessionId')
    return beginning.has(request.method ?? '') ? begun : (textIn(request.params, 'sessionId') ?? null)
  }

  /** A frame of no session: it waits for one where none began, or where it asks for one. */
  *#global(frame: Frame, request: Frame | null): Generator<Item> {
    const info = request?.method === 'initialize' ? objectIn(frame.message, 'result') : null
    if (info !== null) this.#agent = { ...objectIn(info, 'agentInfo'), protocolVersion: info.protocolVersion }
    if (this.#last === null || beginning.has(frame.method ?? '')) {
      this.#held.push(frame)
      return
    }
    yield* this.#last.flush()
    yield this.#last.own(frame, kindOf(frame, request))
  }

  *#talkOf(session: string, frame: Frame, request: Frame | null): Generator<Item, Talk> {
    const known = this.#talks.get(session)
    if (known !== undefined) return known
    const asked = request ?? frame
    const cwd = textIn(asked.params, 'cwd') ?? this.folder
    const at = this.#held.find((one) => one.at !== null)?.at ?? frame.at
    if (at === null) this.remarks.add(session, 'session names no time: set to 1970-01-01')
    const name = textIn(this.#agent, 'name')
    const version = textIn(this.#agent, 'version')
    const forked = request?.method === 'session/fork' ? textIn(request.params, 'sessionId') : null
    yield {
      kind: 'session',
      session,
      at: at ?? epoch,
      workspace: isAbsolute(cwd) ? cwd : null,
      cwd,
      agent: { name: name ?? 'acp', ...(version === null ? {} : { version }) },
      ...(forked === null ? {} : { forkedFrom: { session: forked, event: null } }),
      line: frame.line,
    }
    const talk = new Talk(new Thread(session, at ?? epoch, this.remarks))
    this.#talks.set(session, talk)
    if (!telling.has(frame.method ?? '')) yield* this.#release(talk)
    return talk
  }

  *#release(talk: Talk): Generator<Item> {
    const held = this.#held
    this.#held = []
    for (const frame of held) yield talk.own(frame, kindOf(frame, null))
  }

  *#carry(talk: Talk, frame: Frame, request: Frame | null): Generator<Item> {
    const { method } = frame
    if (isUpdate(method)) return yield* talk.update(frame)
    if (method === 'session/prompt') return yield* talk.prompt(frame)
    if (method === 'session/request_permission') return yield* talk.asked(frame)
    if (telling.has(method ?? '')) {
      yield* talk.loading()
      this.#held.push(frame)
      return
    }
    if (request?.method === 'session/prompt') return yield* talk.ended(frame)
    if (request?.method === 'session/request_permission') return yield* talk.answered(frame, request)
    yield* telling.has(request?.method ?? '') ? talk.loaded() : talk.flush()
    if (telling.has(request?.method ?? '')) yield* this.#release(talk)
    yield talk.own(frame, kindOf(frame, request))
  }

  *end(): Generator<Item> {
    for (const talk of this.#talks.values()) yield* talk.flush()
    if (this.#last !== null) yield* this.#release(this.#last)
    for (const { line } of this.#held) this.remarks.add(null, 'frame of no session: left out', line)
  }
}

const kindOf = ({ method }: Frame, request: Frame | null): string =>
  method ?? (request?.method ? `${request.method}:response` : 'response')
