import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Session, Store } from '../../src/session/api.js'
import { failing, MemoryFs } from '../support/memory-fs.js'
import {
  assistant,
  call,
  logOf,
  memoryStore,
  newSession,
  refusal,
  result,
  say,
  textsOf,
  user,
} from './stores.js'

interface Pair {
  readonly fs: MemoryFs
  readonly stores: readonly [Store, Store]
  readonly a: Session
  readonly b: Session
}

/** Two processes that hold one session open. */
const pair = async (): Promise<Pair> => {
  const fs = new MemoryFs()
  const stores = [await memoryStore(fs), await memoryStore(fs)] as const
  const a = await newSession(stores[0])
  await a.append(user('first'))
  return { fs, stores, a, b: await stores[1].open(a.id) }
}

const eventsOf = async ({ stores, a }: Pair): Promise<readonly Event[]> =>
  (await stores[0].reader(a.id)).events()
const typesOf = (events: readonly Event[]): readonly string[] => events.map(({ type }) => type)
const divergedOf = async ({ stores, a }: Pair): Promise<readonly string[]> =>
  (await (await stores[0].reader(a.id)).row()).diverged.map(({ leaf }) => leaf)

const harmless = [
  { type: 'checkpoint', reason: 'manual', commit: 'c' },
  { type: 'restore', checkpoint: '0'.repeat(32), safety: null, files: [] },
  { type: 'custom', name: 'x', data: 1 },
  { type: 'future.thing', content: 'x' },
  { type: 'status', status: 'processing' },
  { type: 'title', title: 'x', by: 'user' },
] as const
const telling = [
  user('x'),
  { type: 'custom', name: 'x', data: 1, content: 'x' },
  { type: 'branch', name: 'other' },
  { type: 'compaction', summary: 's' },
  { type: 'edit', replacement: 'x' },
] as const

describe('a writer that finds others came first', () => {
  it.each(harmless)('decides again on top of a $type that changes no context: one branch', async (draft) => {
    const two = await pair()
    await two.a.append([draft, draft] as never)
    const mine = await say(two.b, assistant('mine'))
    const events = await eventsOf(two)
    expect(mine.parent).toBe(events.filter(({ note }) => note !== true).at(-2)?.id)
    expect(typesOf(events)).not.toContain('head')
    expect(await divergedOf(two)).toEqual([])
  })

  it.each(telling)(
    'keeps its parent under a $type of another: a head event, and a divergence that is seen',
    async (draft) => {
      const two = await pair()
      const about =
        draft.type === 'compaction'
          ? { through: two.b.position }
          : draft.type === 'edit'
            ? { target: two.b.position }
            : {}
      const theirs = await say(two.a, { ...draft, ...about })
      const stood = two.b.position
      const written = await two.b.append(user('mine'))
      expect(written.map(({ type }) => type)).toEqual(['head', 'message'])
      expect(written[0]).toMatchObject({ reason: 'branch', parent: stood, to: stood, from: stood })
      expect(await divergedOf(two)).toEqual([theirs.id])
      expect(two.b.diverged.map(({ leaf }) => leaf)).toEqual([theirs.id])
      expect((await two.stores[1].list())[0]?.diverged.map(({ leaf }) => leaf)).toEqual([theirs.id])
      const { diverged, problems } = await two.stores[1].verify()
      expect({ diverged, problems }).toEqual({
        diverged: [{ session: two.a.id, ends: [two.b.head, theirs.id] }],
        problems: [],
      })
      const again = await two.stores[1].open(two.a.id)
      expect(again.diverged.map(({ leaf }) => leaf)).toEqual([theirs.id])
    },
  )

  it('keeps its parent where another moved the head', async () => {
    const two = await pair()
    await two.a.undo(two.a.position)
    expect((await two.b.append(user('mine'))).map(({ type }) => type)).toEqual(['head', 'message'])
    expect(await textsOf(two.stores[0], two.a.id)).toEqual(['first', 'mine'])
  })

  it('shows even a lone checkpoint of a stale writer as divergence', async () => {
    const two = await pair()
    await say(two.a, user('theirs'))
    const late = await say(two.b, { type: 'checkpoint', reason: 'manual', commit: 'c' })
    await two.a.refresh()
    await say(two.a, user('on'))
    expect(await divergedOf(two)).toEqual([late.id])
  })

  it('appends where it stands, without a head event, as long as that is an open end', async () => {
    const two = await pair()
    await say(two.a, user('theirs'))
    const mine = await say(two.b, user('mine'))
    await say(two.a, user('theirs again'))
    const next = await say(two.b, user('mine again'))
    expect(next.parent).toBe(mine.id)
  })

  it('follows the other in refresh only past what changes no context', async () => {
    const two = await pair()
    const harm = await say(two.a, { type: 'checkpoint', reason: 'manual', commit: 'c' })
    await two.b.refresh()
    expect(two.b.position).toBe(harm.id)
    await say(two.a, user('theirs'))
    await two.b.refresh()
    expect([two.b.position, two.b.head]).toEqual([harm.id, two.a.position])
  })

  it('a refresh while appends are under way waits its turn and breaks nothing', async () => {
    const two = await pair()
    await Promise.all([
      two.b.refresh(),
      two.b.append(user('1')),
      two.b.refresh(),
      two.b.append(user('2')),
      two.b.refresh(),
    ])
    expect(await textsOf(two.stores[0], two.a.id)).toEqual(['first', '1', '2'])
    expect(two.b.head).toBe(two.b.position)
  })
})

