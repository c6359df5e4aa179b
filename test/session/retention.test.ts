import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/session/store/store.js'
import { startIn } from '../cli/coppice.js'
import { MemoryFs } from '../support/memory-fs.js'
import { memoryStore, newSession, refusal, say, storePath, textsOf, user, workspace } from './stores.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-retention-')))
afterAll(() => rmSync(folder, { recursive: true }))

const filled = async (count = 3) => {
  const fs = new MemoryFs()
  let now = Date.UTC(2026, 11, 1, 9)
  const store = await memoryStore(fs, { now: () => now++ })
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const session = await newSession(store)
    await session.append(user(`prompt ${i}`))
    session.close()
    ids.push(session.id)
  }
  const removed = () =>
    fs
      .bytesOf(`${storePath}/removed.jsonl`)
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('{"at"'))
      .map((line) => JSON.parse(line) as Record<string, string>)
  return { fs, store, ids, removed, later: (ms: number) => (now += ms) }
}
const listed = async (store: { list(): Promise<readonly { session: string }[]> }) =>
  (await store.list()).map(({ session }) => session)

describe('the archive', () => {
  it('takes a session whole and gives it back as it was; both are logged', async () => {
    const { store, ids, removed } = await filled(2)
    const [id = '', other = ''] = ids
    await store.archive(id, 'delete')
    expect(await listed(store)).toEqual([other])
    expect((await refusal(store.open(id))).tag).toBe('NotFound')
    expect((await store.archived()).map((ref) => ref.id)).toEqual([id])
    await store.unarchive(id.slice(0, 8))
    expect((await listed(store)).sort()).toEqual([...ids].sort())
    expect(await textsOf(store, id)).toEqual(['prompt 0'])
    await (await store.open(id)).append(user('on'))
    expect((await store.verify()).problems).toEqual([])
    expect(
      removed().map(({ session, action, why, workspace: path }) => [session, action, why, path]),
    ).toEqual([
      [id, 'archived', 'delete', workspace],
      [id, 'unarchived', undefined, workspace],
    ])
    expect((await refusal(store.unarchive(id))).tag).toBe('NotFound')
    expect((await refusal(store.unarchive('../x'))).tag).toBe('NotFound')
  })

  it('is emptied only by a purge, of what went there long enough ago', async () => {
    const { fs, store, ids, removed, later } = await filled(3)
    await store.archive(ids[0] as string, 'archive')
    later(10_000)
    await store.archive(ids[1] as string, 'archive')
    expect((await store.purge(5_000)).sessions.map(({ id }) => id)).toEqual([ids[0]])
    expect(fs.paths().some((path) => path.includes(ids[0] as string))).toBe(false)
    expect((await store.purge()).sessions.map(({ id }) => id)).toEqual([ids[1]])
    expect(removed().map(({ action }) => action)).toEqual(['archived', 'archived', 'purged', 'purged'])
    expect(await listed(store)).toEqual([ids[2]])
  })

  it('knows when a session went there also after a line of removed.jsonl was cut short', async () => {
    const { fs, store, ids } = await filled(1)
    await store.archive(ids[0] as string, 'archive')
    await store.unarchive(ids[0] as string)
    const path = `${storePath}/removed.jsonl`
    fs.put(path, fs.bytesOf(path).subarray(0, -20))
    await store.archive(ids[0] as string, 'archive')
    expect((await store.purge(60_000)).sessions).toEqual([])
  })

  it('overwrites nothing', async () => {
    const { fs, store, ids } = await filled(1)
    const [id = ''] = ids
    const { key } = await store.find(id)
    fs.put(`${storePath}/projects/${key}/archive/${id}/data.jsonl`, Buffer.from('older'))
    expect(await refusal(store.archive(id, 'delete'))).toMatchObject({ tag: 'Refused', conflict: true })
    expect(await refusal(store.unarchive(id))).toMatchObject({ tag: 'Refused', conflict: true })
    expect(await listed(store)).toEqual([id])
  })

  it('refuses a session that is held open, here or by another process', async () => {
    const { store, ids } = await filled(1)
    const open = await store.open(ids[0] as string)
    expect(await refusal(store.archive(ids[0] as string, 'delete'))).toMatchObject({
      tag: 'Refused',
      conflict: true,
    })
    open.close()
    await store.archive(ids[0] as string, 'delete')
  })

  it('a writer whose session was archived is told so, and the archive is left as it is', async () => {
    const { fs, store, ids } = await filled(1)
    const open = await store.open(ids[0] as string)
    for (const path of fs.paths()) if (path.includes('/presence/')) fs.remove(path)
    await store.archive(ids[0] as string, 'delete')
    expect((await refusal(open.append(user('late')))).tag).toBe('Moved')
    expect((await refusal(open.append(user('x'.repeat(70_000))))).tag).toMatch(/Moved|NotFound/)
    expect(await listed(store)).toEqual([])
    open.close()
  })
})

