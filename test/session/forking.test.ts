import { describe, expect, it } from 'vitest'
import { type EventType, payloads } from '../../src/events/event.js'
import { sha256 } from '../../src/events/id.js'
import { encodeLine, encodeTombstone } from '../../src/events/line.js'
import type { Session, Store } from '../../src/session/api.js'
import { MemoryFs } from '../support/memory-fs.js'
import {
  assistant,
  call,
  contextOf,
  indexOf,
  logOf,
  memoryStore,
  newSession,
  refusal,
  result,
  say,
  textsOf,
  user,
} from './stores.js'

const begun = async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  return { fs, store, session: await newSession(store, { system: 'be brief', title: 'Named' }) }
}
const eventsOf = async (store: Store, id: string) => (await store.reader(id)).events()
type Written = Readonly<Record<string, unknown>> & { readonly id: string }

/** A session with an event of every type whose payload holds ids, each id that of an event on the path. */
const everyType = async (session: Session): Promise<Map<EventType, Written>> => {
  const made = new Map<EventType, Written>()
  const add = async (type: EventType, draft: object): Promise<Written> => {
    const event = (await say(session, { type, ...draft })) as Written
    made.set(type, event)
    return event
  }
  const one = await add('message', user('one', { meta: { pinned: true } }))
  await say(session, call('c1'))
  await add('tool', { toolCallId: 'c1', state: 'started' })
  await say(session, result('c1'))
  const point = await add('checkpoint', { reason: 'manual', commit: 'c', files: [] })
  await add('restore', { checkpoint: point.id, safety: point.id, files: [] })
  await add('edit', { target: one.id, replacement: 'edited' })
  await add('label', { target: one.id, label: 'here' })
  await add('request', { model: 'm', tools: ['x'] })
  await add('custom', { name: 'x', data: { id: one.id }, content: 'said' })
  await add('branch', { name: 'side' })
  await say(session, assistant('bye', { toolCalls: [] }))
  await session.compact({ summary: 's' })
  const prompt = await say(session, user('undone'))
  await session.undo(prompt.id)
  for (const type of ['status', 'process', 'usage'] as const)
    await add(
      type,
      {
        status: { status: 'processing' },
        process: { pid: 1, startedAt: 't', command: 'c', state: 'started' },
        usage: { for: 'title', usage: { input: 1, output: 1 } },
      }[type],
    )
  return made
}

/** For each type of format 1: its members that hold ids, as docs/FORMAT.md lists them, or why a fork has none of it. */
const members: Readonly<Record<EventType, readonly string[] | 'not copied' | 'minted anew'>> = {
  session: 'minted anew',
  message: [],
  compaction: ['through', 'keep.0.id', 'keep.1.id'],
  branch: [],
  head: ['to', 'row.event', 'row.textEvent', 'row.toolEvent'],
  edit: ['target'],
  checkpoint: [],
  restore: ['checkpoint', 'safety'],
  custom: [],
  title: [],
  status: 'not copied',
  tool: [],
  process: 'not copied',
  label: ['target'],
  request: [],
  usage: 'not copied',
  recovered: 'not copied',
  redaction: 'not copied',
  repaired: 'not copied',
}
const valueAt = (event: unknown, path: string): unknown =>
  path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], event)

