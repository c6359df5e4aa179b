import { deepStrictEqual, ok } from 'node:assert'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Session, Store } from '../../src/session/api.js'
import { type Foretold, Model, type ModelLine } from '../../src/testing/session-model.js'
import {
  contextOf,
  indexOf,
  logOf,
  memoryStore,
  newSession,
  refusal,
  textsOf,
  user,
} from '../session/stores.js'
import type { MemoryFs } from '../support/memory-fs.js'
import { MemoryFs as Memory } from '../support/memory-fs.js'
import { runs } from './arbitraries.js'

interface Real {
  readonly fs: MemoryFs
  readonly id: string
  readonly stores: [Store, Store]
  readonly sessions: [Session, Session]
}
type Who = 0 | 1

const lineOf = (event: Event): ModelLine => ({
  id: event.id,
  parent: event.parent,
  type: event.type,
  note: event.note === true,
  text: (event.content ?? event.summary ?? null) as string | null,
  from: event.type === 'head' ? (event.from as string) : null,
})

/** The lines that the log holds beyond the model's; a `recovered` note belongs to the log, and to no writer. */
const news = async ({ stores, id }: Real, model: Model): Promise<readonly ModelLine[]> =>
  (await (await stores[0].reader(id)).events()).slice(model.lines.length).map(lineOf)

/** Lines that just stand in the log must be what was foretold of a writer that stood there. */
const mustBe = (lines: readonly ModelLine[], foretold: readonly Foretold[], stood: string): void => {
  let last = stood
  const due = foretold.map((line, at) => {
    const parent = line.parent ?? last
    if (!line.note) last = lines[at]?.id ?? ''
    return { ...line, parent }
  })
  deepStrictEqual(
    lines.map(({ id: _id, ...rest }) => rest),
    due,
  )
}

const isOwn = ({ type }: ModelLine): boolean => type !== 'recovered'

/** Holds everything against the model. */
const agree = async (model: Model, real: Real): Promise<void> => {
  const reader = await real.stores[1].reader(real.id)
  const events = (await reader.events()).map(lineOf)
  deepStrictEqual(events, model.lines)
  const stored = new Set(events.map(({ id }) => id))
  for (const id of model.acked) ok(stored.has(id), `${id} was acknowledged and is not in the log`)
  for (const { text } of events) ok(text === null || model.attempted.has(text), `${text} was never said`)
  deepStrictEqual(await textsOf(real.stores[0], real.id), model.texts())
  deepStrictEqual(await contextOf(real.stores[0], real.id), model.context())
  const row = await reader.row()
  deepStrictEqual(row.diverged.map(({ leaf }) => leaf).sort(), model.diverged)
  const [listed] = await real.stores[0].list()
  deepStrictEqual(listed?.diverged, row.diverged)
}

abstract class Command implements fc.AsyncCommand<Model, Real> {
  check(): boolean {
    return true
  }
  abstract act(model: Model, real: Real): Promise<void>
  async run(model: Model, real: Real): Promise<void> {
    await this.act(model, real)
    await agree(model, real)
  }
  abstract toString(): string
}

let words = 0
const word = (model: Model): string => {
  const text = `word ${++words}`
  model.attempted.add(text)
  return text
}

type Kind = 'message' | 'checkpoint' | 'status'
const draftOf = (kind: Kind, text: string): object =>
  kind === 'message'
    ? user(text)
    : kind === 'checkpoint'
      ? { type: 'checkpoint', reason: 'manual', failed: 'x' }
      : { type: 'status', status: 'processing' }
const foretoldOf = (kind: Kind, text: string): Omit<Foretold, 'parent'> => ({
  type: kind,
  note: kind === 'status',
  text: kind === 'message' ? text : null,
  from: null,
})

/** Appends that resolve: the log holds just what was foretold, and all of it is acknowledged. */
class Append extends Command {
  constructor(
    readonly who: Who,
    readonly kinds: readonly Kind[],
  ) {
    super()
  }
  async act(model: Model, real: Real): Promise<void> {
    const texts = this.kinds.map(() => word(model))
    const drafts = this.kinds.map((kind, at) => draftOf(kind, texts[at] ?? ''))
    const writer = model.writers[this.who]
    const events = await real.sessions[this.who].append(drafts as never)
    const lines = await news(real, model)
    deepStrictEqual(events.map(lineOf), lines)
    model.read(writer)
    const stood = writer.position
    mustBe(
      lines.filter(isOwn),
      model.foretell(
        writer,
        this.kinds.map((kind, at) => foretoldOf(kind, texts[at] ?? '')),
      ),
      stood,
    )
    model.add(lines, writer)
    for (const { id } of lines) model.acked.add(id)
  }
  toString = () => `append(${this.who}, ${this.kinds})`
}

