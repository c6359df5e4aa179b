import { describe, expect, it } from 'vitest'
import type { Damage } from '../../src/events/errors/index.js'
import { sha256 } from '../../src/events/id.js'
import { encodeLine } from '../../src/events/line.js'
import type { SessionReader, Store } from '../../src/session/api.js'
import { MemoryFs } from '../support/memory-fs.js'
import { assistant, indexOf, logOf, memoryStore, newSession, refusal, user } from './stores.js'

const begun = async (...drafts: readonly object[]) => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  const said = drafts.length > 0 ? drafts : [user('one'), assistant('two'), user('three'), assistant('four')]
  const events = await session.append(said as never)
  session.close()
  return { fs, store, id: session.id, events, path: logOf(fs, session.id) }
}
type Begun = Awaited<ReturnType<typeof begun>>

/** A hole of NULs in the line that holds a text, as a power cut leaves it. */
const holed = ({ fs, path }: Begun, text: string): void => {
  const bytes = fs.bytesOf(path)
  const at = bytes.indexOf(text)
  bytes.fill(0, at - 6, at)
  fs.replace(path, bytes)
}

const salvaged = async (store: Store, id: string) => {
  const told: Damage[] = []
  const view = { salvage: true, report: (damage: Damage) => void told.push(damage) }
  const reader = await store.reader(id)
  const { messages } = await reader.messages(view)
  return { reader, view, told, texts: messages.map(({ content }) => content) }
}

describe('an open gap on which later events hang', () => {
  const reads: readonly [string, (reader: SessionReader) => Promise<unknown>][] = [
    ['events', (reader) => reader.events()],
    ['path', (reader) => reader.path()],
    ['messages', (reader) => reader.messages()],
    ['context', (reader) => reader.context()],
    ['tree', (reader) => reader.tree()],
    ['head', (reader) => reader.head()],
    ['undo targets', (reader) => reader.undoTargets()],
    ['a name', (reader) => reader.resolve('@')],
  ]
  it.each(reads)('stops a reader of %s: none of it vanishes unsaid (INV-4)', async (_, read) => {
    const made = await begun()
    holed(made, '"two"')
    const error = await refusal(read(await made.store.reader(made.id)))
    expect(error).toMatchObject({ tag: 'Damaged', damage: { kind: 'gap', orphans: 2, line: 3 } })
  })

  it('is read past in salvage: what hangs on it is shown, and the gap told', async () => {
    const made = await begun()
    holed(made, '"two"')
    const { texts, told } = await salvaged(made.store, made.id)
    expect(texts).toEqual(['one', 'three', 'four'])
    expect(told).toMatchObject([{ kind: 'gap', orphans: 2 }])
  })

  it('bars writing where the index knows what hangs on it, and is listed and verified as a gap', async () => {
    const made = await begun()
    holed(made, '"two"')
    expect((await refusal(made.store.open(made.id))).tag).toBe('LogLostTail')
    expect(await made.store.list()).toMatchObject([{ problemKind: 'gap', events: 4 }])
    expect((await made.store.verify()).problems).toMatchObject([{ kind: 'gap', line: 3 }])
  })

  it('is closed by the next append where nothing says that more was acknowledged, and no sooner', async () => {
    const made = await begun()
    const { fs, store, id, events } = made
    holed(made, '"two"')
    fs.remove(indexOf(fs))
    const opened = await store.open(id)
    expect(opened.head).toBe(events[0]?.id)
    opened.close()
    // Opening alone wrote nothing down: who reads is still told.
    expect((await refusal((await store.reader(id)).messages())).tag).toBe('Damaged')
    expect(await store.list()).toMatchObject([{ problemKind: 'gap' }])
    const open = await store.open(id)
    await open.checkout(id)
    await open.append(user('five'))
    open.close()
    expect((await store.verify()).problems).toEqual([])
    const after = await (await store.reader(id)).events()
    expect(after.find(({ type }) => type === 'recovered')?.orphans).toEqual([events[2]?.id, events[3]?.id])
    expect(await store.list()).toMatchObject([{ problem: null }])
  })
})

describe('a log whose end was lost', () => {
  it('is told by what the index knew as its last event, be the rest torn or cut between two lines', async () => {
    const made = await begun()
    const { fs, store, id, events, path } = made
    const reader = await store.reader(id)
    expect(await reader.lostTail()).toBeNull()
    const bytes = fs.bytesOf(path)
    const flipped = Buffer.from(bytes)
    flipped[flipped.length - 2] = (flipped[flipped.length - 2] as number) ^ 1
    for (const damaged of [flipped, bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1)]) {
      fs.replace(path, Buffer.from(damaged))
      expect(await reader.lostTail()).toMatchObject({ tag: 'LogLostTail', known: events[3]?.id })
    }
    fs.replace(path, bytes)
    expect(await reader.lostTail()).toBeNull()
    fs.put(path, Buffer.concat([bytes, Buffer.from('{"id":"12')]))
    expect(await reader.lostTail(true)).toBeNull()
    fs.remove(indexOf(fs))
    fs.replace(path, flipped)
    expect(await reader.lostTail(true)).toBeNull()
  })

  it('is repaired, and repair says which known event is gone', async () => {
    const { fs, store, id, events, path } = await begun()
    const bytes = fs.bytesOf(path)
    bytes[bytes.length - 2] = (bytes[bytes.length - 2] as number) ^ 1
    fs.replace(path, bytes)
    expect((await refusal(store.open(id))).tag).toBe('LogLostTail')
    expect(await store.repair(id)).toEqual({ kept: 4, lost: [], lostTail: events[3]?.id })
    expect((await store.verify()).problems).toEqual([])
    const open = await store.open(id)
    await open.append(user('five'))
    open.close()
  })
})

