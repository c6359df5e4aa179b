import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Damage } from '../../src/events/errors/index.js'
import { recovery } from '../../src/events/file-log/recover.js'
import { survey } from '../../src/events/file-log/survey.js'
import { encodeLine, type Line } from '../../src/events/line.js'
import type { FileHandle } from '../../src/events/ports.js'
import { fsWith, path, root } from '../support/cuts.js'
import { bytesOf, chainOn, idsOf, logOn, messageOn, noteOn, readAll, timeAt } from '../support/logs.js'

const [first, , third] = chainOn(root.id, 1, 3) as [Line, Line, Line]
const second = messageOn(first.id, 2)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const fileOf = (...parts: readonly (Uint8Array | string)[]): FileHandle =>
  fsWith(Buffer.concat(parts.map((part) => Buffer.from(part)))).open(path, 'read')

describe('a survey', () => {
  const at = (...lines: readonly Line[]): number => bytesOf(...lines).length
  const damageIn = (...parts: readonly (Uint8Array | string)[]) => survey(fileOf(...parts)).damage
  const strange = messageOn('f'.repeat(32), 8)
  const note = noteOn(root.id, 4)
  const onNote = messageOn(note.id, 5)
  const root2 = encodeLine(
    { parent: null, at: timeAt(3), type: 'session', note: false },
    { format: 1, nonce: '2' },
  )
  const nuls = Buffer.concat([Buffer.alloc(40), Buffer.from('\n')])

  test('of a whole log finds its end, and nothing wrong', () => {
    const found = survey(fileOf(bytesOf(root, first, noteOn(first.id, 9))))
    expect(found).toMatchObject({
      junk: [],
      broken: [],
      damage: null,
      endsInNewline: true,
      size: at(root, first, noteOn(first.id, 9)),
    })
    expect([found.tail?.type, found.head?.id]).toEqual(['status', first.id])
    expect(survey(fileOf(bytesOf(root), first.bytes)).endsInNewline).toBe(false)
    expect(survey(fileOf('')).endsInNewline).toBe(true)
  })

  test.each<[string, Damage | null, Damage]>([
    [
      'nothing',
      damageIn(''),
      { kind: 'no-root', line: 1, offset: 0, bytes: 0, detail: 'the log holds no whole first event' },
    ],
    [
      'a first line that is no root',
      damageIn(bytesOf(first, second)),
      {
        kind: 'no-root',
        line: 1,
        offset: 0,
        bytes: first.bytes.length,
        detail: "the first event is a message, not a session's root",
      },
    ],
    [
      'a second root',
      damageIn(bytesOf(root, first, root2)),
      {
        kind: 'second-root',
        line: 3,
        offset: at(root, first),
        bytes: root2.bytes.length,
        detail: `${root2.id} has no parent, yet it is not the first event`,
      },
    ],
    [
      'an event that hangs on a note',
      damageIn(bytesOf(root, note, onNote)),
      {
        kind: 'note-parent',
        line: 3,
        offset: at(root, note),
        bytes: onNote.bytes.length,
        detail: `${onNote.id} hangs on the note ${note.id}`,
      },
    ],
    [
      'an event that hangs on nothing, told once and not for what hangs on it',
      damageIn(bytesOf(root, strange, messageOn(strange.id, 9))),
      {
        kind: 'missing-parent',
        line: 2,
        offset: at(root),
        bytes: strange.bytes.length,
        detail: `${strange.id} hangs on ${'f'.repeat(32)}, which is no event before it`,
      },
    ],
    [
      'bytes between lines',
      damageIn(bytesOf(root), 'abc\nde\n', bytesOf(first), 'torn'),
      { kind: 'undecodable', line: 2, offset: at(root), bytes: 7, detail: '7 bytes that are no event' },
    ],
    [
      'the first of several',
      damageIn(bytesOf(root, strange), 'abc\n', bytesOf(first)),
      {
        kind: 'missing-parent',
        line: 2,
        offset: at(root),
        bytes: strange.bytes.length,
        detail: `${strange.id} hangs on ${'f'.repeat(32)}, which is no event before it`,
      },
    ],
  ])('of a log with %s says where and what', (_, damage, expected) => {
    expect(damage).toEqual(expected)
  })

  test('of a torn tail is no damage, and the note that the next append writes names it with its newline', () => {
    const file = fileOf(bytesOf(root), 'torn')
    const found = survey(file)
    expect(found).toMatchObject({
      damage: null,
      junk: [{ kind: 'torn-tail', line: 2, start: at(root), end: at(root) + 4 }],
    })
    const { prefix, note } = recovery(file, found, timeAt(9))
    expect(prefix.toString()).toBe('\n')
    expect(JSON.parse((note as Line).bytes.toString())).toMatchObject({
      parent: root.id,
      type: 'recovered',
      note: true,
      gaps: [{ back: 5, bytes: 5, sha256: sha256(Buffer.from('torn\n')) }],
    })
    expect(note).toMatchObject({ offset: at(root) + 5 })
    expect((note as Line).bytes.toString()).not.toContain('orphans')
    const whole = fileOf(bytesOf(root, first))
    expect(recovery(whole, survey(whole), timeAt(9))).toEqual({ prefix: Buffer.alloc(0), note: null })
    const unended = fileOf(bytesOf(root), first.bytes)
    expect(recovery(unended, survey(unended), timeAt(9))).toEqual({ prefix: Buffer.from('\n'), note: null })
  })

  test('of a gap names what hangs on it as lost, and a note of it makes those void', () => {
    const parts = [bytesOf(root, first), nuls, bytesOf(third), bytesOf(messageOn(first.id, 7))]
    const file = fileOf(...parts)
    const found = survey(file)
    const start = at(root, first)
    expect(found).toMatchObject({ damage: null, junk: [{ kind: 'gap', line: 3, start, end: start + 41 }] })
    expect([...found.newOrphans]).toEqual([[start + 41, third.id]])
    const { note } = recovery(file, found, timeAt(9))
    const closed = survey(fileOf(...parts, bytesOf(note as Line)))
    expect(closed).toMatchObject({ damage: null, junk: [{ kind: 'named' }] })
    expect([[...closed.voids], closed.newOrphans.size]).toEqual([[start + 41], 0])
    expect(closed.tail?.id).toBe((note as Line).id)
  })

  test('tells a gap by two NULs in a row: one is a flipped bit, and damage', () => {
    expect(damageIn(bytesOf(root), 'a\0b\0c\n', bytesOf(first))?.kind).toBe('undecodable')
    expect(damageIn(bytesOf(root), 'a\0\0c\n', bytesOf(first))).toBe(null)
  })
})

