import { describe, expect, test } from 'vitest'
import { unsyncedMark } from '../../src/events/file-log/constants.js'
import type { Line } from '../../src/events/line.js'
import { fsWith, path, root } from '../support/cuts.js'
import { allOf, bytesOf, chainOn, idsOf, left, logOn, messageOn, readAll, right } from '../support/logs.js'
import { failing, type MemoryFs, systemError } from '../support/memory-fs.js'

const first = messageOn(root.id, 1)
const start = bytesOf(root, first)
const isMarked = (fs: MemoryFs): boolean => ((fs.stat(path)?.mode ?? 0) & unsyncedMark) !== 0
const readBack = async (fs: MemoryFs): Promise<string[]> => idsOf(await allOf(logOn(fs).readForward(root.id)))

describe('a failed sync', () => {
  const unsynced = async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const second = messageOn(first.id, 2)
    fs.fault = failing('sync', 'EIO')
    const refused = await left(log.append(root.id, first.id, [second]))
    return { fs, log, second, refused }
  }

  test('rejects the append, and marks the file for every other process', async () => {
    const { fs, refused } = await unsynced()
    expect(refused.tag).toBe('SyncFailed')
    expect(isMarked(fs)).toBe(true)
  })

  test('makes the next append, by any process, prove and copy the log before anything is acked', async () => {
    const { fs, log, second } = await unsynced()
    const other = logOn(fs)
    const before = fs.stat(path)?.ino
    const third = messageOn(second.id, 3)
    await right(other.append(root.id, second.id, [third]))
    expect(fs.stat(path)?.ino).not.toBe(before)
    expect(isMarked(fs)).toBe(false)
    expect(await readBack(fs.afterPowerCut())).toEqual(idsOf([root, first, second, third]))
    // The first process notices that its handle is no longer the file at the path.
    const fourth = messageOn(third.id, 4)
    await right(log.append(root.id, third.id, [fourth]))
    expect(await readBack(fs.afterPowerCut())).toEqual(idsOf([root, first, second, third, fourth]))
    expect(fs.paths()).toEqual([path])
  })

  test('is also overcome by an append of nothing, which acks what it found', async () => {
    const { fs, log, second } = await unsynced()
    expect(await right(log.append(root.id, second.id, []))).toEqual({ lines: [], tail: second.id })
    expect(await readBack(fs.afterPowerCut())).toEqual(idsOf([root, first, second]))
  })

  test('rejects what waited behind it', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const [a, b, c] = chainOn(first.id, 2, 3) as [Line, Line, Line]
    fs.fault = failing('sync', 'EIO')
    const waiting = [
      log.append(root.id, first.id, [a])(),
      log.append(root.id, a.id, [b])(),
      log.append(root.id, b.id, [c])(),
    ]
    expect((await Promise.all(waiting)).map(({ _tag }) => _tag)).toEqual(['Left', 'Left', 'Left'])
    expect(await readBack(fs)).toEqual(idsOf([root, first, a]))
  })

  test.each(['sync', 'write', 'rename', 'open'] as const)(
    'whose rescue fails in its %s stays marked, acks nothing, and is rescued later',
    async (operation) => {
      const { fs, second } = await unsynced()
      const other = logOn(fs)
      fs.fault = (what, at) => {
        if (what === operation && (at !== path || what === 'rename')) throw systemError('EIO')
        return undefined
      }
      const third = messageOn(second.id, 3)
      const refused = await left(other.append(root.id, second.id, [third]))
      expect(['SyncFailed', 'WriteFailed']).toContain(refused.tag)
      expect(isMarked(fs)).toBe(true)
      fs.fault = () => undefined
      await right(other.append(root.id, second.id, [third]))
      expect(await readBack(fs.afterPowerCut())).toEqual(idsOf([root, first, second, third]))
      expect(fs.paths()).toEqual([path])
    },
  )

  test('whose rescue cannot sync the folder leaves the copy marked too', async () => {
    const { fs, second } = await unsynced()
    fs.fault = failing('syncDir', 'EIO')
    const third = messageOn(second.id, 3)
    expect((await left(logOn(fs).append(root.id, second.id, [third]))).tag).toBe('SyncFailed')
    expect(isMarked(fs)).toBe(true)
    await right(logOn(fs).append(root.id, second.id, [third]))
    expect(isMarked(fs)).toBe(false)
  })

  test('that leaves no whole line is recovered from in the copy', async () => {
    const { fs, second } = await unsynced()
    fs.put(path, Buffer.concat([start, second.bytes.subarray(0, 80), Buffer.alloc(100)]))
    const third = messageOn(first.id, 3)
    const { lines } = await right(logOn(fs).append(root.id, first.id, [third]))
    expect(lines.map(({ type }) => type)).toEqual(['recovered', 'message'])
    expect(await readBack(fs)).toEqual(idsOf([root, first, ...lines]))
  })

  test('that cannot even be marked is remembered by the process that saw it', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const second = messageOn(first.id, 2)
    fs.fault = (operation) => {
      if (operation === 'sync' || operation === 'chmod') throw systemError('EIO')
      return undefined
    }
    expect((await left(log.append(root.id, first.id, [second]))).tag).toBe('SyncFailed')
    fs.fault = () => undefined
    const before = fs.stat(path)?.ino
    await right(log.append(root.id, second.id, [messageOn(second.id, 3)]))
    expect(fs.stat(path)?.ino).not.toBe(before)
  })

  test('on a file system that keeps no modes costs one copy, and appends go on', async () => {
    const { fs, log, second } = await unsynced()
    const plain = fs.stat.bind(fs)
    fs.stat = (at) => {
      const stat = plain(at)
      return stat === null ? null : { ...stat, mode: 0o777 }
    }
    const [a, b] = chainOn(second.id, 3, 2) as [Line, Line]
    await right(log.append(root.id, second.id, [a]))
    const ino = fs.stat(path)?.ino
    await right(log.append(root.id, a.id, [b]))
    expect(fs.stat(path)?.ino).toBe(ino)
  })
})

