import { describe, expect, it } from 'vitest'
import type { SessionRow, Store } from '../../src/session/api.js'
import { MemoryFs } from '../support/memory-fs.js'
import {
  assistant,
  indexOf,
  logOf,
  memoryStore,
  newSession,
  refusal,
  say,
  storePath,
  user,
  workspace,
} from './stores.js'

/** A store with a few sessions, closed, so that each has a saved row. */
const filled = async (count = 3) => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const session = await newSession(store)
    await session.append([user(`prompt ${i}`), assistant(`answer ${i}`)])
    session.close()
    ids.push(session.id)
  }
  return { fs, store, ids }
}
const rowsOf = async (store: Store): Promise<readonly SessionRow[]> => store.list()
const opensOf = async (fs: MemoryFs, work: () => Promise<unknown>): Promise<number> => {
  let opened = 0
  fs.fault = (operation, path) => {
    if (operation === 'open' && path.endsWith('data.jsonl')) opened++
    return undefined
  }
  await work()
  fs.fault = () => undefined
  return opened
}
const linesOf = (fs: MemoryFs): string[] =>
  fs
    .bytesOf(indexOf(fs))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
const writeLines = (fs: MemoryFs, lines: readonly string[]): void =>
  fs.replace(indexOf(fs), Buffer.from(lines.map((line) => `${line}\n`).join('')))

describe('listing', () => {
  it('opens no log where the saved folds are current, for 1,000 sessions', async () => {
    const { fs, store } = await filled(0)
    for (let i = 0; i < 1000; i++) await newSession(store)
    await store.list()
    const other = await memoryStore(fs)
    expect(await opensOf(fs, () => other.list())).toBe(0)
    expect(await other.list()).toHaveLength(1000)
  })

  it('shows the last changed first, and what is asked for', async () => {
    const { store, ids } = await filled()
    const session = await store.open(ids[0] as string)
    await session.append({ type: 'status', status: 'failed' })
    await session.title('A named one')
    session.close()
    expect((await rowsOf(store)).map((row) => row.session)).toEqual([ids[0], ids[2], ids[1]])
    expect((await store.list({ status: 'failed' })).map((row) => row.session)).toEqual([ids[0]])
    expect((await store.list({ search: 'NAMED' })).map((row) => row.session)).toEqual([ids[0]])
    expect((await store.list({ search: 'Prompt 0' })).map((row) => row.session)).toEqual([ids[0]])
    expect((await store.list({ limit: 1 })).map((row) => row.session)).toEqual([ids[0]])
    expect(await store.list({ workspace: '/elsewhere' })).toEqual([])
  })

  it('counts sub-agents’ sessions on their parent, and hides none whose parent is gone', async () => {
    const { store, ids } = await filled(1)
    const [parent = ''] = ids
    const sub = await store.create({ workspace, startedBy: { session: parent, event: parent } })
    expect((await rowsOf(store)).map((row) => [row.session, row.children])).toEqual([[parent, [sub.id]]])
    expect(await store.list({ sub: true })).toHaveLength(2)
    await store.archive(parent, 'archive')
    expect((await rowsOf(store)).map((row) => row.session)).toEqual([sub.id])
  })

  it('resolves texts that lie in blobs, the title too', async () => {
    const store = await memoryStore()
    const session = await newSession(store)
    await session.append([user(`long ${'é'.repeat(50_000)}`), assistant(`answer ${'é'.repeat(50_000)}`)])
    const [row] = await rowsOf(store)
    expect(row?.title).toBe(`long ${'é'.repeat(95)}`)
    expect(row?.lastAssistant).toBe(`answer ${'é'.repeat(50_000)}`)
  })
})

