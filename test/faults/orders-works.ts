import { expect } from 'vitest'
import { putByHand } from '../sim/disk/sim-work-fs.js'
import { keepAll, replayed } from './recording.js'
import {
  appended,
  assistant,
  idsOf,
  newcomer,
  newTree,
  oldTree,
  put,
  recordOn,
  secret,
  treeOn,
  user,
  type Work,
  withImage,
  workspace,
} from './world.js'

const undone: Work['run'] = async (store, { turn, prompt }, ack) => {
  const session = await store.open(turn)
  await session.undo(prompt)
  ack({ session: turn, ids: [session.head], isDone: true })
  session.close()
}

/** The old tree with the head moved, once, or the new one with no such event; and surely the old one once that was said. */
const mustBeOldOrNew: NonNullable<Work['left']> = async (disk, { turn }, acked) => {
  const store = await newcomer(disk)
  // Whoever opens the session ends what was cut off.
  ;(await store.open(turn)).close()
  const moves = (await (await store.reader(turn)).events()).filter(({ restore }) => restore !== undefined)
  expect(moves.length).toBeLessThanOrEqual(1)
  if (acked.some(({ isDone }) => isDone === true)) expect(moves.length).toBe(1)
  expect(treeOn(disk)).toEqual(moves.length === 0 ? newTree : oldTree)
  expect([...disk.files()].filter(([path]) => path.includes('/.coppice-')).map(([path]) => path)).toEqual([])
  store.close()
}

export const works: Record<string, Work> = {
  create: {
    run: async (store, _, ack) => {
      const session = await store.create({ workspace, title: 'new', system: 'be brief' })
      ack({ session: session.id, ids: [session.id] })
    },
  },
  'create in a new workspace': {
    run: async (store, _, ack) => {
      const session = await store.create({ workspace: '/nowhere/v', title: 'in another' })
      ack({ session: session.id, ids: [session.id] })
      session.close()
    },
  },
  append: {
    run: async (store, { plain }, ack) => {
      const session = await store.open(plain)
      await appended(session, ack, user('one'), withImage('two'), user('w'.repeat(1200)))
      session.close()
    },
  },
  'append without a sync, and then with one': {
    run: async (store, { plain }, ack) => {
      const session = await store.open(plain)
      const soft = [...(await session.append(user('soft'), { durability: 'none' }))]
      soft.push(...(await session.append(assistant('w'.repeat(900)), { durability: 'none' })))
      ack({ session: plain, ids: [...idsOf(soft), ...idsOf(await session.append(user('hard')))] })
      session.close()
    },
  },
  'recovery of a torn tail': {
    before: async ({ fs, plain }) => {
      const [path = '', file] =
        [...fs.machine.disk.files()].find(([name]) => name.endsWith(`/${plain}/data.jsonl`)) ?? []
      const bytes = Buffer.from(file?.bytes.subarray(0, file.size) ?? [])
      putByHand(
        fs,
        path,
        Buffer.concat([bytes, Buffer.from(`{"id":"${'0'.repeat(32)}","par${'\0'.repeat(700)}`)]),
      )
    },
    run: async (store, { plain }, ack) => {
      const session = await store.open(plain)
      await appended(session, ack, user('after'), user('again'))
      session.close()
    },
  },
  'index write': {
    before: async ({ fs }) => {
      for (const [path] of [...fs.machine.disk.files()])
        if (path.endsWith('/metadata.jsonl')) fs.machine.disk.remove(path)
    },
    run: async (store, { plain }, ack) => {
      await store.list()
      const session = await store.open(plain)
      await appended(session, ack, user('one'))
      session.close()
      await store.reindex()
    },
  },
  checkpoint: {
    run: async (store, { fs, turn }, ack) => {
      const session = await store.open(turn)
      put(fs, 'a', 'three')
      const { id } = await session.checkpoint()
      if (id !== null) ack({ session: turn, ids: [id] })
      session.close()
    },
  },
  redact: {
    run: async (store, { plain, secret: event }, ack) => {
      await store.redact(plain, { events: [event] })
      ack({ session: plain, isDone: true })
    },
    left: async (disk, { plain, secret: event }, acked) => {
      const store = await newcomer(disk)
      const found = (await (await store.reader(plain)).events()).find(({ id }) => id === event)
      if (acked.some(({ isDone }) => isDone === true)) expect(found?.redacted).toBe(true)
      if (found?.redacted !== true)
        expect(JSON.stringify(await (await store.reader(plain)).resolved(found?.content))).toContain(secret)
      await store.redact(plain, { events: [event] })
      store.close()
      const still = [...disk.files()].filter(
        ([path, file]) =>
          !path.includes('/archive/redacted/') && file.bytes.subarray(0, file.size).includes(secret),
      )
      expect(still.map(([path]) => path)).toEqual([])
    },
  },
  restore: { run: undone, left: mustBeOldOrNew },
  'roll-back of a restore that was cut off': {
    base: async (world) => {
      const { base, calls } = await recordOn(world.fs.machine.disk.copy(), world, undone)
      const placed = calls.findLastIndex((call) => call.is === 'link' && call.to.startsWith(`${workspace}/`))
      const { disk } = replayed(base, calls, placed + 1)
      disk.cut(keepAll)
      return disk.copy()
    },
    run: async (store, { turn }) => (await store.open(turn)).close(),
    left: mustBeOldOrNew,
  },
  archive: {
    run: async (store, { plain }, ack) => {
      await store.archive(plain, 'archive')
      ack({ session: plain, place: 'archived' })
    },
    left: async (disk, { plain }, acked) => {
      const store = await newcomer(disk)
      // A day later, and none of it is older than a year.
      expect((await store.purge(365 * 24 * 3_600_000)).sessions).toEqual([])
      if (acked.some(({ place }) => place === 'archived'))
        expect((await store.archived()).map(({ id }) => id)).toContain(plain)
      store.close()
    },
  },
  'delete and purge': {
    before: async ({ store, plain }) => void (await store.archive(plain, 'delete')),
    run: async (store, { plain }, ack) => {
      await store.purge()
      ack({ session: plain, place: 'purged' })
    },
    left: async (disk, { plain }, acked) => {
      const store = await newcomer(disk)
      const before = (await store.archived()).map(({ id }) => id)
      if (acked.some(({ place }) => place === 'purged')) expect(before).not.toContain(plain)
      await store.purge()
      expect((await store.archived()).map(({ id }) => id)).toEqual([])
      expect((await store.list()).map(({ session }) => session)).not.toContain(plain)
      store.close()
    },
    gone: ({ plain }) => plain,
  },
}
