import { describe, expect, test } from 'vitest'
import type { Damaged } from '../../src/events/errors/index.js'
import { readBackward } from '../../src/events/file-log/read-backward.js'
import { readForward } from '../../src/events/file-log/read-forward.js'
import { sha256 } from '../../src/events/id.js'
import { encodeLine, type Line, parseLine } from '../../src/events/line.js'
import type { ReadOptions } from '../../src/events/log.js'
import { appendTo, cutAt, fsWith, mustReadAs, path, placed, root, stateOf } from '../support/cuts.js'
import {
  allOf,
  bytesOf,
  idsOf,
  left,
  logOn,
  messageOn,
  noteOn,
  readAll,
  right,
  timeAt,
} from '../support/logs.js'
import type { MemoryFs } from '../support/memory-fs.js'

const a = messageOn(root.id, 1)
const lost = messageOn(a.id, 2, 'what the power cut took '.repeat(3))
const child = messageOn(lost.id, 3)
const grandchild = messageOn(child.id, 4)
const remark = noteOn(child.id, 5)
const standing = messageOn(a.id, 6)

/** A log whose `hole`-th line lost its middle at a power cut. */
const holed = (lines: readonly Line[], hole: number, from = 20, to = -20): Buffer => {
  const bytes = bytesOf(...lines)
  const { offset, bytes: line } = placed(lines)[hole] as Line
  return Buffer.from(bytes.fill(0, offset + from, offset + line.length + to))
}

const lines = [root, a, lost, child, grandchild, remark, standing]
const holedBytes = holed(lines, 2)
const gapAt = placed(lines)[2]?.offset as number
const gapBytes = lost.bytes.length + 1

const read = async (fs: MemoryFs, options: ReadOptions = {}) => {
  const log = logOn(fs)
  const forward = await readAll((report) => log.readForward(root.id, { ...options, report }))
  const backward = await readAll((report) => log.readBackward(root.id, { ...options, report }))
  return { forward, backward }
}
/** As the next append will leave the log. */
const toAppend: ReadOptions = { closeGaps: true }

const payloadOf = (line: Line): Record<string, unknown> => {
  const parsed = parseLine(line)
  if (parsed._tag === 'Left') throw new Error(parsed.left)
  return parsed.right
}