describe('a fork', () => {
  it('knows every type of format 1', () => {
    expect(Object.keys(members).sort()).toEqual(Object.keys(payloads).sort())
  })

  it('maps every member that holds an id, and no other', async () => {
    const { store, session } = await begun()
    await everyType(session)
    const before = await eventsOf(store, session.id)
    const forked = await store.fork(session.id)
    const after = await eventsOf(store, forked.session)
    expect(forked.unknownTypes).toEqual([])
    const origin = (event: unknown): unknown => valueAt(event, 'origin.id')
    const ids = new Map(after.flatMap((event) => (event.parent === null ? [] : [[origin(event), event.id]])))
    ids.set(session.id, forked.session)
    for (const event of before) {
      const copy = after.find(({ id }) => id === ids.get(event.id))
      const how = members[event.type as EventType]
      if (how === 'not copied') expect(copy).toBeUndefined()
      if (typeof how === 'string' || copy === undefined) continue
      expect(copy).toMatchObject({ type: event.type, at: event.at, parent: ids.get(event.parent ?? '') })
      for (const path of how)
        expect([event.type, path, valueAt(copy, path)]).toEqual([
          event.type,
          path,
          ids.get(valueAt(event, path) as string),
        ])
      const unmapped = (one: object): string => JSON.stringify(one)
      const old = unmapped({ ...copy, origin: null })
      if (event.type !== 'custom') for (const { id } of before) expect(old).not.toContain(id)
    }
    const types = new Set(after.map(({ type }) => type))
    for (const [type, how] of Object.entries(members))
      expect([type, types.has(type)]).toEqual([type, how !== 'not copied'])
    expect((await store.verify()).problems).toEqual([])
    expect(await contextOf(store, forked.session)).toEqual(await contextOf(store, session.id))
    expect(await textsOf(store, forked.session)).toEqual(await textsOf(store, session.id))
  })

  it('copies a head event without a `from` that is not on the path', async () => {
    const { store, session } = await begun()
    await everyType(session)
    const { session: forked } = await store.fork(session.id)
    const head = (await eventsOf(store, forked)).find(({ type }) => type === 'head')
    expect(head).toMatchObject({ reason: 'undo' })
    expect(head).not.toHaveProperty('from')
    expect((await (await store.reader(forked)).row()).diverged).toEqual([])
    const open = await store.open(forked)
    expect((await refusal(open.redo())).tag).toBe('Refused')
    await open.append(user('on'))
    expect((await store.verify()).diverged).toEqual([])
  })

  it('has a root of its own that says where it came from', async () => {
    const { store, session } = await begun()
    const sub = await store.create({
      workspace: session.workspace,
      startedBy: { session: session.id, event: session.id },
    })
    const one = await say(sub, user('one'))
    await say(sub, user('two'))
    const { session: forked } = await store.fork(sub.id, one.id)
    const [root] = await eventsOf(store, forked)
    expect(root).toMatchObject({
      forkedFrom: { session: sub.id, event: one.id },
      workspace: session.workspace,
    })
    expect(root).not.toHaveProperty('startedBy')
    expect(await textsOf(store, forked)).toEqual(['one'])
    expect((await store.list()).map((row) => row.session)).toContain(forked)
    expect((await store.fork(sub.id, one.id)).session).not.toBe(forked)
  })

  it('keeps an origin that is there, and the title and labels of the path', async () => {
    const { store, session } = await begun()
    const origin = { format: 'claude', id: 'u1' }
    const one = await say(session, user('one', { origin }))
    await session.label(one.id, 'here')
    const { session: forked } = await store.fork(session.id)
    const events = await eventsOf(store, forked)
    expect(events.find(({ content }) => content === 'one')?.origin).toEqual(origin)
    expect(events.find(({ type }) => type === 'title')?.origin).toMatchObject({ format: 'coppice' })
    expect(await (await store.reader(forked)).resolve('here')).toBe(
      events.find(({ content }) => content === 'one')?.id,
    )
    expect(await (await store.reader(forked)).row()).toMatchObject({ title: 'Named', origin: null })
  })

  it('has every blob, also those that only blobs name', async () => {
    const { fs, store, session } = await begun()
    const many = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [`key ${i} ${'k'.repeat(30)}`, i]),
    )
    await session.append([
      user([{ type: 'image', media: 'image/png', data: 'aGVsbG8=' }]),
      { type: 'custom', name: 'x', data: { text: 'x'.repeat(70_000), many } },
    ])
    const { session: forked } = await store.fork(session.id)
    const count = (id: string) => fs.paths().filter((name) => name.includes(`${id}/blobs/`)).length
    expect(count(session.id)).toBe(3)
    expect(count(forked)).toBe(3)
    session.close()
    await store.archive(session.id, 'delete')
    expect((await store.verify()).problems).toEqual([])
  })

  it('copies unknown types as they are and says so; an unknown note is none of what is copied', async () => {
    const { store, session } = await begun()
    await session.append([
      { type: 'future.thing', ref: session.id },
      { type: 'future.note', note: true, x: 1 },
      user('one'),
    ])
    const { session: forked, unknownTypes } = await store.fork(session.id)
    expect(unknownTypes).toEqual(['future.thing'])
    const events = await eventsOf(store, forked)
    expect(events.find(({ type }) => type === 'future.thing')?.ref).toBe(session.id)
    expect(events.some(({ type }) => type === 'future.note')).toBe(false)
  })

  it('keeps tombstones, which prove themselves anew, and those of a repair', async () => {
    const { fs, store, session } = await begun()
    const one = await say(session, user('secret'))
    const two = await say(session, assistant('two'))
    await session.edit(one.id, 'other')
    await say(session, user('three'))
    session.close()
    const path = logOf(fs, session.id)
    const lines = fs.bytesOf(path).toString().trimEnd().split('\n')
    const tombstone = (
      event: Written & { parent: string; at: string; type: string },
      payload: object,
      kept: object,
    ): string => {
      const envelope = { parent: event.parent, at: event.at, type: event.type, note: false }
      const line = encodeLine(envelope, payload)
      expect(line.id).toBe(event.id)
      const text = line.bytes.toString()
      const body = text.slice(text.indexOf('"type"'))
      expect(body).toContain('"role"')
      return encodeTombstone(line.id, envelope, bodyHash(line.bytes), kept).bytes.toString()
    }
    const at = lines.findIndex((line) => line.includes('"secret"'))
    lines[at] = tombstone(one as never, { role: 'user', content: 'secret' }, { role: 'user' })
    fs.replace(path, Buffer.from(`${lines.join('\n')}\n`))
    fs.remove(indexOf(fs))
    expect(await store.verify()).toMatchObject({ problems: [], redacted: 1 })
    const { session: forked } = await store.fork(session.id)
    const copy = (await eventsOf(store, forked)).find(({ redacted }) => redacted === true)
    expect(copy).toMatchObject({ type: 'message', kept: { role: 'user' } })
    expect(await store.verify()).toMatchObject({ problems: [], redacted: 2 })
    const bytes = fs.bytesOf(logOf(fs, forked))
    bytes[bytes.indexOf('"two"') + 1] = 0x54
    fs.replace(logOf(fs, forked), bytes)
    await store.repair(forked)
    const { session: again } = await store.fork(forked)
    expect((await eventsOf(store, again)).filter(({ type }) => type === 'lost')).toHaveLength(1)
    expect((await store.verify()).problems).toEqual([])
    expect(two.id).not.toBe(copy?.id)
  })

  it('of an event that is not there, or of a note, is refused, and makes nothing', async () => {
    const { fs, store, session } = await begun()
    const note = await say(session, { type: 'status', status: 'processing' })
    const before = fs.paths().filter((name) => name.endsWith('data.jsonl'))
    for (const at of ['f'.repeat(32), note.id])
      expect((await refusal(store.fork(session.id, at))).tag).toBe('NotFound')
    expect(fs.paths().filter((name) => name.endsWith('data.jsonl'))).toEqual(before)
  })
})

/** The hash of a line's payload, taken over its bytes. */
const bodyHash = (bytes: Buffer): string => {
  const text = bytes.toString()
  return sha256(text.slice(text.indexOf(',', text.indexOf('"type"')) + 1, -1))
}