describe('the saved index is only a cache (INV-8)', () => {
  const same = async (fs: MemoryFs, before: readonly SessionRow[]): Promise<void> => {
    expect(await rowsOf(await memoryStore(fs))).toEqual(before)
    // Healed: the next one reads no log.
    const other = await memoryStore(fs)
    expect(await opensOf(fs, () => other.list())).toBe(0)
    expect((await other.verify()).problems).toEqual([])
  }

  it('deleted, empty, torn, garbage, or without its last newline: the same list, and healed', async () => {
    const { fs, store } = await filled()
    const before = await rowsOf(store)
    const whole = fs.bytesOf(indexOf(fs))
    fs.remove(indexOf(fs))
    await same(fs, before)
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('\n\n{}\n[]\nnull\n{"session":"x"}\n'),
      Buffer.alloc(5000),
      whole.subarray(0, whole.length - 1),
      whole.subarray(0, whole.length - 40),
      whole.subarray(1),
      Buffer.concat([whole, Buffer.from('{"session":"torn')]),
      Buffer.from(whole.toString().replaceAll('"v":1', '"v":0')),
    ]) {
      fs.replace(indexOf(fs), bytes)
      await same(fs, before)
    }
  })

  it('with any one byte changed: the same list', async () => {
    const { fs, store } = await filled(1)
    const before = await rowsOf(store)
    const whole = fs.bytesOf(indexOf(fs))
    for (let at = 0; at < whole.length; at += 7) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] as number) ^ 1
      fs.replace(indexOf(fs), bytes)
      expect(await rowsOf(await memoryStore(fs))).toEqual(before)
    }
  })

  it('with rows under each other’s names: the same list', async () => {
    const { fs, store, ids } = await filled(2)
    const before = await rowsOf(store)
    const [a = '', b = ''] = ids
    writeLines(
      fs,
      linesOf(fs).map((line) => line.replace(a, 'x').replace(b, a).replace('"x"', `"${b}"`)),
    )
    await same(fs, before)
  })

  it('stale: rows of before are folded on from where they end', async () => {
    const { fs, store, ids } = await filled(1)
    const old = linesOf(fs)
    const session = await store.open(ids[0] as string)
    await session.append([user('more'), assistant('and more')])
    session.close()
    const before = await rowsOf(store)
    writeLines(fs, old)
    await same(fs, before)
  })

  it('a log of the same size but of another time is folded anew', async () => {
    const { fs, store, ids } = await filled(1)
    const path = logOf(fs, ids[0] as string)
    const bytes = fs.bytesOf(path)
    const at = bytes.indexOf('prompt 0')
    bytes[at] = 'P'.charCodeAt(0)
    fs.put(path, bytes)
    expect((await rowsOf(store))[0]?.problem).toContain('damaged log (undecodable)')
  })

  it('does not grow without bound', async () => {
    const { fs, store, ids } = await filled(1)
    for (let i = 0; i < 400; i++) {
      const session = await store.open(ids[0] as string)
      await session.append(user(`x${'y'.repeat(400)}`), { durability: 'none' })
      session.close()
      if (i % 20 === 0) await store.list()
    }
    expect(fs.bytesOf(indexOf(fs)).length).toBeLessThan(400_000)
    expect((await store.verify()).problems).toEqual([])
  })

  it('a store that cannot be written is listed all the same', async () => {
    const { fs, store, ids } = await filled()
    const before = await rowsOf(store)
    fs.remove(indexOf(fs))
    fs.fault = (operation) => {
      if (operation === 'write' || operation === 'rename' || operation === 'makeDir')
        throw Object.assign(new Error('read only'), { code: 'EROFS' })
      return undefined
    }
    expect(await rowsOf(await memoryStore(fs))).toEqual(before)
    expect((await refusal(store.open(ids[0] as string))).tag).toBe('StoreUnusable')
  })

  it('a saved fold that a killed process left behind is as good: the rest alone is read', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const session = await newSession(store)
    for (let i = 0; i < 60; i++) await session.append([user('x'.repeat(50_000)), user('y'.repeat(50_000))])
    let read = 0
    const path = logOf(fs, session.id)
    fs.fault = (operation, name, bytes) => {
      if (operation === 'read' && name === path) read += bytes
      return undefined
    }
    const [row] = await (await memoryStore(fs)).list()
    expect(row?.events).toBe(121)
    expect(read).toBeLessThan(4 * 1024 * 1024)
  })
})

describe('an index that cannot be written', () => {
  it('fails a reindex, leaves no listing worse off, and stays as it was', async () => {
    const { fs, store } = await filled(1)
    const before = fs.bytesOf(indexOf(fs))
    fs.fault = (operation, name) => {
      if (operation === 'open' && name.includes('metadata.jsonl.'))
        throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
      return undefined
    }
    const error = await refusal(store.reindex())
    expect(error).toMatchObject({ tag: 'StoreUnusable', path: indexOf(fs) })
    expect(error.message).toContain('EROFS')
    expect(await store.list()).toHaveLength(1)
    fs.fault = (operation) => (operation === 'write' ? 3 : undefined)
    expect((await refusal(store.reindex())).tag).toBe('StoreUnusable')
    fs.fault = () => undefined
    expect(fs.bytesOf(indexOf(fs)).equals(before)).toBe(true)
    expect(fs.paths().filter((name) => name.includes('metadata.jsonl.'))).toEqual([])
    expect(await store.reindex()).toBe(1)
  })
})