describe('a rejected append', () => {
  it('whose beginning is in the log all the same: the session stands on its own last event there', async () => {
    const two = await pair()
    const { fs, a } = two
    let size = 0
    fs.fault = (operation, path, bytes) => {
      if (operation !== 'write' || !path.endsWith('data.jsonl') || size > 0) return undefined
      size = bytes
      return bytes - 10
    }
    expect((await refusal(a.append([user('one'), user('two')]))).tag).toBe('WriteFailed')
    fs.fault = () => undefined
    const visible = (await eventsOf(two)).at(-1)
    expect(visible).toMatchObject({ content: 'one' })
    expect(a.position).toBe(visible?.id)
    const written = await a.append(user('three'))
    expect(written.map(({ type }) => type)).toEqual(['recovered', 'message'])
    expect(written[1]?.parent).toBe(visible?.id)
    expect(await textsOf(two.stores[0], a.id)).toEqual(['first', 'one', 'three'])
  })

  it('rejects those queued behind it, and leaves the session fit for the next', async () => {
    const two = await pair()
    two.fs.fault = failing('sync', 'EIO', 1)
    const all = await Promise.allSettled([
      two.a.append(user('1')),
      two.a.append(user('2')),
      two.a.append(user('3')),
    ])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    two.fs.fault = () => undefined
    const four = await say(two.a, user('4'))
    const texts = await textsOf(two.stores[0], two.a.id)
    expect(texts).toEqual(['first', '1', '4'])
    expect(four.parent).toBe((await eventsOf(two)).find(({ content }) => content === '1')?.id)
    expect(await divergedOf(two)).toEqual([])
  })

  it('rejects those behind it also where its blob could not be stored', async () => {
    const two = await pair()
    two.fs.fault = (operation, path) => {
      if (operation === 'write' && path.includes('/blobs/'))
        throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      return undefined
    }
    const all = await Promise.allSettled([two.a.append(user('x'.repeat(70_000))), two.a.append(user('2'))])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    two.fs.fault = () => undefined
    await say(two.a, user('3'))
    expect(await textsOf(two.stores[0], two.a.id)).toEqual(['first', '3'])
  })

  it('reads the log before anything else, also where that failed at first', async () => {
    const two = await pair()
    const { fs, a } = two
    fs.fault = (operation, path) => {
      if (path.endsWith('data.jsonl') && (operation === 'sync' || operation === 'open'))
        throw Object.assign(new Error('io'), { code: 'EIO' })
      return undefined
    }
    expect((await refusal(a.append([user('one'), user('two')]))).tag).toBe('SyncFailed')
    fs.fault = () => undefined
    await say(a, user('three'))
    expect(await textsOf(two.stores[0], a.id)).toEqual(['first', 'one', 'two', 'three'])
    expect(await divergedOf(two)).toEqual([])
  })

  it('that only this command deserved lets the others through, in order', async () => {
    const two = await pair()
    const all = await Promise.allSettled([
      two.a.append(user('1')),
      two.a.append({ ...user('no'), parent: 'f'.repeat(32) }),
      two.a.append({ type: 'compaction', summary: 's', through: 'e'.repeat(32) }),
      two.a.append(user('2')),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await textsOf(two.stores[0], two.a.id)).toEqual(['first', '1', '2'])
  })
})

describe('a log that lost the last known event', () => {
  it('is told as LogLostTail, and nothing is appended, not even by a second try', async () => {
    const two = await pair()
    const path = logOf(two.fs, two.a.id)
    const before = two.fs.bytesOf(path)
    await say(two.a, user('gone'))
    two.fs.replace(path, before)
    for (let i = 0; i < 2; i++) {
      expect((await refusal(two.a.append(user('more')))).tag).toBe('LogLostTail')
      expect(two.fs.bytesOf(path).equals(before)).toBe(true)
    }
    expect((await refusal(two.a.refresh())).tag).toBe('LogLostTail')
  })

  it('is told also where another appended since', async () => {
    const two = await pair()
    const path = logOf(two.fs, two.a.id)
    const before = two.fs.bytesOf(path)
    await say(two.a, user('gone'))
    two.fs.replace(path, before)
    await say(two.b, user(`theirs ${'x'.repeat(500)}`))
    expect((await refusal(two.a.append(user('more')))).tag).toBe('LogLostTail')
  })
})

describe('group commit', () => {
  it('64 appends at once share a few syncs, keep their order, and each resolves with its own event', async () => {
    const two = await pair()
    const before = two.fs.count('sync')
    const all = await Promise.all(Array.from({ length: 64 }, (_, i) => two.a.append(user(`${i}`))))
    expect(two.fs.count('sync') - before).toBeLessThanOrEqual(3)
    expect(all.map(([event]) => event?.content)).toEqual(Array.from({ length: 64 }, (_, i) => `${i}`))
    const events = (await eventsOf(two)).slice(2)
    expect(events.map(({ id }) => id)).toEqual(all.map(([event]) => event?.id))
    expect(events.every(({ parent }, i) => i === 0 || parent === events[i - 1]?.id)).toBe(true)
  })

  it('a tool note in the same append as its call hangs on it', async () => {
    const two = await pair()
    const [asked, note] = await two.a.append([
      call('c1'),
      { type: 'tool', toolCallId: 'c1', state: 'started' },
      result('c1'),
    ])
    expect(note).toMatchObject({ type: 'tool', parent: asked?.id, note: true })
  })

  it('a tool note queued behind its call hangs on it', async () => {
    const two = await pair()
    const all = await Promise.all([
      two.a.append(call('c1')),
      two.a.append({ type: 'tool', toolCallId: 'c1', state: 'started' }),
      two.a.compact({ summary: 's' }),
      two.a.append(result('c1')),
      two.a.compact({ summary: 't' }),
    ])
    expect(all[1][0]?.parent).toBe(all[0][0]?.id)
    expect(all[2].through).toBe(all[0][0]?.parent)
    expect(all[4].through).toBe((await eventsOf(two)).find(({ role }) => role === 'tool')?.id)
  })

  it('appending in an open session reads nothing (INV-11)', async () => {
    const two = await pair()
    await two.a.append([call('c1'), { type: 'tool', toolCallId: 'c1', state: 'started' }])
    const before = two.fs.count('read')
    await two.a.append(result('c1'))
    await two.a.append([call('c2'), { type: 'tool', toolCallId: 'c2', state: 'started' }, result('c2')])
    await two.a.title('a title')
    await two.a.append({ type: 'status', status: 'completed' })
    expect(two.fs.count('read')).toBe(before)
  })
})

describe('a closed session', () => {
  it('does what was asked before, refuses what comes after, and may be closed again', async () => {
    const two = await pair()
    const last = two.a.append(user('last'))
    two.a.close()
    two.a.close()
    await last
    expect((await refusal(two.a.append(user('late')))).tag).toBe('Refused')
    expect((await refusal(two.a.refresh())).tag).toBe('Refused')
    expect(await textsOf(two.stores[1], two.a.id)).toEqual(['first', 'last'])
    expect((await two.stores[1].open(two.a.id)).others).toHaveLength(1)
  })
})
