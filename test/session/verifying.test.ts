import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/events/id.js'
import { encodeLine, encodeText } from '../../src/events/line.js'
import type { Session, Store } from '../../src/session/api.js'
import { MemoryFs } from '../support/memory-fs.js'
import { assistant, indexOf, logOf, memoryStore, newSession, say, user } from './stores.js'

const begun = async (): Promise<{ fs: MemoryFs; store: Store; session: Session; path: string }> => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  await session.append([user('one'), assistant('two'), user('three')])
  session.close()
  return { fs, store, session, path: logOf(fs, session.id) }
}
const kindsOf = async (store: Store): Promise<readonly string[]> =>
  (await store.verify()).problems.map(({ kind }) => kind)

describe('verify', () => {
  it('of a sound store finds nothing, and counts', async () => {
    const { fs, store, path } = await begun()
    expect(await store.verify()).toEqual({
      sessions: 1,
      events: 4,
      bytes: fs.bytesOf(path).length,
      problems: [],
      diverged: [],
      redacted: 0,
    })
  })

  it('names a flipped bit with line and byte, and what hung on the event', async () => {
    const { fs, store, session, path } = await begun()
    const bytes = fs.bytesOf(path)
    const at = bytes.indexOf('"two"')
    bytes[at + 1] = (bytes[at + 1] as number) ^ 4
    fs.replace(path, bytes)
    const { problems } = await store.verify()
    expect(problems.map(({ kind, line }) => [kind, line])).toEqual([
      ['undecodable', 3],
      ['missing-parent', 4],
    ])
    expect(problems[0]).toMatchObject({ session: session.id, offset: bytes.lastIndexOf('\n', at) + 1 })
  })

  it('names a torn tail, until the next append names it', async () => {
    const { fs, store, session, path } = await begun()
    fs.put(path, Buffer.concat([fs.bytesOf(path), Buffer.from('{"id":"12')]))
    expect(await kindsOf(store)).toEqual(['torn-tail'])
    await (await store.open(session.id)).append(user('on'))
    expect(await kindsOf(store)).toEqual([])
  })

  it('names a log that was cut, in a line or between two, as having lost its end', async () => {
    const { fs, store, path } = await begun()
    const bytes = fs.bytesOf(path)
    const last = bytes.lastIndexOf('\n', bytes.length - 2) + 1
    fs.replace(path, bytes.subarray(0, last))
    expect(await kindsOf(store)).toEqual(['lost-tail'])
    fs.replace(path, bytes.subarray(0, last + 20))
    expect(await kindsOf(store)).toEqual(['torn-tail', 'lost-tail'])
  })

  it('names a gap that a power cut left', async () => {
    const { fs, store, session, path } = await begun()
    const bytes = fs.bytesOf(path)
    const at = bytes.lastIndexOf('\n', bytes.length - 2) + 1
    bytes.fill(0, at - 60, at - 20)
    fs.replace(path, bytes)
    const kinds = await kindsOf(store)
    expect(kinds).toContain('gap')
    fs.remove(indexOf(fs))
    await (await store.open(session.id)).append(user('on'))
    expect(await kindsOf(store)).toEqual([])
  })

  it('names a blob that is missing or is not what its name says, also one that only another blob names', async () => {
    const { fs, store, session } = await begun()
    const open = await store.open(session.id)
    const deep = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [`key ${i} ${'k'.repeat(30)}`, i]),
    )
    await open.append([
      user('é'.repeat(50_000)),
      { type: 'custom', name: 'x', data: { text: 'x'.repeat(70_000), deep } },
    ])
    open.close()
    expect(await kindsOf(store)).toEqual([])
    const blobs = fs.paths().filter((name) => name.includes('/blobs/'))
    expect(blobs).toHaveLength(3)
    for (const name of blobs) {
      const bytes = fs.bytesOf(name)
      fs.remove(name)
      expect(await kindsOf(store)).toEqual(['blob'])
      fs.put(name, Buffer.from('other'))
      expect(await kindsOf(store)).toEqual(['blob'])
      fs.put(name, bytes)
    }
    const inner = sha256('x'.repeat(70_000))
    expect(blobs.some((name) => name.endsWith(inner))).toBe(true)
  })

  it('names a saved fold that is not what a replay gives', async () => {
    const { fs, store } = await begun()
    const line = fs.bytesOf(indexOf(fs)).toString().trimEnd().split('\n').at(-1) as string
    const rest = line.slice(line.indexOf('"v":')).replace('"events":4', '"events":5')
    expect(rest).toContain('"events":5')
    const head = line.slice(0, line.indexOf('"sha":"'))
    fs.replace(indexOf(fs), Buffer.from(`${head}"sha":"${sha256(rest)}",${rest}\n`))
    expect(await kindsOf(store)).toEqual(['index-row'])
    await store.reindex()
    expect(await kindsOf(store)).toEqual([])
  })

  it('names an id that stands twice, and a line that proves itself but contradicts itself or is no JSON', async () => {
    const { fs, store, session, path } = await begun()
    const bytes = fs.bytesOf(path)
    const lines = bytes.toString().trimEnd().split('\n')
    fs.put(path, Buffer.from(`${[...lines, lines[2]].join('\n')}\n`))
    expect(await kindsOf(store)).toEqual(['duplicate-id'])
    const at = '2026-12-01T12:00:00.000Z'
    const odd = encodeLine({ parent: session.position, at, type: 'message', note: false }, { role: 'user' })
    for (const payload of ['"role":"user","id":"x"', '"role":"user"', '"role":']) {
      const body = sha256(payload)
      const id = sha256(
        `{"parent":"${session.position}","at":"${at}","type":"message","body":"${body}"}`,
      ).slice(0, 32)
      const line = odd.bytes.toString().replace(odd.id, id).replace('"role":"user"', payload)
      fs.put(path, Buffer.concat([bytes, Buffer.from(`${line}\n`)]))
      expect(await kindsOf(store)).toEqual(payload === '"role":"user"' ? [] : ['payload'])
    }
  })

  it('names a log that stands in another session’s folder', async () => {
    const { fs, store, path } = await begun()
    fs.put(path.replace(/[0-9a-f]{32}/, 'c'.repeat(32)), fs.bytesOf(path))
    expect(await kindsOf(store)).toEqual(['wrong-session'])
  })

  it('looks only at what was written to since a time', async () => {
    const { store, fs } = await begun()
    const other = await newSession(store)
    await say(other, user('another'))
    const since = new Date(fs.stat(logOf(fs, other.id))?.mtimeMs ?? 0).toISOString()
    expect((await store.verify(undefined, { since: '1970-01-01T00:00:00.000Z' })).sessions).toBe(2)
    expect((await store.verify(undefined, { since })).sessions).toBe(1)
    expect((await store.verify(undefined, { since: '2027-01-01T00:00:00.000Z' })).sessions).toBe(0)
  })
})

