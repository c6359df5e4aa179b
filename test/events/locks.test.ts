import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { StaleTail } from '../../src/events/errors/index.js'
import { fileLog } from '../../src/events/file-log/file-log.js'
import type { Line } from '../../src/events/line.js'
import type { EventLog } from '../../src/events/log.js'
import { fsWith, path, root } from '../support/cuts.js'
import {
  allOf,
  bytesOf,
  chainOn,
  countingRandom,
  idsOf,
  left,
  logOn,
  messageOn,
  right,
  stillClock,
} from '../support/logs.js'
import { failing } from '../support/memory-fs.js'

const first = messageOn(root.id, 1)
const start = bytesOf(root, first)
const second = messageOn(first.id, 2)

afterEach(() => {
  vi.useRealTimers()
})

describe('a lock that another process holds', () => {
  test('past the deadline rejects with Locked, and names the process', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const fs = fsWith(start)
    fs.open(path, 'append').tryLock('exclusive')
    const log = fileLog({
      fs,
      clock: stillClock,
      random: countingRandom(),
      folder: '/store',
      holder: (session) => (session === root.id ? 4711 : null),
    })
    const refused = left(log.append(root.id, first.id, [second]))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await refused).toMatchObject({ tag: 'Locked', pid: 4711 })
    expect(fs.bytesOf(path).equals(start)).toBe(true)
  })

  test('for a while is waited for', async () => {
    const fs = fsWith(start)
    const holder = fs.open(path, 'append')
    holder.tryLock('exclusive')
    const appended = right(logOn(fs).append(root.id, first.id, [second]))
    setTimeout(() => holder.unlock(), 30)
    expect((await appended).tail).toBe(second.id)
  })

  test('while it writes does not keep a reader for longer than its patience', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const fs = fsWith(Buffer.concat([start, Buffer.from('{"id"')]))
    fs.open(path, 'append').tryLock('exclusive')
    const read = allOf(logOn(fs).readForward(root.id))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(idsOf(await read)).toEqual(idsOf([root, first]))
  })

  test('makes a reader that sees a torn tail look again when it is done', async () => {
    const fs = fsWith(Buffer.concat([start, second.bytes.subarray(0, 50)]))
    const writer = fs.open(path, 'append')
    writer.tryLock('exclusive')
    const told: unknown[] = []
    const read = allOf(logOn(fs).readForward(root.id, { report: (damage) => told.push(damage) }))
    setTimeout(() => {
      writer.write(Buffer.concat([second.bytes.subarray(50), Buffer.from('\n')]))
      writer.unlock()
    }, 20)
    expect(idsOf(await read)).toEqual(idsOf([root, first, second]))
    expect(told).toEqual([])
  })
})

describe('a writer that never rests', () => {
  test('lets others in all the same', async () => {
    const fs = fsWith(start)
    const logOfProcess = (): EventLog =>
      fileLog({ fs, clock: Date, random: countingRandom(), folder: '/store' })
    const [busy, other] = [logOfProcess(), logOfProcess()]
    let tail = first.id
    let isDone = false
    const writing = (async () => {
      for (let ms = 100; !isDone; ms++) {
        const line = messageOn(first.id, ms)
        const made = await busy.append(root.id, tail, [line])()
        tail = E.isRight(made) ? made.right.tail : ((made.left as StaleTail).actual ?? tail)
      }
    })()
    const waits: number[] = []
    for (let i = 0; i < 5; i++) {
      const from = Date.now()
      // Refused for its stale tail, which it learns under the lock.
      await left(other.append(root.id, root.id, [second]))
      waits.push(Date.now() - from)
    }
    isDone = true
    await writing
    expect(Math.max(...waits)).toBeLessThan(2_000)
  })

  test('and syncs nothing leaves timers their turn', async () => {
    const log = fileLog({ fs: fsWith(start), clock: Date, random: countingRandom(), folder: '/store' })
    let isDue = false
    setTimeout(() => {
      isDue = true
    }, 1)
    let tail = first.id
    for (let ms = 2; !isDue; ms++) {
      const line = messageOn(tail, ms)
      tail = (await right(log.append(root.id, tail, [line], 'none'))).tail
    }
  })
})