describe('a hole of NULs in the last 4 MiB, with whole lines after it', () => {
  test('stops a reader where lines hang on what was lost: from the beginning there, from the end at once', async () => {
    const { forward, backward } = await read(fsWith(holedBytes))
    for (const { error, told } of [forward, backward]) {
      const { damage, message } = error as Damaged
      expect(damage).toMatchObject({ kind: 'gap', line: 3, offset: gapAt, bytes: gapBytes, orphans: 3 })
      expect(message).toContain('coppice repair')
      expect(told).toEqual([])
    }
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a]))
    expect(idsOf(backward.lines)).toEqual([])
  })

  test('stops a reader too that begins after it, at a line that hangs on what was lost or above it', async () => {
    const log = logOn(fsWith(Buffer.concat([holedBytes, Buffer.from('{"id":"torn')])))
    for (const [at, isStopped] of [
      [3, true],
      [6, false],
    ] as const) {
      const from = placed(lines)[at]?.offset as number
      const { error } = await readAll((report) => log.readForward(root.id, { from, report }))
      expect((error as Damaged | null)?.damage.kind).toBe(isStopped ? 'gap' : undefined)
    }
  })

  test('is a warning where nothing hangs on what was lost', async () => {
    const { forward, backward } = await read(fsWith(holed([root, a, lost, standing], 2)))
    expect([forward.error, backward.error]).toEqual([null, null])
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a, standing]))
    for (const { told } of [forward, backward])
      expect(told).toEqual([
        {
          kind: 'gap',
          line: 3,
          offset: gapAt,
          bytes: gapBytes,
          detail: `${gapBytes} bytes that are no event`,
        },
      ])
  })

  test('gives what hangs on what was lost in salvage, and tells how many lines that are', async () => {
    const { forward, backward } = await read(fsWith(holedBytes), { salvage: true })
    expect([forward.error, backward.error]).toEqual([null, null])
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a, child, grandchild, remark, standing]))
    expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
    for (const { told } of [forward, backward]) expect(told).toMatchObject([{ kind: 'gap', orphans: 3 }])
  })

  test('stops a reader even where damage stands before it, and the reader from the end at the gap', async () => {
    const more = [root, messageOn(root.id, 50), a, lost, child]
    const bytes = holed(more, 3)
    const at = placed(more)[1]?.offset as number
    bytes[at + 70] = (bytes[at + 70] as number) ^ 4
    const { forward, backward } = await read(fsWith(bytes))
    expect((forward.error as Damaged).damage).toMatchObject({ kind: 'undecodable', offset: at })
    expect(backward.lines).toEqual([])
    expect(backward.error).not.toBeNull()
  })

  test('is read by whoever will append as the append leaves it: it is told, and what hangs on it left out', async () => {
    const { forward, backward } = await read(fsWith(holedBytes), toAppend)
    expect([forward.error, backward.error]).toEqual([null, null])
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a, standing]))
    expect(idsOf(backward.lines)).toEqual(idsOf([standing, a, root]))
    const told = [
      {
        kind: 'gap',
        line: 3,
        offset: gapAt,
        bytes: gapBytes,
        orphans: 3,
        detail: `${gapBytes} bytes that are no event, and 3 lines after them hang on what was lost`,
      },
    ]
    expect(forward.told).toEqual(told)
    expect(backward.told).toEqual(told)
  })

  test('is named by the next append: back from its own first byte, bytes, hash, every orphan', async () => {
    const fs = fsWith(holedBytes)
    const next = messageOn(standing.id, 100)
    const appended = await right(logOn(fs).append(root.id, standing.id, [next]))
    const [note] = appended.lines as [Line]
    expect(note).toMatchObject({
      type: 'recovered',
      note: true,
      parent: standing.id,
      offset: holedBytes.length,
    })
    expect(payloadOf(note)).toMatchObject({
      gaps: [
        {
          back: holedBytes.length - gapAt,
          bytes: gapBytes,
          sha256: sha256(holedBytes.subarray(gapAt, gapAt + gapBytes)),
        },
      ],
      orphans: idsOf([child, grandchild, remark]),
    })
    const { forward, backward } = await read(fs)
    expect([...forward.told, ...backward.told]).toEqual([])
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a, standing, note, next]))
    expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
  })

  test('is read the same both ways in chunks of any size, before it is named and after', async () => {
    const fs = fsWith(holedBytes)
    for (const turn of [1, 2]) {
      for (let chunk = 1; chunk <= 64; chunk++) {
        const file = fs.open(path, 'read')
        const forward = await allOf(readForward(file, toAppend, chunk))
        expect(idsOf(await allOf(readBackward(file, toAppend, chunk)))).toEqual(idsOf(forward).reverse())
        expect(forward.length).toBe(turn === 1 ? 3 : 5)
        file.close()
      }
      if (turn === 1) await right(logOn(fs).append(root.id, standing.id, [messageOn(standing.id, 100)]))
    }
  })

  test('and a torn tail are named by one note', async () => {
    const torn = holedBytes.subarray(0, holedBytes.length - 10)
    const fs = fsWith(torn)
    const { forward } = await read(fs, toAppend)
    expect(forward.told.map(({ kind }) => kind)).toEqual(['gap', 'torn-tail'])
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a]))
    const { lines } = await right(logOn(fs).append(root.id, a.id, [messageOn(a.id, 100)]))
    const noteAt = torn.length + 1
    const tailAt = placed([root, a, lost, child, grandchild, remark, standing])[6]?.offset as number
    expect(payloadOf(lines[0] as Line).gaps).toEqual([
      expect.objectContaining({ back: noteAt - gapAt, bytes: gapBytes }),
      expect.objectContaining({
        back: noteAt - tailAt,
        bytes: noteAt - tailAt,
        sha256: sha256(`${torn.subarray(tailAt)}\n`),
      }),
    ])
    expect(lines[0]?.offset).toBe(noteAt)
    const after = await read(fs)
    expect([after.forward.error, after.backward.error, after.forward.told]).toEqual([null, null, []])
    expect(idsOf(after.backward.lines)).toEqual(idsOf(after.forward.lines).reverse())
  })

  test('can be written again, orphans included: what stands further down is read (INV-2)', async () => {
    const fs = fsWith(holedBytes)
    const log = logOn(fs)
    await right(log.append(root.id, standing.id, [lost, child, grandchild]))
    const { forward, backward } = await read(fs)
    expect(forward.lines.map(({ id }) => id).filter((id) => id === child.id)).toEqual([child.id])
    expect(idsOf(forward.lines).slice(-3)).toEqual(idsOf([lost, child, grandchild]))
    expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
    await right(log.append(root.id, grandchild.id, [messageOn(grandchild.id, 200)]))
  })

  test('is named again where the naming itself was cut', async () => {
    const fs = fsWith(holedBytes)
    await right(logOn(fs).append(root.id, standing.id, [messageOn(standing.id, 100)]))
    const whole = fs.bytesOf(path)
    for (let size = holedBytes.length; size < whole.length; size++) {
      const again = fsWith(whole.subarray(0, size))
      const log = logOn(again)
      const before = await readAll((report) => log.readForward(root.id, { ...toAppend, report }))
      const tail = before.lines[before.lines.length - 1] as Line
      await right(log.append(root.id, tail.id, [messageOn(standing.id, 200)]))
      const { forward, backward } = await read(again)
      expect([forward.error, backward.error, ...forward.told]).toEqual([null, null])
      expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
      expect(idsOf(forward.lines).slice(0, before.lines.length)).toEqual(idsOf(before.lines))
    }
  })

  test('hides no second root and nothing that hangs on a note: those are damage', async () => {
    const second = encodeLine(
      { parent: null, at: timeAt(9), type: 'session', note: false },
      { format: 1, nonce: '2', workspace: '/', cwd: '/' },
    )
    const note = noteOn(a.id, 8)
    const onNote = messageOn(note.id, 9)
    for (const [line, kind] of [
      [second, 'second-root'],
      [onNote, 'note-parent'],
    ] as const) {
      const { forward } = await read(fsWith(holed([root, a, lost, note, line, standing], 2)))
      expect((forward.error as Damaged).damage.kind).toBe(kind)
    }
  })
})

