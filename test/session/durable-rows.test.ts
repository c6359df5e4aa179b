import { describe, expect, it } from 'vitest'
import type { Session } from '../../src/session/api.js'
import { workspaceKey } from '../../src/session/store/workspace.js'
import { MemoryFs, systemError } from '../support/memory-fs.js'
import { indexOf, logOf, memoryStore, newSession, storePath, user, workspace } from './stores.js'

/** What is asked of the disk, in order: syncs of logs, and writes of the index. */
const watched = (fs: MemoryFs, fails: 'sync' | 'stat' | null = null): string[] => {
  const order: string[] = []
  fs.fault = (operation, path) => {
    if (operation === 'sync' && path.endsWith('data.jsonl')) order.push('log synced')
    if (operation === 'write' && path.endsWith('metadata.jsonl')) order.push('row written')
    if (operation === fails && path.endsWith('data.jsonl')) throw systemError('EIO')
    return undefined
  }
  return order
}

const unsynced = { durability: 'none' } as const

/** A session lets go once what was asked of it is through. */
const closed = async (session: Session): Promise<void> => {
  session.close()
  await new Promise((resolve) => setImmediate(resolve))
}

/** A session with an event of which no row is kept, and that nobody has synced. */
const behind = async () => {
  const fs = new MemoryFs()
  const session = await newSession(await memoryStore(fs))
  session.close()
  const writer = await (await memoryStore(fs)).open(session.id)
  await writer.append(user('not on disk yet'), unsynced)
  return { fs, id: session.id, writer }
}

describe('a row of the index', () => {
  it('is written by a list only once the log is on disk (INV-8)', async () => {
    const { fs } = await behind()
    const order = watched(fs)
    const [row] = await (await memoryStore(fs)).list()
    expect(row?.events).toBe(2)
    expect(order).toEqual(['log synced', 'row written'])
  })

  it('is written by who opens only once the log is on disk', async () => {
    const { fs, id } = await behind()
    const order = watched(fs)
    await (await memoryStore(fs)).open(id)
    expect(order).toEqual(['log synced', 'row written'])
  })

  it('is not written where the log cannot be synced; what is shown is the same', async () => {
    const { fs } = await behind()
    const order = watched(fs, 'sync')
    const [row] = await (await memoryStore(fs)).list()
    expect(row?.events).toBe(2)
    expect(order).not.toContain('row written')
  })

  it('is not written by a session whose last append was not synced', async () => {
    const { fs, writer } = await behind()
    const order = watched(fs)
    await closed(writer)
    expect(order).toEqual([])
  })

  it('is written by a session whose last append was', async () => {
    const { fs, writer } = await behind()
    await writer.append(user('on disk'))
    const order = watched(fs)
    await closed(writer)
    expect(order).toEqual(['row written'])
  })

  it('is not written of a log whose sync failed before, though it would now', async () => {
    const { fs, id, writer } = await behind()
    watched(fs, 'sync')
    await expect(writer.append(user('lost?'))).rejects.toMatchObject({ tag: 'SyncFailed' })
    const order = watched(fs)
    await (await memoryStore(fs)).list()
    expect(order).not.toContain('row written')
    expect(fs.bytesOf(logOf(fs, id)).toString()).toContain('lost?')
    expect(fs.bytesOf(indexOf(fs)).toString()).not.toContain('lost?')
  })
})

describe('a session that closes', () => {
  it('lets go whatever the disk says to it', async () => {
    const { fs, writer } = await behind()
    await writer.append(user('on disk'))
    watched(fs, 'stat')
    // What it would throw once its last append is through, nobody could catch: vitest tells of that.
    await expect(closed(writer)).resolves.toBeUndefined()
  })
})

describe('the folders of a new workspace', () => {
  it('are synced into the ones above, though a killed process had made them (INV-2)', async () => {
    const fs = new MemoryFs()
    fs.makeDir(`${storePath}/projects/${workspaceKey(workspace)}`)
    const synced: string[] = []
    fs.fault = (operation, path) => {
      if (operation === 'syncDir') synced.push(path)
      return undefined
    }
    await newSession(await memoryStore(fs))
    expect(synced).toEqual(expect.arrayContaining([`${storePath}/projects`, storePath, '/']))
  })
})