describe('a file system', () => {
  test.each(['ENOLCK', 'ENOTSUP', 'ENOSYS'])(
    'without locks (%s) is refused for writing, not for reading',
    async (code) => {
      const fs = fsWith(Buffer.concat([start, Buffer.from('torn')]))
      fs.fault = failing('tryLock', code, 1, 1000)
      const log = logOn(fs)
      expect((await left(log.append(root.id, first.id, [second]))).tag).toBe('LocksUnsupported')
      expect(idsOf(await allOf(log.readForward(root.id)))).toEqual(idsOf([root, first]))
    },
  )

  test.each(['EACCES', 'EROFS', 'EPERM', 'EMFILE'])('that refuses with %s is told as such', async (code) => {
    const fs = fsWith(start)
    fs.fault = failing('open', code)
    const refused = await left(logOn(fs).append(root.id, first.id, [second]))
    expect(refused).toMatchObject({ tag: 'StoreUnusable' })
    expect(refused.message).toContain(code)
    fs.fault = failing('open', code)
    await expect(allOf(logOn(fs).readForward(root.id))).rejects.toMatchObject({ tag: 'StoreUnusable' })
  })

  test('that fails to read rejects with a tagged error', async () => {
    const fs = fsWith(start)
    fs.fault = failing('read', 'EIO', 2)
    await expect(allOf(logOn(fs).readForward(root.id))).rejects.toMatchObject({ tag: 'StoreUnusable' })
  })
})

describe('a log under an open handle', () => {
  test('that another process replaced is opened anew, and its own tail counts', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    await right(log.append(root.id, first.id, [second]))
    const old = fs.bytesOf(path)
    const third = messageOn(second.id, 3)
    fs.replace(path, Buffer.concat([old, bytesOf(third)]))
    const next = messageOn(third.id, 4)
    expect(await left(log.append(root.id, second.id, [next]))).toMatchObject({
      tag: 'StaleTail',
      actual: third.id,
    })
    await right(log.append(root.id, third.id, [next]))
    expect(idsOf(await allOf(log.readForward(root.id)))).toEqual(idsOf([root, first, second, third, next]))
  })

  test('that was replaced by one of the same size is opened anew too', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    await right(log.append(root.id, first.id, [second]))
    fs.replace(path, fs.bytesOf(path))
    await right(log.append(root.id, second.id, [messageOn(second.id, 3)]))
    expect(fs.bytesOf(path).toString()).toContain('message 3')
  })

  test('that is replaced while an append waits for its lock gets none of that append', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    await right(log.append(root.id, first.id, [second]))
    const replacer = fs.open(path, 'append')
    replacer.tryLock('exclusive')
    const third = messageOn(second.id, 3)
    const appended = right(log.append(root.id, second.id, [third]))
    const old = fs.bytesOf(path)
    fs.replace(path, old)
    replacer.close()
    await appended
    expect(fs.bytesOf(path).equals(Buffer.concat([old, bytesOf(third)]))).toBe(true)
  })

  test('that was moved away rejects with Moved, and makes no new file', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    await right(log.append(root.id, first.id, [second]))
    fs.rename(`/store/${root.id}`, '/archive')
    for (const one of [log, logOn(fs)])
      expect((await left(one.append(root.id, second.id, [messageOn(second.id, 3)]))).tag).toBe('Moved')
    expect(fs.paths()).toEqual(['/archive/data.jsonl'])
  })

  test('that other processes append to is followed without reading it again', async () => {
    const fs = fsWith(start)
    const [one, two] = [logOn(fs), logOn(fs)]
    const lines = chainOn(first.id, 2, 20)
    for (const [i, line] of lines.entries())
      await right((i % 2 === 0 ? one : two).append(root.id, lines[i - 1]?.id ?? first.id, [line]))
    expect(idsOf(await allOf(one.readForward(root.id)))).toEqual(idsOf([root, first, ...lines]))
  })

  test('that another process tore is recovered from, be it known or not', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    await right(log.append(root.id, first.id, [second]))
    const other = fs.open(path, 'append')
    other.write(Buffer.from('{"id":"torn'))
    const { lines } = await right(log.append(root.id, second.id, [messageOn(second.id, 3)]))
    expect(lines.map(({ type }: Line) => type)).toEqual(['recovered', 'message'])
  })
})

describe('many logs', () => {
  test('do not stay open all at once', async () => {
    const fs = fsWith(start)
    let open = 0
    let most = 0
    const opened = fs.open.bind(fs)
    fs.open = (at, mode) => {
      const file = opened(at, mode)
      const close = file.close.bind(file)
      if (mode === 'append') most = Math.max(most, ++open)
      file.close = () => {
        if (mode === 'append') open--
        close()
      }
      return file
    }
    const log = logOn(fs)
    for (let i = 1; i <= 100; i++) {
      const session = { ...root, id: i.toString(16).padStart(32, '0') }
      fs.put(`/store/${session.id}/data.jsonl`, start)
      await right(log.append(session.id, first.id, [second]))
    }
    expect(most).toBeLessThanOrEqual(65)
    log.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(open).toBe(0)
  })
})