describe('what is no gap', () => {
  test('a single NUL before a whole line is damage: reads stop there, writes are refused, salvage goes on', async () => {
    const bytes = bytesOf(...lines)
    bytes[gapAt + 70] = 0
    const fs = fsWith(bytes)
    const { forward, backward } = await read(fs)
    for (const { error } of [forward, backward])
      expect((error as Damaged).damage).toMatchObject({ kind: 'undecodable', line: 3, offset: gapAt })
    expect(idsOf(forward.lines)).toEqual(idsOf([root, a]))
    const log = logOn(fs)
    expect((await left(log.append(root.id, standing.id, [messageOn(standing.id, 9)]))).tag).toBe('Damaged')
    for (const reader of [log.readForward, log.readBackward]) {
      const salvaged = await readAll((report) => reader(root.id, { salvage: true, report }))
      expect(salvaged.error).toBe(null)
      expect(idsOf(salvaged.lines).sort()).toEqual(
        idsOf([root, a, child, grandchild, remark, standing]).sort(),
      )
      // What hangs on a lost line is told once, not again for each of its descendants.
      expect(salvaged.told.map(({ kind }) => kind)).toEqual(['undecodable', 'missing-parent'])
    }
  })

  test('damage before the place that a reader begins at is none of its business', async () => {
    const bytes = Buffer.concat([bytesOf(...lines), Buffer.from('{"id":"torn')])
    bytes[gapAt + 70] = 0
    const from = placed(lines)[4]?.offset as number
    const log = logOn(fsWith(bytes))
    const { lines: read, told, error } = await readAll((report) => log.readForward(root.id, { from, report }))
    expect(error).toBe(null)
    expect(idsOf(read)).toEqual(idsOf(lines.slice(4)))
    expect(told.map(({ kind }) => kind)).toEqual(['torn-tail'])
  })

  test('a hole that begins more than 4 MiB before the end is damage', async () => {
    const long = messageOn(a.id, 7, 'x'.repeat(4 * 1024 * 1024 - 700))
    const inside = holed([root, a, lost, long], 2)
    expect((await read(fsWith(inside))).forward.told.map(({ kind }) => kind)).toEqual(['gap'])
    const more = bytesOf(...[1, 2, 3].map((n) => messageOn(a.id, 10 + n)))
    const { forward, backward } = await read(fsWith(Buffer.concat([inside, more])))
    for (const { error } of [forward, backward])
      expect((error as Damaged).damage).toMatchObject({ kind: 'undecodable', offset: gapAt })
  })
})