describe('a write that is cut short', () => {
  test('at any byte rejects, leaves whole events and at most a fragment, which the next append names (INV-2)', async () => {
    const batch = chainOn(first.id, 2, 2)
    const bytes = bytesOf(...batch)
    for (let taken = 0; taken < bytes.length; taken++) {
      const fs = fsWith(start)
      const log = logOn(fs)
      fs.fault = (operation) => (operation === 'write' ? taken : undefined)
      expect((await left(log.append(root.id, first.id, batch))).tag).toBe('WriteFailed')
      fs.fault = () => undefined
      const { lines } = await readAll((report) => log.readForward(root.id, { report }))
      expect(idsOf([root, first, ...batch])).toEqual(expect.arrayContaining(idsOf(lines)))
      const tail = lines[lines.length - 1] as Line
      const next = messageOn(tail.id, 9)
      await right(log.append(root.id, tail.id, [next]))
      const after = await readAll((report) => log.readForward(root.id, { report }))
      expect([after.error, after.told]).toEqual([null, []])
      expect(
        idsOf(after.lines)
          .filter((id) => !idsOf(lines).includes(id))
          .at(-1),
      ).toBe(next.id)
    }
  })

  test.each(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'])('by %s rejects with WriteFailed', async (code) => {
    const fs = fsWith(start)
    const log = logOn(fs)
    fs.fault = failing('write', code)
    const refused = await left(log.append(root.id, first.id, [messageOn(first.id, 2)]))
    expect(refused.tag).toBe('WriteFailed')
    expect(refused.message).toContain(code)
    await right(log.append(root.id, first.id, [messageOn(first.id, 2)]))
  })
})

describe('a batch longer than 4 MiB', () => {
  test('is written in parts of whole lines, each on disk before the next (INV-2)', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const lines = chainOn(first.id, 2, 12, 'x'.repeat(900_000))
    const sizes: number[] = []
    const order: string[] = []
    fs.fault = (operation, _path, bytes) => {
      if (operation === 'write') sizes.push(bytes)
      if (operation === 'write' || operation === 'sync') order.push(operation)
      return undefined
    }
    await right(log.append(root.id, first.id, lines))
    expect(sizes.length).toBe(3)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024)
    expect(order).toEqual(['write', 'sync', 'write', 'sync', 'write', 'sync'])
    expect(await readBack(fs)).toEqual(idsOf([root, first, ...lines]))
  })
})
