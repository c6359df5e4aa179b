import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/session/store/store.js'
import { MemoryFs } from '../support/memory-fs.js'
import { newSession, say, storePath, user, workspace } from './stores.js'

let now = Date.UTC(2026, 11, 1, 9)
let draws = 0
const keeping = (fs: MemoryFs, maxSessions: number) =>
  openStore(storePath, {
    fs,
    retention: { maxSessions },
    clock: { now: () => now++ },
    random: {
      hex: (bytes) =>
        (++draws)
          .toString(16)
          .padStart(bytes * 2, '0')
          .slice(-bytes * 2),
    },
  })

describe('retention', () => {
  it('keeps the newest of a workspace by their last activity, and archives the others, when one is made', async () => {
    const fs = new MemoryFs()
    const store = await keeping(fs, 3)
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      const session = await newSession(store)
      ids.push(session.id)
      session.close()
    }
    // The oldest was gone on with last, so the second is the one to go.
    const again = await store.open(ids[0] as string)
    await say(again, user('still here'))
    again.close()
    const fourth = await newSession(store)
    fourth.close()
    expect((await store.list({ workspace })).map(({ session }) => session).sort()).toEqual(
      [ids[0], ids[2], fourth.id].sort(),
    )
    expect((await store.archived()).map(({ id }) => id)).toEqual([ids[1]])
    const removed = fs.bytesOf(`${storePath}/removed.jsonl`).toString()
    expect(JSON.parse(removed)).toMatchObject({ session: ids[1], action: 'archived', why: 'prune' })
    await store.unarchive(ids[1] as string)
    expect((await store.list({ workspace })).length).toBe(4)
  })

  it('leaves other workspaces alone, and every session that someone holds open', async () => {
    const fs = new MemoryFs()
    const store = await keeping(fs, 1)
    const elsewhere = await store.create({ workspace: '/nowhere/other' })
    elsewhere.close()
    const held = await newSession(store)
    const next = await newSession(store)
    next.close()
    const last = await newSession(store)
    const left = (await store.list()).map(({ session }) => session)
    expect(left.sort()).toEqual([elsewhere.id, held.id, last.id].sort())
  })

  it('is off where nobody asks for it', async () => {
    const fs = new MemoryFs()
    const store = await openStore(storePath, { fs })
    for (let i = 0; i < 5; i++) (await newSession(store)).close()
    expect(await store.list()).toHaveLength(5)
  })
})
