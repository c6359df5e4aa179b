import { describe, expect, test } from 'vitest'
import type { Damaged } from '../../src/events/errors/index.js'
import { sha256 } from '../../src/events/id.js'
import { encodeLine } from '../../src/events/line.js'
import { path, root } from '../support/cuts.js'
import { allOf, chainOn, idsOf, left, logOn, messageOn, readAll, right, timeAt } from '../support/logs.js'
import { failing, MemoryFs, type Operation } from '../support/memory-fs.js'

const first = messageOn(root.id, 1)
const blob = Buffer.from('a large value')
const blobs = new Map([[sha256(blob), blob]])

describe('a new session', () => {
  test('is there whole, with its blobs, and on disk', async () => {
    const fs = new MemoryFs()
    const log = logOn(fs)
    const { lines, tail } = await right(log.create([root, first], 'sync', blobs))
    expect([lines.map(({ offset }) => offset), tail]).toEqual([[0, root.bytes.length + 1], first.id])
    expect(fs.paths()).toEqual([`/store/${root.id}/blobs/${sha256(blob)}`, path].sort())
    const left = logOn(fs.afterPowerCut())
    expect(idsOf(await allOf(left.readForward(root.id)))).toEqual(idsOf([root, first]))
    expect(await left.blobs.get(root.id, { $blob: sha256(blob), bytes: 13, as: 'text' })).toEqual(blob)
    expect(log.sessions()).toEqual([root.id])
    await right(log.append(root.id, first.id, [messageOn(first.id, 2)]))
  })

  test.each(['write', 'sync', 'rename', 'open', 'syncDir'] as Operation[])(
    'whose making fails in any %s is not there, or is there whole',
    async (operation) => {
      for (let nth = 1; nth <= 4; nth++) {
        const fs = new MemoryFs()
        const log = logOn(fs)
        fs.fault = failing(operation, 'EIO', nth)
        const made = await log.create([root, first], 'sync', blobs)()
        fs.fault = () => undefined
        const whole = fs.paths().includes(path)
        if (made._tag === 'Right') expect(whole).toBe(true)
        else expect(made.left.tag).toBe('WriteFailed')
        if (whole) expect((await allOf(log.readForward(root.id))).length).toBe(2)
        else expect([fs.paths(), log.sessions()]).toEqual([[], []])
      }
    },
  )

  test('that is there already is refused with StaleTail, and stays as it is', async () => {
    const fs = new MemoryFs()
    await right(logOn(fs).create([root, first]))
    const before = fs.bytesOf(path)
    expect((await left(logOn(fs).create([root]))).tag).toBe('StaleTail')
    // Two at once: the second finds out only when it renames.
    const other = new MemoryFs()
    const both = await Promise.all([logOn(other, '/s').create([root])(), logOn(other, '/s').create([root])()])
    expect(both.map(({ _tag }) => _tag).sort()).toEqual(['Left', 'Right'])
    expect(both.find(({ _tag }) => _tag === 'Left')).toMatchObject({ left: { tag: 'StaleTail' } })
    expect(fs.bytesOf(path).equals(before)).toBe(true)
  })

  test('whose folder another process takes at the last moment is refused with StaleTail', async () => {
    const fs = new MemoryFs()
    fs.fault = (operation) => {
      if (operation === 'rename') fs.put(path, root.bytes)
      return undefined
    }
    expect((await left(logOn(fs).create([root, first]))).tag).toBe('StaleTail')
    expect(fs.paths()).toEqual([path])
    expect(fs.bytesOf(path).equals(root.bytes)).toBe(true)
  })

  test('longer than one write is written in parts', async () => {
    const fs = new MemoryFs()
    const lines = [root, ...chainOn(root.id, 1, 10, 'x'.repeat(1_000_000))]
    await right(logOn(fs).create(lines))
    expect(idsOf(await allOf(logOn(fs).readForward(root.id)))).toEqual(idsOf(lines))
    expect(fs.count('write')).toBeGreaterThan(2)
  })

  test('begins with its root: anything else is a broken invariant', async () => {
    await expect(logOn(new MemoryFs()).create([first])()).rejects.toThrow(TypeError)
    await expect(logOn(new MemoryFs()).create([])()).rejects.toThrow(TypeError)
  })
})

describe('a session that is not there', () => {
  test('is not found by readers, has moved for writers, and has no stamp', async () => {
    const log = logOn(new MemoryFs())
    await expect(allOf(log.readForward(root.id))).rejects.toMatchObject({ tag: 'NotFound' })
    await expect(allOf(log.readBackward(root.id))).rejects.toMatchObject({ tag: 'NotFound' })
    expect((await left(log.append(root.id, root.id, [first]))).tag).toBe('Moved')
    expect(log.stamp(root.id)).toBe(null)
    expect(log.sessions()).toEqual([])
  })

  test('but whose folder is, has lost its log: damage (INV-8)', async () => {
    const fs = new MemoryFs()
    fs.makeDir(`/store/${root.id}`)
    const log = logOn(fs)
    expect(log.sessions()).toEqual([root.id])
    const { error } = await readAll(() => log.readForward(root.id))
    expect((error as Damaged).damage.kind).toBe('no-root')
  })

  test('an id from outside never becomes a path (INV-12)', async () => {
    const fs = new MemoryFs()
    fs.put('/secret/data.jsonl', Buffer.from('x'))
    const log = logOn(fs)
    for (const id of ['../secret', '..', '', 'A'.repeat(32), `${root.id}/../../secret`, `${root.id}\n`]) {
      await expect(allOf(log.readForward(id))).rejects.toMatchObject({ tag: 'NotFound' })
      expect((await left(log.append(id, root.id, [first]))).tag).toBe('Moved')
      expect((await left(log.blobs.put(id, blobs))).tag).toBe('Moved')
      expect(log.stamp(id)).toBe(null)
    }
    expect(fs.paths()).toEqual(['/secret/data.jsonl'])
  })
})

describe('a log of a newer version', () => {
  const newerRoot = encodeLine(
    { parent: null, at: timeAt(0), type: 'session', note: false },
    { format: 2, nonce: 'n' },
  )

  test('whose root is of another format is refused, wherever a reader begins', async () => {
    const fs = new MemoryFs()
    const log = logOn(fs)
    await right(log.create([newerRoot, messageOn(newerRoot.id, 1)]))
    const reads = [log.readForward(newerRoot.id), log.readBackward(newerRoot.id)]
    for (const read of [...reads, log.readForward(newerRoot.id, { from: newerRoot.bytes.length + 1 })])
      await expect(allOf(read)).rejects.toMatchObject({ tag: 'NewerFormat', needs: 'format 2' })
  })

  test('that holds an unknown type marked required stops readers, and names what it needs', async () => {
    const log = logOn(new MemoryFs())
    const payload = { required: true, needs: 'coppice 3' }
    const required = encodeLine({ parent: first.id, at: timeAt(5), type: 'quantum', note: false }, payload)
    await right(log.create([root, first, required]))
    for (const read of [log.readForward(root.id), log.readBackward(root.id, { salvage: true })])
      await expect(allOf(read)).rejects.toMatchObject({
        tag: 'NewerFormat',
        needs: 'coppice 3, for the event type quantum',
      })
  })

  test('that holds an unknown type not so marked is read', async () => {
    const log = logOn(new MemoryFs())
    const unknown = encodeLine(
      { parent: first.id, at: timeAt(5), type: 'quantum', note: false },
      { required: 'yes' },
    )
    await right(log.create([root, first, unknown]))
    expect((await allOf(log.readForward(root.id))).length).toBe(3)
  })
})
