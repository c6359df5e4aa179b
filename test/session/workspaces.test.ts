import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/session/store/store.js'
import { otherKey, workspaceKey } from '../../src/session/store/workspace.js'
import { MemoryFs } from '../support/memory-fs.js'
import { logOf, memoryStore, newSession, refusal, storePath, workspace } from './stores.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-workspaces-')))
afterAll(() => rmSync(folder, { recursive: true }))

const placeOf = (key: string, name: string): string => `${storePath}/projects/${key}/${name}`

describe('the key of a workspace', () => {
  it.each([
    ['/home/u/projects/api', 'L2hvbWUvdS9wcm9qZWN0cy9hcGk'],
    ['/', 'Lw'],
    ['/w/日本語', 'L3cv5pel5pys6Kqe'],
    [`/w/it's "quoted"`, 'L3cvaXQncyAicXVvdGVkIg'],
    ['/w/line\nbreak', 'L3cvbGluZQpicmVhaw'],
    ['/w/?>~', 'L3cvPz5-'],
  ])('%j is %s', (path, key) => {
    expect(workspaceKey(path)).toBe(key)
    expect(Buffer.from(key, 'base64url').toString()).toBe(path)
  })

  it('is whole up to 120 characters, and beyond that cut, with a hash of the whole', () => {
    const at120 = `/${'L'.repeat(89)}`
    expect(workspaceKey(at120)).toHaveLength(120)
    expect(workspaceKey(at120)).not.toContain('-')
    expect(workspaceKey(`/${'L'.repeat(90)}`)).toMatch(/^[\w-]{107}-[0-9a-f]{12}$/)
    expect(workspaceKey('/'.padEnd(300, 'L'))).not.toBe(workspaceKey('/'.padEnd(301, 'L')))
  })

  it('of two paths that differ only past what is kept are two', () => {
    const long = `/${'x'.repeat(200)}`
    expect(workspaceKey(`${long}a`).slice(0, 107)).toBe(workspaceKey(`${long}b`).slice(0, 107))
    expect(workspaceKey(`${long}a`)).not.toBe(workspaceKey(`${long}b`))
  })

  it('never leaves its folder', () => {
    for (const path of ['/../../etc', '..', '/w/..', '/\0'])
      expect(workspaceKey(path)).toMatch(/^[A-Za-z0-9_-]+$/)
  })
})

describe('the folder of a workspace', () => {
  it('says its path; where another path holds the key, this one has another folder', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const key = workspaceKey(workspace)
    fs.put(placeOf(key, 'workspace.json'), Buffer.from('{"format":1,"path":"/NOWHERE/W"}\n'))
    const session = await newSession(store)
    expect(logOf(fs, session.id)).toBe(placeOf(otherKey(workspace), `${session.id}/data.jsonl`))
    expect((await store.list({ workspace })).map((row) => row.session)).toEqual([session.id])
    expect(await store.list({ workspace: '/NOWHERE/W' })).toEqual([])
    const again = await newSession(store)
    expect((await store.find(again.id)).key).toBe(otherKey(workspace))
  })

  it('is refused where both keys are held by others', async () => {
    const fs = new MemoryFs()
    for (const key of [workspaceKey(workspace), otherKey(workspace)])
      fs.put(placeOf(key, 'workspace.json'), Buffer.from('{"format":1,"path":"/x"}\n'))
    expect((await refusal(newSession(await memoryStore(fs)))).tag).toBe('StoreUnusable')
  })

  it.each(['', 'garbage', '[]', '{"format":1}', 'null'])(
    'is found again with a workspace.json of %j, which is written anew',
    async (text) => {
      const fs = new MemoryFs()
      const store = await memoryStore(fs)
      const long = `/nowhere/${'x'.repeat(200)}`
      const session = await store.create({ workspace: long })
      const file = placeOf(workspaceKey(long), 'workspace.json')
      fs.replace(file, Buffer.from(text))
      expect((await store.list()).map((row) => row.session)).toEqual([session.id])
      expect((await store.list({ workspace: long })).map((row) => row.session)).toEqual([session.id])
      const again = await store.create({ workspace: long })
      expect((await store.find(again.id)).key).toBe(workspaceKey(long))
      expect(JSON.parse(fs.bytesOf(file).toString())).toMatchObject({ format: 1, path: long })
    },
  )

  it('of a newer format is refused, whatever is asked', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const { id } = await newSession(store)
    fs.replace(
      placeOf(workspaceKey(workspace), 'workspace.json'),
      Buffer.from('{"format":2,"path":"/nowhere/w"}'),
    )
    for (const asked of [
      store.list(),
      store.find(id),
      store.open(id),
      store.reader(id),
      newSession(store),
      store.verify(),
    ])
      expect(await refusal(asked)).toMatchObject({ tag: 'NewerFormat', needs: 'store format 2' })
  })

  it('a stray file among the workspaces or the sessions is passed over', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const { id } = await newSession(store)
    fs.put(`${storePath}/projects/stray`, Buffer.from('x'))
    fs.put(placeOf(workspaceKey(workspace), 'notes.txt'), Buffer.from('x'))
    expect((await store.list()).map((row) => row.session)).toEqual([id])
  })

  it('on a real disk: odd names work, links are followed, and all is private (INV-12)', async () => {
    const odd = join(folder, `it's "odd" 日本 \n name`)
    mkdirSync(odd)
    symlinkSync(odd, join(folder, 'link'))
    symlinkSync('loop', join(folder, 'loop'))
    const root = join(folder, 'store')
    const store = await openStore(root)
    const session = await store.create({ workspace: join(folder, 'link') })
    await session.append({ type: 'message', role: 'user', content: 'x'.repeat(70_000) })
    session.close()
    expect((await store.list({ workspace: odd })).map((row) => [row.session, row.workspace])).toEqual([
      [session.id, odd],
    ])
    expect((await refusal(store.create({ workspace: join(folder, 'loop') }))).tag).toBe('NotFound')
    await store.archive(session.id, 'delete')
    const { key } = (await store.archived())[0] as { key: string }
    const modeOf = (...names: string[]): string => (statSync(join(root, ...names)).mode & 0o777).toString(8)
    const place = ['projects', key]
    const kept = [...place, 'archive', session.id]
    expect(
      [[], ['projects'], place, [...place, 'archive'], kept, [...kept, 'blobs']].map((names) =>
        modeOf(...names),
      ),
    ).toEqual(Array.from({ length: 6 }, () => '700'))
    expect(
      [
        ['removed.jsonl'],
        [...place, 'workspace.json'],
        [...place, 'metadata.jsonl'],
        [...kept, 'data.jsonl'],
      ].map((names) => modeOf(...names)),
    ).toEqual(Array.from({ length: 4 }, () => '600'))
    store.close()
  })
})

describe('what is no store', () => {
  it('is refused, and left as it is', async () => {
    const fs = new MemoryFs()
    fs.put(`${storePath}/homework.txt`, Buffer.from('x'))
    expect((await refusal(memoryStore(fs))).tag).toBe('StoreUnusable')
    const file = new MemoryFs()
    file.put(storePath, Buffer.from('x'))
    expect((await refusal(memoryStore(file))).tag).toBe('StoreUnusable')
    expect(fs.paths()).toEqual([`${storePath}/homework.txt`])
  })

  it('nothing at all is an empty store, and reading it makes nothing', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    expect(await store.list()).toEqual([])
    expect((await store.verify()).sessions).toBe(0)
    for (const name of ['abcd', '../x', '', 'a'.repeat(32)])
      expect((await refusal(store.find(name))).tag).toBe('NotFound')
    expect(fs.paths()).toEqual([])
  })
})
