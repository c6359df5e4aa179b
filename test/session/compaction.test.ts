import { describe, expect, it } from 'vitest'
import type { EventId } from '../../src/events/event.js'
import { MemoryFs } from '../support/memory-fs.js'
import {
  assistant,
  call,
  contextOf,
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
  const session = await newSession(store, { system: 'be brief' })
  const compactionOf = async (id: EventId) =>
    (await (await store.reader(session.id)).events()).find((event) => event.id === id) as unknown as {
      parent: EventId
      through: EventId
      keep: readonly { id: EventId; message: { content: unknown } }[]
    }
  return { fs, store, session, compactionOf }
}

describe('what a compaction may cover', () => {
  it('is everything up to the head by default, which is what the next one cannot go above', async () => {
    const { session } = await begun()
    const one = await say(session, user('one'))
    const two = await say(session, assistant('two'))
    expect((await session.compact({ summary: 's' })).through).toBe(two.id)
    const error = await refusal(session.compact({ summary: 's', through: one.id }))
    expect(error).toMatchObject({ tag: 'Refused' })
    expect((await refusal(session.append({ type: 'compaction', summary: 's', through: one.id }))).tag).toBe(
      'Refused',
    )
    const three = await say(session, user('three'))
    await session.compact({ summary: 's', through: two.id })
    await session.compact({ summary: 's', through: three.id })
  })

  it('stops before the first call that still waits for its result', async () => {
    const { session } = await begun()
    const one = await say(session, user('one'))
    const asked = await say(session, call('c1'))
    await say(session, user('meanwhile'))
    expect((await refusal(session.compact({ summary: 's', through: asked.id }))).message).toContain(
      'without its result',
    )
    expect((await refusal(session.compact({ summary: 's', through: session.position }))).tag).toBe('Refused')
    expect((await session.compact({ summary: 's' })).through).toBe(one.id)
    expect((await refusal(session.compact({ summary: 's', through: session.position }))).tag).toBe('Refused')
    const answer = await say(session, result('c1'))
    expect((await session.compact({ summary: 's' })).through).toBe(answer.id)
  })

  it('lies on the path, and ends on no later event than its result', async () => {
    const { session } = await begun()
    const root = session.position
    const one = await say(session, user('one'))
    const asked = await say(session, call('c1'))
    const answer = await say(session, result('c1'))
    expect((await refusal(session.compact({ summary: 's', through: asked.id }))).tag).toBe('Refused')
    await session.branch('other', root)
    for (const through of [one.id, answer.id, 'f'.repeat(32)])
      expect((await refusal(session.compact({ summary: 's', through }))).tag).toBe('Refused')
    expect((await refusal(session.compact({ summary: 's', through: 'no id' }))).tag).toBe('InvalidDraft')
  })
})

describe('what a compaction keeps', () => {
  it('is every system message and what is pinned, at or above what it covers, as the edits left them', async () => {
    const { session, compactionOf } = await begun()
    const system = session.position
    const pinned = await say(session, user('pinned', { meta: { pinned: true } }))
    await say(session, user('plain'))
    await session.edit(pinned.id, 'pinned and edited')
    const last = await say(session, assistant('last'))
    await say(session, { type: 'message', role: 'system', content: 'after' })
    const { id } = await session.compact({ summary: 's', through: last.id })
    expect((await compactionOf(id)).keep.map((kept) => [kept.id, kept.message.content])).toEqual([
      [system, 'be brief'],
      [pinned.id, 'pinned and edited'],
    ])
  })

  it('is carried on by the next one, edited again where it was, and each once', async () => {
    const { store, session, compactionOf } = await begun()
    const system = session.position
    await say(session, user('one'))
    await session.compact({ summary: 's1' })
    await session.edit(system, 'be very brief')
    await say(session, { type: 'message', role: 'system', content: 'second system' })
    await say(session, user('two'))
    const { id } = await session.compact({ summary: 's2' })
    expect((await compactionOf(id)).keep.map(({ message }) => message.content)).toEqual([
      'be very brief',
      'second system',
    ])
    await say(session, user('three'))
    expect(await contextOf(store, session.id)).toEqual(['be very brief', 'second system', 's2', 'three'])
  })

  it('is looked for up to the root where the one before does not say what it keeps', async () => {
    const { session, compactionOf } = await begun()
    const one = await say(session, user('one'))
    await session.append({ type: 'compaction', summary: 's', through: one.id })
    await say(session, user('two'))
    const { id } = await session.compact({ summary: 's2' })
    expect((await compactionOf(id)).keep.map(({ message }) => message.content)).toEqual(['be brief'])
  })

  it('is what stands in the log when it is written, not when it was asked for', async () => {
    const { session, compactionOf } = await begun()
    const [, { id }] = await Promise.all([
      session.append({ type: 'message', role: 'system', content: 'just in time' }),
      session.compact({ summary: 's' }),
    ])
    expect((await compactionOf(id)).keep.map(({ message }) => message.content)).toEqual([
      'be brief',
      'just in time',
    ])
  })

  it('holds large texts, media and keys with $ as the log does', async () => {
    const { store, session } = await begun()
    const long = 'é'.repeat(50_000)
    const parts = [{ type: 'image', media: 'image/png', data: 'aGVsbG8=', $odd: 1 }]
    await session.append([
      { type: 'message', role: 'system', content: long },
      user(parts, { meta: { pinned: true } }),
    ])
    const reader = await store.reader(session.id)
    const before = await reader.context({ format: 'openai' })
    await session.compact({ summary: 's' })
    const after = await reader.context({ format: 'openai' })
    expect(after.slice(0, 3)).toEqual(before)
    expect((await store.verify()).problems).toEqual([])
  })
})

