import { describe, expect, it } from 'vitest'
import type { Session, Store } from '../../src/session/api.js'
import { failing, MemoryFs } from '../support/memory-fs.js'
import { assistant, logOf, memoryStore, newSession, refusal, say, textsOf, user } from './stores.js'

const begun = async (): Promise<{ fs: MemoryFs; store: Store; session: Session }> => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  await session.append(user('first'))
  return { fs, store, session }
}
const at = (ms: number): string => new Date(Date.UTC(2026, 11, 1, 10) + ms).toISOString()
const countOf = async (store: Store, session: string): Promise<number> =>
  (await (await store.reader(session)).events()).length

describe('submitting stamped drafts again', () => {
  it('after a failure of which nobody knows what it left: only what is missing is appended, and all is acknowledged', async () => {
    const { fs, store, session } = await begun()
    const drafts = [
      { ...user('one'), at: at(1), parent: session.position },
      { ...assistant('two'), at: at(2) },
      { ...user('three'), at: at(3) },
    ]
    fs.fault = (operation, path, bytes) =>
      operation === 'write' && path.endsWith('data.jsonl') ? bytes - 200 : undefined
    expect((await refusal(session.append(drafts))).tag).toBe('WriteFailed')
    fs.fault = () => undefined
    const left = await textsOf(store, session.id)
    expect(left.length).toBeLessThan(4)
    const syncs = fs.count('sync')
    const written = await session.append(drafts)
    expect(written.filter(({ type }) => type === 'message').map(({ content }) => content)).toEqual([
      'one',
      'two',
      'three',
    ])
    expect(fs.count('sync')).toBeGreaterThan(syncs)
    expect(await textsOf(store, session.id)).toEqual(['first', 'one', 'two', 'three'])
    const count = await countOf(store, session.id)
    expect((await session.append(drafts)).map(({ id }) => id)).toEqual(
      written.filter(({ type }) => type === 'message').map(({ id }) => id),
    )
    expect(await countOf(store, session.id)).toBe(count)
  })

  it('syncs what it finds before it acknowledges it, and rejects where it cannot', async () => {
    const { fs, session } = await begun()
    const draft = { ...user('one'), at: at(1), parent: session.position }
    await session.append(draft, { durability: 'none' })
    fs.fault = failing('sync', 'EIO')
    expect((await refusal(session.append(draft))).tag).toBe('SyncFailed')
  })

  it('the same draft with the same time on the same parent is the same event, for another process too', async () => {
    const { fs, store, session } = await begun()
    const draft = { ...user('one'), at: at(1), parent: session.position }
    const first = await say(session, draft)
    const other = await (await memoryStore(fs)).open(session.id)
    expect((await say(other, draft)).id).toBe(first.id)
    expect(await textsOf(store, session.id)).toEqual(['first', 'one'])
  })

  it('finds an event that had to be hung on a head event, too', async () => {
    const { store, session } = await begun()
    const parent = session.position
    await session.append(user('elsewhere'))
    const draft = { ...user('branched'), at: at(5), parent }
    const written = await session.append(draft)
    expect(written.map(({ type }) => type)).toEqual(['head', 'message'])
    const again = await session.append(draft)
    expect(again.map(({ id }) => id)).toEqual([written[1]?.id])
    expect(await countOf(store, session.id)).toBe(5)
  })

  it('leaves the position alone where the conversation went on since', async () => {
    const { store, session } = await begun()
    const draft = { ...user('one'), at: at(1), parent: session.position }
    await session.append(draft)
    const on = await say(session, assistant('two'))
    await session.append(draft)
    expect(session.position).toBe(on.id)
    await session.append(user('three'))
    expect(await textsOf(store, session.id)).toEqual(['first', 'one', 'two', 'three'])
  })

  it('goes on from what it found', async () => {
    const { store, session } = await begun()
    const draft = { ...user('one'), at: at(1), parent: session.position }
    const one = await say(session, draft)
    const [, two] = await session.append([draft, user('two')])
    expect(two?.parent).toBe(one.id)
    expect(await textsOf(store, session.id)).toEqual(['first', 'one', 'two'])
  })

  it('a first submission that meets its own id is another writer’s, and is stamped again', async () => {
    const fs = new MemoryFs()
    const still = { now: () => Date.UTC(2026, 11, 1, 11) }
    const store = await memoryStore(fs, still)
    const a = await newSession(store)
    const b = await (await memoryStore(fs, still)).open(a.id)
    const [first, second] = await Promise.all([a.append(user('same')), b.append(user('same'))])
    expect(first[0]?.id).not.toBe(second.at(-1)?.id)
    expect((await (await store.reader(a.id)).row()).diverged).toHaveLength(1)
  })

  it('reads nothing for drafts of an earlier time that go on from the head', async () => {
    const { fs, store, session } = await begun()
    const before = fs.count('read')
    await session.append([1, 2, 3].map((ms) => ({ ...user(`${ms}`), at: `2020-01-01T00:00:00.00${ms}Z` })))
    await session.append({ ...user('4'), at: '2020-01-01T00:00:00.000Z' })
    expect(fs.count('read')).toBe(before)
    expect(await textsOf(store, session.id)).toEqual(['first', '1', '2', '3', '4'])
  })

  it('finds a note again, too', async () => {
    const { store, session } = await begun()
    const note = { type: 'status', status: 'processing', at: at(1), parent: session.position }
    const first = await say(session, note)
    expect((await say(session, note)).id).toBe(first.id)
    expect(await countOf(store, session.id)).toBe(3)
  })

  it('reads no further back than the parent', async () => {
    const { fs, session } = await begun()
    for (let i = 0; i < 300; i++) await session.append(user('x'.repeat(1000)), { durability: 'none' })
    const draft = { ...user('one'), at: at(1), parent: session.position }
    await session.append(draft)
    let first = Number.POSITIVE_INFINITY
    const open = fs.open.bind(fs)
    fs.open = (path, mode) => {
      const file = open(path, mode)
      const read = file.read.bind(file)
      file.read = (buffer, offset, length, position) => {
        if (length === 64 * 1024 && position > 0) first = Math.min(first, position)
        return read(buffer, offset, length, position)
      }
      return file
    }
    await session.append(draft)
    expect(first).toBeGreaterThan(fs.bytesOf(logOf(fs, session.id)).length - 2 * 64 * 1024)
  })
})