describe('a reader of a log with a gap', () => {
  const nuls = Buffer.concat([Buffer.alloc(40), Buffer.from('\n')])
  const start = bytesOf(root, first).length
  const gap = { kind: 'gap', line: 3, offset: start, bytes: 41 }
  const readWith = async (orphans: readonly Line[], options: object = {}) => {
    const fs = fsWith(
      Buffer.concat([bytesOf(root, first), nuls, bytesOf(...orphans, messageOn(first.id, 9))]),
    )
    const { lines, told, error } = await readAll((report) =>
      logOn(fs).readForward(root.id, { ...options, report }),
    )
    return { ids: idsOf(lines), told, damage: (error as { damage?: Damage } | null)?.damage ?? null }
  }
  const last = messageOn(first.id, 9)

  test('is told of it, and stops there where lines would vanish unsaid', async () => {
    const told = { ...gap, detail: '41 bytes that are no event' }
    expect(await readWith([])).toEqual({ ids: [root.id, first.id, last.id], told: [told], damage: null })
    const one = {
      ...gap,
      detail: '41 bytes that are no event, and a line after them hangs on what was lost',
      orphans: 1,
    }
    expect(await readWith([third])).toEqual({ ids: [root.id, first.id], told: [], damage: one })
    const both = [third, messageOn(third.id, 5)]
    const two = {
      ...gap,
      detail: '41 bytes that are no event, and 2 lines after them hang on what was lost',
      orphans: 2,
    }
    expect(await readWith(both)).toEqual({ ids: [root.id, first.id], told: [], damage: two })
    expect(await readWith(both, { salvage: true })).toEqual({
      ids: [root.id, first.id, ...idsOf(both), last.id],
      told: [two],
      damage: null,
    })
    expect(await readWith(both, { closeGaps: true })).toEqual({
      ids: [root.id, first.id, last.id],
      told: [two],
      damage: null,
    })
  })

  test('that goes on from after it has nothing to be told of', async () => {
    const from = start + 41
    expect(await readWith([], { from })).toEqual({ ids: [last.id], told: [], damage: null })
  })
})
