import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { MemoryFs, systemError } from '../support/memory-fs.js'
import { assistant, logOf, memoryStore, newSession, say, user } from './stores.js'

const secret = 'the horse is called Trigger'

/** A session whose secret stands in a message, in a blob, in what an undo copied, and in the saved index. */
const begun = async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  await say(session, user('what is its name?'))
  const answer = await say(session, assistant(`${secret} ${'x'.repeat(70_000)}`))
  const prompt = await say(session, user('more'))
  await say(session, assistant('no'))
  await session.undo(prompt.id)
  session.close()
  await store.list()
  return { fs, id: session.id, answer, old: fs.bytesOf(logOf(fs, session.id)) }
}

/** The process dies at the nth thing that it asks of the system, counted from 1: nothing works for it from then on. */
const dyingAt = (fs: MemoryFs, nth: number): { died: boolean } => {
  const life = { died: false }
  let asked = 0
  fs.fault = () => {
    asked++
    if (asked < nth) return undefined
    life.died = true
    throw systemError('EIO')
  }
  return life
}

/** What fails once and then works again. */
const failingAt = (fs: MemoryFs, nth: number): { died: boolean } => {
  const life = { died: false }
  let asked = 0
  fs.fault = () => {
    asked++
    if (asked !== nth) return undefined
    life.died = true
    throw systemError('ENOSPC')
  }
  return life
}

const idsOf = (events: readonly Event[]): readonly string[] => events.map(({ id }) => id)

type World = Awaited<ReturnType<typeof begun>>

const copyOf = (fs: MemoryFs): MemoryFs => {
  const copy = new MemoryFs()
  for (const path of fs.paths()) copy.put(path, fs.bytesOf(path))
  return copy
}

/** Runs a redaction that is stopped at its nth call, for every n there is, and looks at what is left each time. */
const stoppedEverywhere = async (
  stop: (fs: MemoryFs, nth: number) => { died: boolean },
  left: (fs: MemoryFs) => MemoryFs,
): Promise<{ readonly stops: number; readonly old: number; readonly new: number }> => {
  let [old, renewed] = [0, 0]
  const first = await begun()
  for (let nth = 1; ; nth++) {
    const world: World = { ...first, fs: copyOf(first.fs) }
    const life = stop(world.fs, nth)
    const store = await memoryStore(world.fs).catch(() => null)
    const failed = await store?.redact(world.id, { events: [world.answer.id] }).then(
      () => false,
      () => true,
    )
    world.fs.fault = () => undefined
    store?.close()
    const fs = left(world.fs)
    if (!life.died) return { stops: nth - 1, old, new: renewed }
    const isOld = await check(fs, world)
    if (isOld) old++
    else renewed++
    if (failed === false) expect(isOld).toBe(false)
  }
}

/** Either the old log, byte for byte, or the new one; then the same redaction again leaves nothing of the secret. */
const check = async (fs: MemoryFs, { id, answer, old }: World): Promise<boolean> => {
  const isOld = fs.bytesOf(logOf(fs, id)).equals(old)
  const store = await memoryStore(fs)
  const events = await (await store.reader(id)).events()
  const note = events.at(-1)
  if (!isOld) expect(note).toMatchObject({ type: 'redaction', ids: expect.arrayContaining([answer.id]) })
  expect(events.find((event) => event.id === answer.id)?.redacted ?? false).toBe(!isOld)
  await store.redact(id, { events: [answer.id] })
  const after = await (await store.reader(id)).events()
  expect(idsOf(after).slice(0, 6)).toEqual(idsOf(events).slice(0, 6))
  expect(after.filter(({ type }) => type === 'redaction')).toHaveLength(1)
  const inArchive = (path: string): boolean => path.includes('/archive/redacted/')
  expect(fs.paths().filter((path) => !inArchive(path) && fs.bytesOf(path).includes(secret))).toEqual([])
  expect(fs.paths().filter((path) => inArchive(path) && fs.bytesOf(path).equals(old))).toHaveLength(1)
  expect(fs.paths().filter((path) => path.includes('.unfinished'))).toEqual([])
  expect((await store.verify()).problems).toEqual([])
  store.close()
  return isOld
}

describe('a redaction that is stopped anywhere leaves the old log or the new one', () => {
  it('when the process is killed at any call of the system', async () => {
    const seen = await stoppedEverywhere(dyingAt, (fs) => fs)
    expect(seen.stops).toBeGreaterThan(30)
    expect(seen.old).toBeGreaterThan(10)
    expect(seen.new).toBeGreaterThan(3)
  })

  it('when the power is cut at any call of the system', async () => {
    const seen = await stoppedEverywhere(dyingAt, (fs) => fs.afterPowerCut())
    expect(seen.old).toBeGreaterThan(10)
    expect(seen.new).toBeGreaterThan(3)
  })

  it('when any one call fails', async () => {
    const seen = await stoppedEverywhere(failingAt, (fs) => fs)
    expect(seen.old).toBeGreaterThan(10)
    expect(seen.new).toBeGreaterThan(3)
  })
})

it('verify says that a redaction is unfinished, until another one ends it', async () => {
  const { fs, id, answer } = await begun()
  const store = await memoryStore(fs)
  // The process dies at the rename by which the folder would get its final name.
  fs.fault = (operation, path) => {
    if (operation === 'rename' && path.includes('/archive/redacted/')) throw systemError('EIO')
    return undefined
  }
  await expect(store.redact(id, { events: [answer.id] })).rejects.toThrow()
  fs.fault = () => undefined
  expect((await store.verify()).problems).toMatchObject([{ session: id, kind: 'redaction-unfinished' }])
  expect((await store.purge()).copies).toEqual([])
  expect(await store.redact(id, { events: [answer.id] })).toMatchObject({ redacted: [], archived: null })
  expect((await store.verify()).problems).toEqual([])
  expect((await store.purge()).copies).toMatchObject([{ session: id, kind: 'redacted' }])
  expect(fs.paths().filter((path) => fs.bytesOf(path).includes(secret))).toEqual([])
})