describe('a `recovered` note', () => {
  const torn = holedBytes.subarray(0, gapAt + 60)
  const noteOf = (gap: object, orphans: readonly string[] = []): Line =>
    encodeLine(
      { parent: a.id, at: timeAt(50), type: 'recovered', note: true },
      { gaps: [gap], ...(orphans.length > 0 && { orphans }) },
    )
  const junk = Buffer.concat([bytesOf(lost).subarray(0, 60), Buffer.from('\n')])
  const truth = { back: junk.length, bytes: junk.length, sha256: sha256(junk) }
  const logWith = (note: Line): MemoryFs =>
    fsWith(Buffer.concat([bytesOf(root, a), junk, bytesOf(note, standing)]))

  test('that tells the truth is believed', async () => {
    expect(torn.length).toBe(gapAt + 60)
    const { forward, backward } = await read(logWith(noteOf(truth)))
    expect([forward.error, backward.error]).toEqual([null, null])
    expect(forward.lines.length).toBe(4)
  })

  test('that lies in back, bytes or sha256, or has no such shape, names nothing', async () => {
    const lies: object[] = [
      { ...truth, back: truth.back + 1 },
      { ...truth, bytes: truth.bytes - 1 },
      { ...truth, sha256: sha256('') },
      { ...truth, back: String(truth.back) },
      {},
      { ...truth, back: null },
    ]
    for (const lie of lies) {
      const { forward, backward } = await read(logWith(noteOf(lie)))
      for (const { error } of [forward, backward])
        expect((error as Damaged).damage).toMatchObject({ kind: 'undecodable', offset: gapAt })
    }
  })

  test('of any shape harms no reader', async () => {
    for (const payload of [{ gaps: null }, { gaps: [null, 3, 'x'] }, { gaps: {}, orphans: 7 }, {}]) {
      const note = encodeLine({ parent: a.id, at: timeAt(50), type: 'recovered', note: true }, payload)
      const { forward, backward } = await read(fsWith(bytesOf(root, a, note, standing)))
      expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
      expect(forward.lines.length).toBe(4)
    }
  })

  test('cannot make an event void that stands, be it named an orphan', async () => {
    const note = noteOf({ ...truth, back: junk.length + bytesOf(a).length }, [a.id])
    const named = noteOf(truth, [standing.id, a.id])
    for (const one of [note, named]) {
      const between = fsWith(Buffer.concat([bytesOf(root, a), junk, bytesOf(standing, one)]))
      const { forward, backward } = await read(between)
      if (forward.error === null) expect(idsOf(backward.lines)).toEqual(idsOf(forward.lines).reverse())
      expect(idsOf(forward.lines)).toContain(a.id)
    }
  })

  test('makes nothing void below itself: an orphan that is written again without its parent is damage', async () => {
    const fs = fsWith(holedBytes)
    await right(logOn(fs).append(root.id, standing.id, [messageOn(standing.id, 100)]))
    const below = fs.bytesOf(path).length
    fs.put(path, Buffer.concat([fs.bytesOf(path), bytesOf(child)]))
    const { forward } = await read(fs)
    expect((forward.error as Damaged).damage).toMatchObject({ kind: 'missing-parent', offset: below })
  })

  test('is history in a file that no longer holds what it names', async () => {
    const note = noteOf({ back: 1000, bytes: 200, sha256: sha256('gone') }, ['e'.repeat(32)])
    await mustReadAs(logOn(fsWith(bytesOf(root, a, note, standing))), stateOf([root, a, note, standing]))
    await appendTo(stateOf([root, a, note, standing]), 100)
  })
})

describe('recovering again and again', () => {
  test('leaves every region named by its own note', async () => {
    let state = stateOf([root, a])
    for (let turn = 1; turn <= 12; turn++) {
      const longer = await appendTo(state, turn * 100)
      state = await appendTo(cutAt(longer, longer.bytes.length - 5 * turn), turn * 100 + 50)
    }
    const notes = state.events.filter(({ type }) => type === 'recovered')
    expect(notes.length).toBe(12)
  })
})