describe('verify of a whole store', () => {
  it('names what others may use beside the sessions, and of one session does not', async () => {
    const { fs, store, session } = await begun()
    await store.list()
    const index = indexOf(fs)
    fs.open(index, 'append').chmod(0o644)
    expect((await store.verify()).problems).toEqual([
      expect.objectContaining({ session: '', kind: 'permissions', detail: `others may use ${index}` }),
    ])
    expect((await store.verify([session.id])).problems).toEqual([])
  })

  it('names a workspace whose path nobody knows any more', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const session = await store.create({ workspace: `/nowhere/${'long/'.repeat(40)}` })
    await session.append(user('one'))
    session.close()
    expect(await kindsOf(store)).toEqual([])
    const file = fs.paths().find((path) => path.endsWith('/workspace.json')) ?? ''
    fs.put(file, Buffer.from('{"form'))
    expect(await kindsOf(await memoryStore(fs))).toEqual(['workspace-unknown'])
  })

  it('tells how many bytes of the logs are done, to the last', async () => {
    const { store, fs, path } = await begun()
    const told: (readonly [number, number])[] = []
    await store.verify(undefined, { progress: (done, total) => void told.push([done, total]) })
    const { length } = fs.bytesOf(path)
    expect(told[0]).toEqual([0, length])
    expect(told.at(-1)).toEqual([length, length])
    expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).toSorted((a, b) => a - b))
  })

  it('finds a blob that is gone, however the line spells its name', async () => {
    const { fs, store, session, path } = await begun()
    const tail = fs.bytesOf(path).toString().trimEnd().split('\n').at(-1)?.slice(7, 39) ?? null
    const envelope = { parent: tail, at: '2026-12-01T10:00:00.000Z', type: 'custom', note: false }
    const plain = encodeLine(envelope, { name: 'x', data: { $blob: 'ab'.repeat(32), bytes: 3, as: 'text' } })
    const text = plain.bytes.toString().slice(plain.bytes.indexOf('"name"'), -1)
    const { bytes } = encodeText(envelope, text.replace('$blob', String.raw`\u0024\u0062lob`))
    fs.put(path, Buffer.concat([fs.bytesOf(path), bytes, Buffer.from('\n')]))
    expect((await store.verify([session.id])).problems.map(({ kind }) => kind)).toEqual(['blob'])
  })
})