/** The disk takes so many bytes of an append: it rejects, and what is left of it is a beginning. */
class CutShort extends Command {
  constructor(
    readonly who: Who,
    readonly bytes: number,
    readonly isDropped: boolean,
  ) {
    super()
  }
  async act(model: Model, real: Real): Promise<void> {
    const { fs, sessions, stores, id } = real
    const texts = [word(model), word(model)]
    let isCut = false
    fs.fault = (operation, path, bytes) => {
      if (operation !== 'write' || isCut || !path.endsWith('data.jsonl')) return undefined
      isCut = true
      return Math.min(this.bytes, bytes - 1)
    }
    await refusal(sessions[this.who].append(texts.map((text) => user(text)) as never))
    fs.fault = () => undefined
    const writer = model.writers[this.who]
    const lines = await news(real, model)
    model.read(writer)
    const foretold = model.foretell(
      writer,
      texts.map((text) => foretoldOf('message', text)),
    )
    const left = lines.filter(isOwn)
    // What is left is a beginning, never a part from the middle.
    mustBe(left, foretold.slice(0, left.length), writer.position)
    model.add(lines, writer)
    if (!this.isDropped) return
    stores[this.who] = await memoryStore(fs)
    sessions[this.who] = await stores[this.who].open(id)
    model.writers[this.who] = { position: model.head, seen: model.lines.length }
  }
  toString = () => `cutShort(${this.who}, ${this.bytes}, ${this.isDropped})`
}

/** The log loses its end, and with it what was known of it; both writers are gone. */
class LoseEnd extends Command {
  constructor(readonly bytes: number) {
    super()
  }
  async act(model: Model, real: Real): Promise<void> {
    const { fs, id, stores, sessions } = real
    const path = logOf(fs, id)
    const bytes = fs.bytesOf(path)
    const root = bytes.indexOf('\n') + 1
    fs.replace(path, bytes.subarray(0, Math.max(root, bytes.length - this.bytes)))
    fs.remove(indexOf(fs))
    for (const who of [0, 1] as const) {
      stores[who] = await memoryStore(fs)
      sessions[who] = await stores[who].open(id)
    }
    const left = (await (await stores[0].reader(id)).events()).map(lineOf)
    deepStrictEqual(left, model.lines.slice(0, left.length))
    model.lines = left
    model.acked = new Set([...model.acked].filter((acked) => left.some((line) => line.id === acked)))
    for (const who of [0, 1] as const) model.writers[who] = { position: model.head, seen: left.length }
  }
  toString = () => `loseEnd(${this.bytes})`
}

class Reopen extends Command {
  constructor(
    readonly who: Who,
    readonly isClosed: boolean,
  ) {
    super()
  }
  async act(model: Model, { fs, stores, sessions, id }: Real): Promise<void> {
    if (this.isClosed) sessions[this.who].close()
    stores[this.who] = await memoryStore(fs)
    sessions[this.who] = await stores[this.who].open(id)
    model.writers[this.who] = { position: model.head, seen: model.lines.length }
    deepStrictEqual(sessions[this.who].position, model.head)
  }
  toString = () => `reopen(${this.who}, ${this.isClosed})`
}

class Refresh extends Command {
  constructor(readonly who: Who) {
    super()
  }
  async act(model: Model, { sessions }: Real): Promise<void> {
    await sessions[this.who].refresh()
    model.read(model.writers[this.who])
    deepStrictEqual(sessions[this.who].position, model.writers[this.who].position)
    deepStrictEqual(sessions[this.who].head, model.head)
  }
  toString = () => `refresh(${this.who})`
}