describe('a line that stands twice', () => {
  it('is on a path once, with salvage as without', async () => {
    const { fs, store, id, events, path } = await begun(
      user('one'),
      { type: 'status', status: 'processing' },
      user('two'),
    )
    const lines = fs.bytesOf(path).toString().trimEnd().split('\n')
    for (const twice of [1, 2, 3]) {
      fs.put(path, Buffer.from(`${lines.toSpliced(twice + 1, 0, lines[twice] as string).join('\n')}\n`))
      const reader = await store.reader(id)
      for (const view of [{}, { salvage: true, report: () => {} }])
        expect((await reader.path(view)).map((event) => event.id)).toEqual([id, ...events.map((e) => e.id)])
    }
  })
})

describe('reading past what is beside the lines', () => {
  const large = 'x'.repeat(70_000)

  it('puts words in the place of a blob that is missing or damaged, and tells which', async () => {
    const { fs, store, id } = await begun(user(large), user([{ type: 'image', data: 'iVBORw0KGgo=' }]))
    const names = fs.paths().filter((name) => name.includes('/blobs/'))
    expect(names).toHaveLength(2)
    const [text, image] = names[0]?.endsWith(sha256(large)) ? names : names.toReversed()
    fs.remove(text as string)
    fs.put(image as string, Buffer.from('other'))
    const reader = await store.reader(id)
    expect((await refusal(reader.messages())).tag).toMatch(/NotFound|Damaged/)
    const { texts, told } = await salvaged(store, id)
    expect(texts).toEqual(['[blob missing]', [{ type: 'image', data: '[blob damaged]' }]])
    expect(told).toMatchObject([
      { kind: 'blob', detail: expect.stringContaining(`${sha256(large)} is missing`) },
      { kind: 'blob', detail: expect.stringContaining('is damaged') },
    ])
  })

  it('passes over a line that proves itself and is no JSON, and bridges to what hangs on it', async () => {
    const { fs, store, id, events, path } = await begun()
    const at = '2027-12-01T12:00:00.000Z'
    const parent = events[3]?.id as string
    const body = sha256('"role":')
    const odd = sha256(`{"parent":"${parent}","at":"${at}","type":"message","body":"${body}"}`).slice(0, 32)
    const line = `{"id":"${odd}","parent":"${parent}","at":"${at}","type":"message","role":}\n`
    const child = encodeLine(
      { parent: odd, at, type: 'message', note: false },
      { role: 'user', content: 'on' },
    )
    const bytes = fs.bytesOf(path)
    fs.put(path, Buffer.concat([bytes, Buffer.from(line), child.bytes]))
    const plain = await store.reader(id)
    expect(await refusal(plain.events())).toMatchObject({ tag: 'Damaged', damage: { kind: 'payload' } })
    const { reader, view, texts, told } = await salvaged(store, id)
    expect(texts).toEqual(['one', 'two', 'three', 'four', 'on'])
    expect(told).toMatchObject([
      { kind: 'payload', offset: bytes.length, detail: expect.stringContaining(odd) },
    ])
    expect([await reader.resolve('@', view), await reader.resolve('@^', view)]).toEqual([child.id, parent])
    expect((await refusal(reader.messages({ ...view, at: odd }))).tag).toBe('NotFound')
    expect(await store.list()).toMatchObject([{ problemKind: 'payload', events: 6 }])
  })
})

describe('a log that is gone', () => {
  it('has lost its root, for readers, repair and verify alike, and nobody is told to salvage it', async () => {
    const { fs, store, id, path } = await begun()
    const reader = await store.reader(id)
    for (const isEmpty of [false, true]) {
      fs.remove(path)
      if (isEmpty) fs.put(path, Buffer.alloc(0))
      const errors = [await refusal(reader.messages()), await refusal(store.repair(id))]
      if (!isEmpty) errors.push(await refusal(reader.messages({ salvage: true, report: () => {} })))
      for (const error of errors) {
        expect(error).toMatchObject({ tag: 'Damaged', damage: { kind: 'no-root' } })
        expect(error.message).not.toContain('--salvage')
      }
      expect((await store.verify()).problems).toMatchObject([{ kind: 'no-root', line: 1, offset: 0 }])
    }
  })

  it('with its folder was moved', async () => {
    const { fs, store, id, path } = await begun()
    const reader = await store.reader(id)
    fs.remove(path.replace('/data.jsonl', ''))
    expect((await refusal(reader.messages())).tag).toBe('NotFound')
    expect((await refusal(store.repair(id))).tag).toBe('NotFound')
  })
})

describe('a log of a newer format', () => {
  it('is one problem of verify, is listed as such, and is not said to have lost its end', async () => {
    const { fs, store, path } = await begun()
    const [, ...rest] = fs.bytesOf(path).toString().split('\n')
    const root = encodeLine(
      { parent: null, at: '2026-12-01T09:00:00.000Z', type: 'session', note: false },
      { format: 2, nonce: '1' },
    )
    fs.replace(path, Buffer.from([root.bytes.toString(), ...rest].join('\n')))
    expect((await store.verify()).problems).toMatchObject([
      { kind: 'newer-format', line: null, detail: expect.stringContaining('needs format 2') },
    ])
    expect(await store.list()).toMatchObject([{ problemKind: 'newer-format' }])
  })
})
