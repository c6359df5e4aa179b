import { describe, expect, test } from 'vitest'
import type { Line } from '../../src/events/line.js'
import { fsWith, path, root } from '../support/cuts.js'
import { allOf, bytesOf, chainOn, idsOf, left, logOn, messageOn, right } from '../support/logs.js'

const first = messageOn(root.id, 1)
const start = bytesOf(root, first)

describe('appends that wait', () => {
  test('share writes and syncs, and keep their order', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const lines = chainOn(first.id, 2, 64)
    const appended = await Promise.all(
      lines.map((line, i) => right(log.append(root.id, lines[i - 1]?.id ?? first.id, [line]))),
    )
    expect(appended.map(({ tail }) => tail)).toEqual(idsOf(lines))
    expect(fs.count('sync')).toBe(2)
    expect(fs.count('write')).toBe(2)
    const read = await allOf(log.readForward(root.id))
    expect(idsOf(read)).toEqual(idsOf([root, first, ...lines]))
    // Each is told where its lines stand.
    expect(appended.flatMap(({ lines: own }) => own.map(({ offset }) => offset))).toEqual(
      read.slice(2).map(({ offset }) => offset),
    )
  })

  test('on a stale tail are refused with what the tail is; those that follow the rest go on', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const [a, b, c] = chainOn(first.id, 2, 3) as [Line, Line, Line]
    const stale = messageOn(first.id, 9)
    const [one, two, three, four] = await Promise.all([
      log.append(root.id, first.id, [a])(),
      log.append(root.id, a.id, [b])(),
      log.append(root.id, first.id, [stale])(),
      log.append(root.id, b.id, [c])(),
    ])
    expect([one, two, three, four].map(({ _tag }) => _tag)).toEqual(['Right', 'Right', 'Left', 'Right'])
    expect(three).toMatchObject({ left: { tag: 'StaleTail', expected: first.id, actual: c.id } })
    expect(idsOf(await allOf(log.readForward(root.id)))).toEqual(idsOf([root, first, a, b, c]))
  })

  test('of no durability sync nothing; one among them that wants it syncs all', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const lines = chainOn(first.id, 2, 5)
    for (const [i, line] of lines.entries())
      await right(log.append(root.id, lines[i - 1]?.id ?? first.id, [line], 'none'))
    expect(fs.count('sync')).toBe(0)
    const last = messageOn(lines[4]?.id as string, 50)
    await right(log.append(root.id, lines[4]?.id as string, [last], 'sync'))
    expect(fs.count('sync')).toBe(1)
    expect(fs.afterPowerCut().bytesOf(path).equals(fs.bytesOf(path))).toBe(true)
  })

  test('are acked after the sync and not before (INV-2)', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const second = messageOn(first.id, 2)
    await right(log.append(root.id, first.id, [second]))
    expect(fs.afterPowerCut().bytesOf(path).includes(second.bytes)).toBe(true)
  })

  test('cost one stat and no read each, once the log is open (INV-11)', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const lines = chainOn(first.id, 2, 11)
    await right(log.append(root.id, first.id, [lines[0] as Line]))
    const [reads, stats] = [fs.count('read'), fs.count('stat')]
    for (const [i, line] of lines.slice(1).entries())
      await right(log.append(root.id, lines[i]?.id as string, [line]))
    expect([fs.count('read') - reads, fs.count('stat') - stats]).toEqual([0, 10])
  })

  test('of one log go on while it is closed: what is under way ends, on the file that it began on', async () => {
    const fs = fsWith(start)
    const log = logOn(fs)
    const lines = chainOn(first.id, 2, 3)
    const waiting = lines.map((line, i) => right(log.append(root.id, lines[i - 1]?.id ?? first.id, [line])))
    log.close()
    await Promise.all(waiting)
    expect(
      fs
        .afterPowerCut()
        .bytesOf(path)
        .equals(bytesOf(root, first, ...lines)),
    ).toBe(true)
    await right(log.append(root.id, lines[2]?.id as string, [messageOn(lines[2]?.id as string, 9)]))
  })
})

describe('the recovered note of a log', () => {
  test('goes with the first append that wrote anything', async () => {
    const fs = fsWith(Buffer.concat([start, Buffer.from('{"id":"torn')]))
    const log = logOn(fs)
    const second = messageOn(first.id, 2)
    const third = messageOn(second.id, 3)
    const [nothing, empty, some, more] = await Promise.all([
      right(log.append(root.id, first.id, [])),
      right(log.append(root.id, first.id, [])),
      right(log.append(root.id, first.id, [second])),
      right(log.append(root.id, second.id, [third])),
    ])
    expect(idsOf(more.lines)).toEqual([third.id])
    expect([nothing.lines, empty.lines]).toEqual([[], []])
    expect(some.lines.map(({ type }) => type)).toEqual(['recovered', 'message'])
    expect(some.tail).toBe(second.id)
  })

  test('does not keep an append from being stale', async () => {
    const fs = fsWith(Buffer.concat([start, Buffer.from('{"id":"torn')]))
    const refused = await left(logOn(fs).append(root.id, root.id, [messageOn(root.id, 2)]))
    expect(refused).toMatchObject({ tag: 'StaleTail', expected: root.id, actual: first.id })
    expect(fs.bytesOf(path).toString().endsWith('torn')).toBe(true)
  })
})