/** Both at once: whoever came first, the other saw it. */
class Race extends Command {
  async act(model: Model, real: Real): Promise<void> {
    const texts = [word(model), word(model)] as const
    const both = await Promise.all(
      real.sessions.map((session, who) => session.append(user(texts[who]) as never)),
    )
    const lines = await news(real, model)
    const first =
      lines.findIndex(({ text }) => text === texts[0]) < lines.findIndex(({ text }) => text === texts[1])
        ? 0
        : 1
    let rest = lines
    for (const who of first === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const own = rest.slice(0, rest.findIndex(({ text }) => text === texts[who]) + 1)
      rest = rest.slice(own.length)
      deepStrictEqual(both[who]?.map(lineOf), own)
      const writer = model.writers[who]
      model.read(writer)
      mustBe(own.filter(isOwn), model.foretell(writer, [foretoldOf('message', texts[who])]), writer.position)
      model.add(own, writer)
      for (const { id } of own) model.acked.add(id)
    }
    deepStrictEqual(rest, [])
  }
  toString = () => 'race'
}

/** Undo of a prompt on the writer's branch, and compaction: decided again where others came between. */
class Undo extends Command {
  constructor(
    readonly who: Who,
    readonly pick: number,
  ) {
    super()
  }
  async act(model: Model, real: Real): Promise<void> {
    const writer = model.writers[this.who]
    const prompts = model.path(writer.position).filter(({ type }) => type === 'message')
    const target = prompts[this.pick % Math.max(1, prompts.length)]
    if (target === undefined) return
    const undone = await real.sessions[this.who].undo(target.id)
    deepStrictEqual(undone.prompt, target.text)
    const lines = await news(real, model)
    model.read(writer)
    const head: Foretold = {
      type: 'head',
      note: false,
      text: null,
      from: writer.position,
      parent: target.parent,
    }
    mustBe(lines.filter(isOwn), [head], writer.position)
    model.add(lines, writer)
    for (const { id } of lines) model.acked.add(id)
  }
  toString = () => `undo(${this.who}, ${this.pick})`
}

class Compact extends Command {
  constructor(readonly who: Who) {
    super()
  }
  async act(model: Model, real: Real): Promise<void> {
    const summary = word(model)
    const writer = model.writers[this.who]
    const { through } = await real.sessions[this.who].compact({ summary })
    const lines = await news(real, model)
    model.read(writer)
    const foretold = model.foretell(writer, [{ type: 'compaction', note: false, text: summary, from: null }])
    mustBe(lines.filter(isOwn), foretold, writer.position)
    deepStrictEqual(through, writer.position)
    model.add(lines, writer)
    for (const { id } of lines) model.acked.add(id)
  }
  toString = () => `compact(${this.who})`
}

const who = fc.constantFrom<Who>(0, 0, 1)
const steps: fc.Arbitrary<fc.AsyncCommand<Model, Real>>[] = [
  fc
    .tuple(
      who,
      fc.array(fc.constantFrom<Kind>('message', 'message', 'checkpoint', 'status'), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([by, kinds]) => new Append(by, kinds)),
  fc
    .tuple(who, fc.constantFrom<Kind[]>(['checkpoint'], ['status'], ['message']))
    .map(([by, kinds]) => new Append(by, kinds)),
  fc
    .tuple(who, fc.nat(900), fc.boolean())
    .map(([by, bytes, isDropped]) => new CutShort(by, bytes, isDropped)),
  fc.nat(1200).map((bytes) => new LoseEnd(bytes)),
  fc.tuple(who, fc.boolean()).map(([by, isClosed]) => new Reopen(by, isClosed)),
  who.map((by) => new Refresh(by)),
  fc.constant(new Race()),
  fc.tuple(who, fc.nat(100)).map(([by, pick]) => new Undo(by, pick)),
  who.map((by) => new Compact(by)),
]
const commands = fc.commands(steps, { maxCommands: 25, size: 'max' })

describe('a session against a model, with crashes, reopening, and a second writer', () => {
  it('stored is what was acknowledged and no more than was attempted; messages, context and divergence are as foretold', async () => {
    await fc.assert(
      fc.asyncProperty(commands, (commandsRun) =>
        fc.asyncModelRun(async () => {
          const fs = new Memory()
          const stores: [Store, Store] = [await memoryStore(fs), await memoryStore(fs)]
          const first = await newSession(stores[0])
          const real: Real = { fs, id: first.id, stores, sessions: [first, await stores[1].open(first.id)] }
          return { model: new Model(first.id), real }
        }, commandsRun),
      ),
      runs(40),
    )
  })
})