describe('a log that lost its end', () => {
  it('is reported, never healed silently, and refused for writing until reindex takes it as it stands', async () => {
    const { fs, store, ids } = await filled(1)
    const [id = ''] = ids
    const path = logOf(fs, id)
    const bytes = fs.bytesOf(path)
    fs.replace(path, bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1))
    for (let i = 0; i < 2; i++) {
      const [row] = await rowsOf(await memoryStore(fs))
      expect(row?.problem).toContain('log-lost-tail')
      expect(row).toMatchObject({ session: id, events: 3, lastAssistant: 'answer 0' })
      expect((await refusal(store.open(id))).tag).toBe('LogLostTail')
      expect((await store.verify()).problems.map(({ kind }) => kind)).toEqual(['lost-tail'])
    }
    expect(await store.reindex()).toBe(1)
    const [row] = await rowsOf(await memoryStore(fs))
    expect(row).toMatchObject({ problem: null, events: 2, lastAssistant: null })
    await (await store.open(id)).append(user('on'))
    expect((await store.verify()).problems).toEqual([])
  })

  it('is reported also where more was appended since', async () => {
    const { fs, ids } = await filled(1)
    const [id = ''] = ids
    const path = logOf(fs, id)
    const bytes = fs.bytesOf(path)
    const index = fs.bytesOf(indexOf(fs))
    fs.replace(path, bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1))
    fs.remove(indexOf(fs))
    const session = await (await memoryStore(fs)).open(id)
    await session.append(user(`something else ${'x'.repeat(1000)}`))
    fs.put(`${storePath}/projects/${(await (await memoryStore(fs)).find(id)).key}/metadata.jsonl`, index)
    expect((await rowsOf(await memoryStore(fs)))[0]?.problem).toContain('log-lost-tail')
  })
})

describe('a damaged session', () => {
  it('is listed with what is wrong and what can be read of it', async () => {
    const { fs, store, ids } = await filled(2)
    const [id = ''] = ids
    const path = logOf(fs, id)
    const bytes = fs.bytesOf(path)
    bytes[bytes.indexOf('prompt 0')] = 0x50
    fs.replace(path, bytes)
    fs.remove(indexOf(fs))
    const row = (await rowsOf(store)).find(({ session }) => session === id)
    expect(row?.problem).toContain('damaged log (undecodable)')
    expect(row?.problem).toContain('line 2')
    expect((await rowsOf(store)).find(({ session }) => session === ids[1])?.problem).toBeNull()
    expect((await refusal(store.open(id))).tag).toBe('Damaged')
  })

  it('is hidden by nothing: a folder without a root, without a log, or with another’s', async () => {
    const { fs, store, ids } = await filled(1)
    const { key } = await store.find(ids[0] as string)
    const folder = `${storePath}/projects/${key}`
    fs.put(`${folder}/${'a'.repeat(32)}/data.jsonl`, Buffer.alloc(0))
    fs.put(`${folder}/${'b'.repeat(32)}/blobs/x`, Buffer.alloc(0))
    fs.put(`${folder}/${'c'.repeat(32)}/data.jsonl`, fs.bytesOf(logOf(fs, ids[0] as string)))
    fs.put(`${folder}/${'d'.repeat(32)}/data.jsonl`, Buffer.from('not a log\n'))
    const rows = new Map((await rowsOf(store)).map((row) => [row.session, row.problem]))
    for (const name of ['a', 'b', 'c', 'd']) expect(rows.get(name.repeat(32))).toContain('damaged log')
    expect(rows.get('c'.repeat(32))).toContain(ids[0])
    expect(rows.get(ids[0] as string)).toBeNull()
    for (const name of ['a', 'b', 'c', 'd'])
      expect((await refusal(store.open(name.repeat(32)))).tag).toBe('Damaged')
  })
})

describe('a session’s name', () => {
  it('is a unique prefix of its id, 4 characters or more', async () => {
    const { fs, store, ids } = await filled(1)
    const [id = ''] = ids
    expect((await store.find(id.slice(0, 4))).id).toBe(id)
    expect((await refusal(store.find(id.slice(0, 3)))).tag).toBe('NotFound')
    const { key } = await store.find(id)
    const twin = `${id.slice(0, 31)}${id.endsWith('0') ? '1' : '0'}`
    fs.put(`${storePath}/projects/${key}/${twin}/data.jsonl`, Buffer.from('x'))
    expect(await refusal(store.find(id.slice(0, 8)))).toMatchObject({
      tag: 'Ambiguous',
      candidates: [id, twin].sort(),
    })
    expect((await store.find(id)).id).toBe(id)
  })

  it('is what a saved fold agrees with, where one is saved', async () => {
    const { fs, store, ids } = await filled(1)
    const reader = await store.reader(ids[0] as string)
    expect(await reader.savedAgrees()).toBe(true)
    fs.remove(indexOf(fs))
    expect(await reader.savedAgrees()).toBeNull()
    expect(await say(await store.open(ids[0] as string), user('x'))).toBeDefined()
  })
})
