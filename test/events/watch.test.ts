import { describe, expect, test } from 'vitest'
import type { Line } from '../../src/events/line.js'
import type { EventLog } from '../../src/events/log.js'
import { fsWith, path, root } from '../support/cuts.js'
import { bytesOf, chainOn, idsOf, logOn, messageOn, right } from '../support/logs.js'
import type { MemoryFs } from '../support/memory-fs.js'

const first = messageOn(root.id, 1)
const start = bytesOf(root, first)
const [second, third, fourth] = chainOn(first.id, 2, 3) as [Line, Line, Line]

/** Follows a log into a list, until `until` lines came or the watch ended. */
const follow = (log: EventLog, after?: string) => {
  const abort = new AbortController()
  const seen: string[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const ended = (async () => {
    const options = { signal: abort.signal, ...(after === undefined ? {} : { after }) }
    for await (const lines of log.watch(root.id, options)) {
      seen.push(...idsOf(lines))
      for (const { count, resolve } of waiting) if (seen.length >= count) resolve()
    }
  })()
  ended.catch(() => undefined)
  const until = (count: number): Promise<void> =>
    seen.length >= count
      ? Promise.resolve()
      : Promise.race([new Promise<void>((resolve) => waiting.push({ count, resolve })), ended])
  return { abort, seen, ended, until }
}

const add = (fs: MemoryFs, bytes: Uint8Array): void => {
  const file = fs.open(path, 'append')
  file.write(bytes)
  file.close()
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

describe('watching a log', () => {
  test('gives what comes after the event that it was told, by id', async () => {
    const fs = fsWith(Buffer.concat([start, bytesOf(second, third)]))
    const watch = follow(logOn(fs), first.id)
    await watch.until(2)
    add(fs, bytesOf(fourth))
    await watch.until(3)
    expect(watch.seen).toEqual(idsOf([second, third, fourth]))
    watch.abort.abort()
    await watch.ended
  })

  test('gives what comes from now on where it is told none', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs))
    await settled()
    expect(watch.seen).toEqual([])
    await right(logOn(fs).append(root.id, first.id, [second]))
    await watch.until(1)
    expect(watch.seen).toEqual([second.id])
    watch.abort.abort()
    await watch.ended
  })

  test('of an event that is nowhere in it rejects with LogLostTail', async () => {
    await expect(follow(logOn(fsWith(start)), 'f'.repeat(32)).ended).rejects.toMatchObject({
      tag: 'LogLostTail',
    })
  })

  test('gives a line once it is whole, however small the writes, and each but once', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs), first.id)
    const bytes = bytesOf(second, third)
    for (let at = 0; at < bytes.length; at += 7) {
      add(fs, bytes.subarray(at, at + 7))
      if (at % 70 === 0) await settled()
    }
    await watch.until(2)
    await settled()
    expect(watch.seen).toEqual(idsOf([second, third]))
    watch.abort.abort()
    await watch.ended
  })

  test('gives a line without its newline, and the one after it', async () => {
    const fs = fsWith(Buffer.concat([start, second.bytes]))
    const watch = follow(logOn(fs), first.id)
    await watch.until(1)
    await right(logOn(fs).append(root.id, second.id, [third]))
    await watch.until(2)
    add(fs, fourth.bytes)
    await watch.until(3)
    expect(watch.seen).toEqual(idsOf([second, third, fourth]))
    watch.abort.abort()
    await watch.ended
  })

  test('from a last line without its newline goes on after it', async () => {
    const fs = fsWith(start.subarray(0, -1))
    const watch = follow(logOn(fs))
    await settled()
    await right(logOn(fs).append(root.id, first.id, [second]))
    await watch.until(1)
    expect(watch.seen).toEqual([second.id])
    watch.abort.abort()
    await watch.ended
  })

  test('passes over a torn tail once it is named', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs))
    await settled()
    add(fs, second.bytes.subarray(0, 90))
    await settled()
    expect(watch.seen).toEqual([])
    const others = chainOn(first.id, 9, 2)
    const { lines } = await right(logOn(fs).append(root.id, first.id, others))
    await watch.until(3)
    expect(watch.seen).toEqual(idsOf(lines))
    watch.abort.abort()
    await watch.ended
  })

  test('follows a file that was put in its place, from the last line given', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs))
    await right(logOn(fs).append(root.id, first.id, [second]))
    await watch.until(1)
    fs.replace(path, bytesOf(root, first, second, third))
    await watch.until(2)
    fs.replace(path, bytesOf(root, first, second, third))
    await settled()
    add(fs, bytesOf(fourth))
    await watch.until(3)
    expect(watch.seen).toEqual(idsOf([second, third, fourth]))
    fs.replace(path, bytesOf(root, first))
    await expect(watch.ended).rejects.toMatchObject({ tag: 'LogLostTail' })
  })

  test('gives the lines before damage, then rejects', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs))
    await settled()
    add(fs, Buffer.concat([bytesOf(second), Buffer.from('junk\n'), bytesOf(third)]))
    await expect(watch.ended).rejects.toMatchObject({ tag: 'Damaged' })
    expect(watch.seen).toEqual([second.id])
  })

  test('ends when it is aborted, before, while it waits and while it gives', async () => {
    const fs = fsWith(Buffer.concat([start, bytesOf(second)]))
    const before = new AbortController()
    before.abort()
    for await (const _ of logOn(fs).watch(root.id, { after: first.id, signal: before.signal }))
      throw new Error('it was aborted')
    const waits = follow(logOn(fs))
    await settled()
    waits.abort.abort()
    await waits.ended
    const gives = new AbortController()
    for await (const _ of logOn(fs).watch(root.id, { after: root.id, signal: gives.signal })) gives.abort()
  })

  test('ends with Moved where the folder goes, and with NotFound where there is none', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs))
    await settled()
    fs.rename(`/store/${root.id}`, '/archive')
    await expect(watch.ended).rejects.toMatchObject({ tag: 'Moved' })
    await expect(follow(logOn(fs)).ended).rejects.toMatchObject({ tag: 'NotFound' })
  })

  test('loses no line while others write at once', async () => {
    const fs = fsWith(start)
    const watch = follow(logOn(fs), first.id)
    const lines = chainOn(first.id, 2, 200)
    const log = logOn(fs)
    for (const [i, line] of lines.entries())
      await right(log.append(root.id, lines[i - 1]?.id ?? first.id, [line]))
    await watch.until(200)
    expect(watch.seen).toEqual(idsOf(lines))
    watch.abort.abort()
    await watch.ended
  })
})