describe('prune', () => {
  it('leaves the newest of each workspace, and what is held open', async () => {
    const { store, ids } = await filled(4)
    const elsewhere = await store.create({ workspace: '/nowhere/else' })
    elsewhere.close()
    const held = await store.open(ids[0] as string)
    expect((await store.prune(2, { dryRun: true })).map(({ id }) => id)).toEqual([ids[1]])
    expect(await store.archived()).toEqual([])
    expect((await store.prune(1, { workspace })).map(({ id }) => id)).toEqual([ids[2], ids[1]])
    held.close()
    expect(await listed(store)).toHaveLength(3)
    expect((await store.prune(0, {})).map(({ id }) => id).sort()).toEqual(
      [ids[0], ids[3], elsewhere.id].sort(),
    )
  })

  it('tells which it left that would have gone, and why', async () => {
    const { store, ids } = await filled(3)
    const held = await store.open(ids[0] as string)
    for (const dryRun of [true, false]) {
      const told: unknown[] = []
      const pruned = await store.prune(1, { dryRun, skipped: ({ id }, why) => told.push([id, why]) })
      expect(pruned.map(({ id }) => id)).toEqual([ids[1]])
      expect(told).toEqual([[ids[0], expect.stringMatching(/^process \d+ holds it open$/)]])
    }
    held.close()
  })

  it('a sub-agent’s session goes with the one that started it; one whose parent is gone stands for itself', async () => {
    const { store, ids } = await filled(2)
    const [old = '', recent = ''] = ids
    const subOf = async (session: string) => {
      const sub = await store.create({ workspace, startedBy: { session, event: session } })
      await say(sub, user('sub'))
      sub.close()
      return sub.id
    }
    const [subOld, subRecent] = [await subOf(old), await subOf(recent)]
    const orphan = await subOf('f'.repeat(32))
    expect((await store.prune(2, {})).map(({ id }) => id).sort()).toEqual([old, subOld].sort())
    expect((await listed(store)).sort()).toEqual([recent, orphan].sort())
    expect((await store.list({ sub: true })).map(({ session }) => session)).toContain(subRecent)
  })
})

describe('another process that holds a session', () => {
  it('is seen by whoever opens it, and bars archiving, repair and relocation until it ends, be it by kill -9', async () => {
    const [from, to, root] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'store')]
    mkdirSync(from)
    mkdirSync(to)
    const store = await openStore(root)
    const session = await store.create({ workspace: from })
    await session.append(user('one'))
    session.close()
    const child = startIn(root, ['append', session.id])
    child.stdin.write(`${JSON.stringify(user('from the child'))}\n`)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const again = await store.open(session.id)
    expect(again.others).toMatchObject([{ pid: child.pid }])
    again.close()
    for (const refused of [
      () => store.archive(session.id, 'delete'),
      () => store.repair(session.id),
      () => store.relocate(from, to),
    ])
      expect(await refusal(refused())).toMatchObject({ tag: 'Refused', conflict: true })
    expect(await store.prune(0, { workspace: from })).toEqual([])
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    const free = await store.open(session.id)
    expect(free.others).toEqual([])
    free.close()
    expect(await textsOf(store, session.id)).toEqual(['one', 'from the child'])
    await store.archive(session.id, 'delete')
    store.close()
  })
})
