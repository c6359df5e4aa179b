import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/events/id.js'
import { encodeLine, type Line } from '../../src/events/line.js'
import type { Store } from '../../src/session/api.js'
import { MemoryFs } from '../support/memory-fs.js'
import { assistant, indexOf, logOf, memoryStore, newSession, refusal, say, textsOf, user } from './stores.js'

const begun = async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  const events = await session.append([
    user('one'),
    assistant('two'),
    { type: 'status', status: 'processing' },
    user('three'),
    assistant('four'),
  ])
  session.close()
  return { fs, store, id: session.id, events, path: logOf(fs, session.id) }
}

/** Changes one byte of the line that holds a text. */
const hurt = (fs: MemoryFs, path: string, text: string, shift = 1): Buffer => {
  const bytes = fs.bytesOf(path)
  const at = bytes.indexOf(text) + shift
  bytes[at] = (bytes[at] as number) ^ 4
  fs.replace(path, bytes)
  return bytes
}
const eventsOf = async (store: Store, id: string) => (await store.reader(id)).events()
const clean = async (store: Store): Promise<void> => expect((await store.verify()).problems).toEqual([])

describe('repair', () => {
  it('keeps what is provable, puts a tombstone for a lost parent, and keeps the damaged file', async () => {
    const { fs, store, id, events, path } = await begun()
    const damaged = hurt(fs, path, '"two"')
    const [one, two, , three] = events
    expect(await store.repair(id)).toEqual({
      kept: 5,
      lost: [{ id: two?.id, parent: one?.id, guessed: false }],
      lostTail: null,
    })
    await clean(store)
    const after = await eventsOf(store, id)
    expect(after.map(({ type }) => type)).toEqual([
      'session',
      'message',
      'lost',
      'status',
      'message',
      'message',
      'repaired',
    ])
    expect(after.at(-1)).toMatchObject({ ids: [two?.id], note: true })
    expect(after.find((event) => event.id === three?.id)).toEqual(three)
    expect(await textsOf(store, id)).toEqual(['one', 'three', 'four'])
    const kept = fs.paths().filter((name) => name.includes('/archive/damaged/'))
    expect(kept).toHaveLength(1)
    expect(fs.bytesOf(kept[0] as string).equals(damaged)).toBe(true)
    const open = await store.open(id)
    await say(open, user('five'))
    expect(await textsOf(store, id)).toEqual(['one', 'three', 'four', 'five'])
    await clean(store)
  })

  it('guesses the parent where nothing is left that says it, and marks the guess', async () => {
    const { fs, store, id, events, path } = await begun()
    hurt(fs, path, `{"id":"${events[1]?.id}"`, 10)
    const { lost } = await store.repair(id)
    expect(lost).toEqual([{ id: events[1]?.id, parent: events[0]?.id, guessed: true }])
    expect((await eventsOf(store, id)).find(({ type }) => type === 'lost')?.kept).toEqual({ guessed: true })
    await clean(store)
  })

  it('of an end, or of a note, loses just that', async () => {
    for (const text of ['"four"', '"processing"']) {
      const { fs, store, id, path, events } = await begun()
      hurt(fs, path, text)
      fs.put(path, Buffer.concat([fs.bytesOf(path), Buffer.from('junk without a newline')]))
      // The last line's damage cannot be told from a torn write, but the index knows what stood there.
      const lostTail = text === '"four"' ? events[4]?.id : null
      expect(await store.repair(id)).toEqual({ kept: 5, lost: [], lostTail })
      expect(fs.bytesOf(path).includes('junk')).toBe(false)
      await clean(store)
    }
  })

  it('keeps the place and the hash of a line that proves itself and is no JSON', async () => {
    const { fs, store, id, events, path } = await begun()
    const bytes = fs.bytesOf(path)
    const last = events[4]?.id as string
    const at = '2026-12-01T12:00:00.000Z'
    const body = sha256('"role":')
    const odd = sha256(`{"parent":"${last}","at":"${at}","type":"message","body":"${body}"}`).slice(0, 32)
    const child = encodeLine({ parent: odd, at, type: 'message', note: false }, user('child'))
    const line = `{"id":"${odd}","parent":"${last}","at":"${at}","type":"message","role":}`
    fs.replace(path, Buffer.concat([bytes, Buffer.from(`${line}\n`), child.bytes, Buffer.from('\n')]))
    expect((await store.repair(id)).lost).toEqual([{ id: odd, parent: last, guessed: false }])
    expect((await eventsOf(store, id)).find((event) => event.id === odd)).toMatchObject({
      type: 'message',
      body,
      redacted: true,
    })
    await clean(store)
  })

  it('keeps orphans of a gap, each once, and after the parent that a retry wrote again', async () => {
    const { fs, store, id, events, path } = await begun()
    const lineOf = (parent: string, ms: number, text: string): Line =>
      encodeLine(
        { parent, at: `2026-12-01T12:00:00.00${ms}Z`, type: 'message', note: false },
        { role: 'user', content: text },
      )
    const lost = lineOf(events[4]?.id as string, 1, 'in the gap')
    const orphan = lineOf(lost.id, 2, 'orphan')
    const gap = Buffer.concat([Buffer.alloc(lost.bytes.length), Buffer.from('\n')])
    fs.replace(path, Buffer.concat([fs.bytesOf(path), gap, orphan.bytes, Buffer.from('\n')]))
    fs.remove(indexOf(fs))
    const open = await store.open(id)
    const again = {
      role: 'user',
      type: 'message',
      content: 'in the gap',
      at: lost.at,
      parent: lost.parent as string,
    }
    expect((await open.append(again)).at(-1)?.id).toBe(lost.id)
    await open.append(user('after'))
    open.close()
    await clean(store)
    expect(await textsOf(store, id)).toEqual(['one', 'two', 'three', 'four', 'in the gap', 'after'])
    hurt(fs, path, '"two"')
    await store.repair(id)
    const { problems, diverged } = await store.verify()
    expect(problems).toEqual([])
    const head = await (await store.reader(id)).head()
    expect(diverged).toEqual([{ session: id, ends: [head, orphan.id] }])
    expect(await textsOf(store, id)).toEqual(['one', 'three', 'four', 'in the gap', 'after'])
  })

  it('accepts a torn tail, and an open gap with what hangs on it', async () => {
    const { fs, store, id, events, path } = await begun()
    const whole = fs.bytesOf(path)
    fs.put(path, Buffer.concat([whole, Buffer.from('{"id":"12')]))
    expect(await store.repair(id)).toEqual({ kept: 6, lost: [], lostTail: null })
    await clean(store)
    const three = whole.indexOf(`{"id":"${events[3]?.id}"`)
    fs.replace(path, Buffer.from(whole.fill(0, three + 130, three + 140)))
    expect(await store.repair(id)).toEqual({
      kept: 5,
      lost: [{ id: events[3]?.id, parent: events[1]?.id, guessed: false }],
      lostTail: expect.any(String),
    })
    await clean(store)
    expect(await textsOf(store, id)).toEqual(['one', 'two', 'four'])
  })

  it('of a log that is whole, be it that an append named what does not decode, is refused, and changes nothing', async () => {
    const { fs, store, id, path } = await begun()
    const whole = fs.bytesOf(path)
    expect(await refusal(store.repair(id))).toMatchObject({ tag: 'Refused' })
    fs.put(path, Buffer.concat([whole, Buffer.from('{"id":"12')]))
    await (await store.open(id)).append(user('on'))
    fs.fault = () => undefined
    const named = fs.bytesOf(path)
    expect(named.includes('recovered')).toBe(true)
    for (const session of [await store.open(id)]) session.close()
    expect((await refusal(store.repair(id))).tag).toBe('Refused')
    expect(fs.bytesOf(path).equals(named)).toBe(true)
  })

  it('without a root, or with two, is refused: no one can say which session it was', async () => {
    const { fs, store, id, path } = await begun()
    const bytes = fs.bytesOf(path)
    fs.replace(path, bytes.subarray(bytes.indexOf('\n') + 1))
    expect(await refusal(store.repair(id))).toMatchObject({ tag: 'Damaged', damage: { kind: 'no-root' } })
    const other = await newSession(store)
    fs.replace(path, Buffer.concat([bytes, fs.bytesOf(logOf(fs, other.id))]))
    expect((await refusal(store.repair(id))).tag).toBe('Refused')
  })

  it('is refused while someone holds the session open', async () => {
    const { fs, store, id, path } = await begun()
    const open = await store.open(id)
    hurt(fs, path, '"two"')
    expect(await refusal(store.repair(id))).toMatchObject({ tag: 'Refused', conflict: true })
    open.close()
    await store.repair(id)
    await clean(store)
  })

  it('whatever was damaged: every provable event is there afterwards, verify is clean, and appends work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(), bit: fc.nat(7), length: fc.nat(200) }), {
          minLength: 1,
          maxLength: 4,
        }),
        async (wounds) => {
          const { fs, store, id, path } = await begun()
          const bytes = fs.bytesOf(path)
          const root = bytes.indexOf('\n') + 1
          for (const { at, bit, length } of wounds) {
            const place = root + (at % (bytes.length - root))
            if (length < 150) bytes[place] = (bytes[place] as number) ^ (1 << bit)
            else bytes.copy(bytes, place, Math.min(place + (length - 149), bytes.length))
          }
          fs.replace(path, bytes)
          fs.remove(indexOf(fs))
          const reader = await store.reader(id)
          const provable = (await reader.events({ salvage: true, report: () => {} })).map((event) => event.id)
          try {
            await store.repair(id)
          } catch (error) {
            expect((error as { tag: string }).tag).toBe('Refused')
          }
          const open = await store.open(id)
          await open.append(user('on'))
          open.close()
          const left = new Set((await eventsOf(store, id)).map((event) => event.id))
          for (const event of provable) expect(left.has(event)).toBe(true)
          await clean(store)
        },
      ),
      { numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * 100) },
    )
  })
})
