import { dirname } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { StaleTail } from '../../src/events/errors/index.js'
import type { Format, Item } from '../../src/formats/format.js'
import type { Store } from '../../src/session/api.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { MemoryFs, systemError } from '../support/memory-fs.js'
import { indexOf, logOf, memoryStore, newSession, refusal, storePath, user, workspace } from './stores.js'

/** A session that nobody has opened since it was made, and the way to move its folder away in the midst of a call. */
const forked = async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const made = await newSession(store)
  await made.append(user('first'))
  const { session: id } = await store.fork(made.id)
  const folder = dirname(logOf(fs, id))
  /** As another process does that finds nobody present: once something is made, so that it has looked just before. */
  const moveAway = (): void => {
    fs.makeDir(`${dirname(folder)}/archive`)
    fs.fault = (operation) => {
      if (operation !== 'makeDir') return undefined
      fs.fault = () => undefined
      fs.rename(folder, `${dirname(folder)}/archive/${id}`)
      return undefined
    }
  }
  return { fs, store, id, folder, moveAway }
}

describe('a session that goes to the archive between two calls of another process', () => {
  it('is not opened, and no folder without a log is left in its place', async () => {
    const { fs, store, id, folder, moveAway } = await forked()
    moveAway()
    expect((await refusal(store.open(id))).tag).toBe('Moved')
    expect(fs.stat(folder)).toBeNull()
    expect(fs.readDir(dirname(folder)).filter((name) => name.startsWith('.new-'))).toEqual([])
    expect((await store.archived()).map((ref) => ref.id)).toEqual([id])
  })

  it('takes no blob, and no folder without a log is left in its place', async () => {
    const { fs, store, id, folder, moveAway } = await forked()
    const session = await store.open(id)
    moveAway()
    expect((await refusal(session.append(user('x'.repeat(70_000))))).tag).toBe('Moved')
    expect(fs.stat(folder)).toBeNull()
  })
})

describe('a session that a process holds open', () => {
  it('does not go to the archive where the disk does not say so', async () => {
    const { fs, store, id } = await forked()
    const session = await store.open(id)
    const other = await memoryStore(fs)
    fs.fault = (operation, path) => {
      if (operation === 'open' && path.includes('/presence/')) throw systemError('EIO')
      return undefined
    }
    expect((await refusal(other.archive(id, 'archive'))).tag).toBe('Refused')
    fs.fault = () => undefined
    session.close()
    expect((await other.archive(id, 'archive')).id).toBe(id)
  })
})

describe('a session that was purged', () => {
  it('has no row in the index any more, and no power cut brings it back', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const session = await newSession(store, { title: 'what nobody is to know' })
    session.close()
    await newSession(store)
    await store.list()
    expect(fs.bytesOf(indexOf(fs)).toString()).toContain('what nobody is to know')
    await store.archive(session.id, 'delete')
    await store.purge()
    const left = fs.afterPowerCut()
    expect(left.bytesOf(indexOf(left)).toString()).not.toContain('what nobody is to know')
  })
})

describe('an import that finds all it brings', () => {
  it('says so once that is on disk: another one may have been killed before its sync (INV-2)', async () => {
    const fs = new MemoryFs()
    const random = { hex: (bytes: number) => '0'.repeat(bytes * 2) }
    const careless = await openStore(storePath, { fs, random, durability: 'none' })
    expect(await bring(careless)).toBe(3)
    expect(await bring(await memoryStore(fs))).toBe(0)
    const [row] = await (await memoryStore(fs.afterPowerCut())).list()
    expect(row).toMatchObject({ problem: null, events: 3 })
  })
})

/** How many events an import of a small source adds. */
const bring = async (store: Store): Promise<number> => {
  const source = { format: twoMessages, path: 'a' }
  const { imported } = await importSources(store, [source], { workspace })
  return imported[0]?.new ?? -1
}

const twoMessages = {
  name: 'pi',
  async *read(session: string): AsyncGenerator<Item> {
    const at = new Date(0).toISOString()
    yield { kind: 'session', session, at, workspace, cwd: null }
    for (const key of ['1', '2']) {
      const payload = () => ({ role: 'user', content: key })
      yield { kind: 'event', session, key, parent: key === '1' ? null : '1', at, type: 'message', payload }
    }
  },
} as unknown as Format

describe('a session whose log refuses every append as stale, and shows nothing new', () => {
  it('rejects, and does not try for ever', async () => {
    const store = await memoryStore()
    const session = await newSession(store)
    const { log } = await store.reader(session.id)
    Object.assign(log, {
      append: (id: string, expected: string) => async () =>
        E.left(new StaleTail(id, expected, 'f'.repeat(32))),
    })
    expect((await refusal(session.append(user('first')))).tag).toBe('StaleTail')
  })
})