describe('a parent that the caller names', () => {
  it('must be there', async () => {
    const { session } = await begun()
    expect(await refusal(session.append({ ...user('x'), parent: 'f'.repeat(32) }))).toMatchObject({
      tag: 'NotFound',
      kind: 'event',
    })
    expect(
      await refusal(session.append({ type: 'status', status: 'failed', parent: 'f'.repeat(32) })),
    ).toMatchObject({ tag: 'NotFound' })
    expect((await refusal(session.checkout('f'.repeat(32)))).tag).toBe('NotFound')
    expect((await refusal(session.branch('x', 'f'.repeat(32)))).tag).toBe('NotFound')
    expect((await refusal(session.label('f'.repeat(32), 'x'))).tag).toBe('NotFound')
  })

  it('is no note (INV-6)', async () => {
    const { session } = await begun()
    const note = await say(session, { type: 'status', status: 'processing' })
    for (const draft of [user('x'), { type: 'status', status: 'failed' }])
      expect((await refusal(session.append({ ...draft, parent: note.id } as never))).tag).toBe('Refused')
    expect((await refusal(session.checkout(note.id))).tag).toBe('Refused')
    expect((await refusal(session.branch('x', note.id))).tag).toBe('Refused')
    expect((await refusal(session.label(note.id, 'x'))).tag).toBe('Refused')
  })

  it('may be an event of the same append', async () => {
    const { session } = await begun()
    const one = await say(session, { ...user('one'), at: at(1) })
    const [two, , note] = await session.append([
      { ...user('two'), at: at(2), parent: one.id },
      user('three'),
      { type: 'status', status: 'processing', parent: one.id },
    ])
    expect([two?.parent, note?.parent]).toEqual([one.id, one.id])
    const [four, five, six] = await session.append([user('four'), user('five'), user('six')])
    const on = await session.append([
      { ...user('seven'), at: at(100_000) },
      { ...user('eight'), parent: four?.id ?? '' },
    ])
    expect(on.map(({ type }) => type)).toEqual(['message', 'head', 'message'])
    expect([five?.parent, six?.parent]).toEqual([four?.id, five?.id])
  })

  it('other than the head: a head event first, and no divergence, since that was on purpose', async () => {
    const { store, session } = await begun()
    const first = session.position
    const second = await say(session, assistant('second'))
    const written = await session.append({ ...user('other'), parent: first })
    expect(written.map(({ type }) => type)).toEqual(['head', 'message'])
    expect(written[0]).toMatchObject({ to: first, from: second.id, reason: 'branch' })
    expect((await (await store.reader(session.id)).row()).diverged).toEqual([])
  })

  it('decides what a compaction there may cover, not the branch of the head', async () => {
    const { session } = await begun()
    const first = session.position
    const second = await say(session, assistant('second'))
    await session.branch('other', first)
    const there = { type: 'compaction', summary: 's', parent: second.id }
    expect((await session.append({ ...there, through: second.id })).map(({ type }) => type)).toEqual([
      'head',
      'compaction',
    ])
    expect(
      (await refusal(session.append({ type: 'compaction', summary: 's', parent: first, through: second.id })))
        .tag,
    ).toBe('Refused')
  })

  it('refuses a time after which no later event could have one', async () => {
    const { store, session } = await begun()
    const late = { ...user('the end of time'), at: '9999-12-31T23:59:59.999Z' }
    expect((await refusal(session.append(late))).tag).toBe('InvalidDraft')
    await session.append({ ...user('nearly'), at: '9998-12-31T23:59:59.999Z' })
    await session.append(user('after'))
    expect((await store.verify()).problems).toEqual([])
  })

  it('takes a raw label for a note on what it names, which must be there', async () => {
    const { session } = await begun()
    const [said] = await session.append(user('named'))
    const [label] = await session.append({ type: 'label', target: said!.id, label: 'here' })
    expect(label!.parent).toBe(said!.id)
    const nowhere = { type: 'label', target: '0'.repeat(32), label: 'there' }
    expect((await refusal(session.append(nowhere))).tag).toBe('NotFound')
  })

  it('refuses a blob reference in the place of a value: it would be stored as an object that nobody reads', async () => {
    const { session } = await begun()
    const reference = { $blob: 'a'.repeat(64), bytes: 3, as: 'text' }
    expect((await refusal(session.append(user(reference)))).tag).toBe('InvalidDraft')
  })

  it('stores the tools and instructions of a request once, as blobs', async () => {
    const { store, session } = await begun()
    const request = { type: 'request', model: 'm', tools: [{ name: 'ls' }], instructions: 'be good' }
    const [first] = await session.append(request)
    const [again] = await session.append(request)
    expect(first!.tools).toEqual(again!.tools)
    expect(first!.tools).toMatchObject({ as: 'json' })
    const reader = await store.reader(session.id)
    expect(await reader.resolved(first)).toMatchObject({ tools: [{ name: 'ls' }], instructions: 'be good' })
    expect((await store.verify()).problems).toEqual([])
  })
})