describe('the context after a compaction', () => {
  it('is what is kept, the summary, and what came after what it covers', async () => {
    const { store, session } = await begun()
    await say(session, user('one'))
    const two = await say(session, assistant('two'))
    await say(session, user('three'))
    await session.compact({ summary: 'so far', through: two.id })
    await say(session, user('four'))
    expect(await contextOf(store, session.id)).toEqual(['be brief', 'so far', 'three', 'four'])
    expect(await contextOf(store, session.id, two.id)).toEqual(['be brief', 'one', 'two'])
    expect(await textsOf(store, session.id)).toEqual(['be brief', 'one', 'two', 'three', 'four'])
  })

  it('an undo past it brings all back', async () => {
    const { store, session } = await begun()
    await say(session, user('one'))
    const two = await say(session, user('two'))
    await session.compact({ summary: 'so far' })
    await say(session, user('three'))
    expect(await session.undo(two.id)).toMatchObject({ prompt: 'two' })
    expect(await contextOf(store, session.id)).toEqual(['be brief', 'one'])
    await session.redo()
    expect(await contextOf(store, session.id)).toEqual(['be brief', 'so far', 'three'])
  })

  it('is read no further back than what it covers, and opening reads nothing of the log (INV-11)', async () => {
    const { fs, store, session } = await begun()
    for (let i = 0; i < 60; i++) {
      const many = Array.from({ length: 100 }, (_, n) => user(`${i} ${n} ${'x'.repeat(900)}`))
      await session.append(many, { durability: 'none' })
    }
    const end = session.position
    await session.compact({ summary: 'so far', through: end })
    await session.append(Array.from({ length: 20 }, (_, n) => user(`after ${n}`)))
    session.close()
    const path = logOf(fs, session.id)
    const size = fs.bytesOf(path).length
    const covered = fs.bytesOf(path).indexOf(`{"id":"${end}"`)
    const reads: { at: number; length: number }[] = []
    const open = fs.open.bind(fs)
    fs.open = (name, mode) => {
      const file = open(name, mode)
      if (name !== path) return file
      const read = file.read.bind(file)
      file.read = (buffer, offset, length, position) => {
        reads.push({ at: position, length })
        return read(buffer, offset, length, position)
      }
      return file
    }
    const other = await memoryStore(fs)
    const again = await other.open(session.id)
    expect(reads).toEqual([])
    await (await other.reader(session.id)).context()
    // The root's line says the format; the last 4 MiB are looked through for NULs, which no line holds; the rest is read.
    const parsed = reads.filter(({ at, length }) => at > 0 && length === 64 * 1024)
    expect(Math.min(...parsed.map(({ at }) => at))).toBeGreaterThan(covered - 64 * 1024 - 1)
    expect(Math.min(...reads.filter(({ at }) => at > 0).map(({ at }) => at))).toBeGreaterThanOrEqual(
      size - 4 * 1024 * 1024,
    )
    reads.length = 0
    await again.append(user('more'))
    await again.compact({ summary: 'once more' })
    expect(Math.min(...reads.filter(({ at }) => at > 0).map(({ at }) => at))).toBeGreaterThanOrEqual(
      size - 4 * 1024 * 1024,
    )
    expect(await contextOf(store, session.id)).toEqual(['be brief', 'once more'])
  })
})
