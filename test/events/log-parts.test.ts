import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type Accepted,
  follow,
  type Known,
  type Request,
  settle,
  writesOf,
} from '../../src/events/file-log/batch.js'
import { declaresVoid, naming, namingsOf } from '../../src/events/file-log/naming.js'
import { Nodes } from '../../src/events/file-log/nodes.js'
import { firstLine, hashOf, readFully, scanForward, segmentsOf } from '../../src/events/file-log/scan.js'
import { encodeLine, encodeTombstone, type Line } from '../../src/events/line.js'
import type { Appended } from '../../src/events/log.js'
import type { FileHandle } from '../../src/events/ports.js'
import { fsWith, path, root } from '../support/cuts.js'
import { bytesOf, chainOn, noteOn, timeAt } from '../support/logs.js'

const [first, second, third] = chainOn(root.id, 1, 3) as [Line, Line, Line]
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const fileOf = (...parts: readonly (Uint8Array | string)[]): FileHandle =>
  fsWith(Buffer.concat(parts.map((part) => Buffer.from(part)))).open(path, 'read')
const recovered = (parent: string, payload: object): Line =>
  encodeLine({ parent, at: timeAt(9), type: 'recovered', note: true }, payload)

describe('a batch of appends', () => {
  const requestOf = (expected: string, lines: readonly Line[]) => {
    const settled: Appended[] = []
    const request: Request = {
      expected,
      lines,
      durability: 'sync',
      resolve: (appended) => settled.push(appended),
      reject: () => undefined,
    }
    return { request, settled }
  }

  test('goes on one after the other where each expects the end of the one before; the others are stale', () => {
    const a = requestOf(root.id, [first]).request
    const other = requestOf(root.id, [noteOn(root.id, 5)]).request
    const nothing = requestOf(first.id, []).request
    const b = requestOf(first.id, [second, third]).request
    const { accepted, stale } = follow(root.id, [a, other, nothing, b])
    expect(accepted).toEqual([
      { request: a, tail: first.id },
      { request: nothing, tail: first.id },
      { request: b, tail: third.id },
    ])
    expect(stale).toEqual([other])
  })

  const endOf = (more: Partial<Known> = {}): Known => ({
    size: 1000,
    id: root.id,
    at: timeAt(0),
    endsInNewline: true,
    recovery: null,
    ...more,
  })
  const settledWith = (end: Known, note: Line | null) => {
    const [nothing, a, b] = [
      requestOf(root.id, []),
      requestOf(root.id, [first]),
      requestOf(first.id, [second]),
    ]
    const accepted: Accepted[] = [nothing, a, b].map(({ request }) => ({
      request,
      tail: request.lines.at(-1)?.id ?? root.id,
    }))
    settle(accepted, end, note)
    return [nothing, a, b].map(({ settled }) =>
      settled.map(({ lines, tail }) => [tail, lines.map(({ id, offset }) => [id, offset])]),
    )
  }
  const length = first.bytes.length + 1

  test('is told where each line stands', () => {
    expect(settledWith(endOf(), null)).toEqual([
      [[root.id, []]],
      [[first.id, [[first.id, 1000]]]],
      [[second.id, [[second.id, 1000 + length]]]],
    ])
    expect(settledWith(endOf({ endsInNewline: false }), null)[1]).toEqual([[first.id, [[first.id, 1001]]]])
  })

  test('tells the first that wrote of the note that was written before it', () => {
    const note = noteOn(root.id, 7)
    const end = endOf({ endsInNewline: false, recovery: { prefix: Buffer.from('\n'), note } })
    const at = 1001 + note.bytes.length + 1
    expect(settledWith(end, note)).toEqual([
      [[root.id, []]],
      [
        [
          first.id,
          [
            [note.id, 1001],
            [first.id, at],
          ],
        ],
      ],
      [[second.id, [[second.id, at + length]]]],
    ])
    expect(settledWith(endOf({ recovery: { prefix: Buffer.alloc(0), note } }), note)[1]).toEqual([
      [
        first.id,
        [
          [note.id, 1000],
          [first.id, 1000 + note.bytes.length + 1],
        ],
      ],
    ])
  })

  test('is written in whole lines, as many at once as the end of a log may be searched for', () => {
    const none = Buffer.alloc(0)
    expect(writesOf(none, [first])).toEqual([bytesOf(first)])
    expect(writesOf(none, [first, second])).toEqual([bytesOf(first, second)])
    expect(writesOf(Buffer.from('\n'), [first])).toEqual([Buffer.concat([Buffer.from('\n'), bytesOf(first)])])
    expect(writesOf(none, [])).toEqual([none])
    const most = 4 * 1024 * 1024
    const sized = (length: number): Line => ({ ...first, bytes: Buffer.alloc(length, 'x') })
    const lengths = (...lines: readonly number[]) =>
      writesOf(none, lines.map(sized)).map((bytes) => bytes.length)
    expect(lengths(most / 2, most / 2 - 2)).toEqual([most])
    expect(lengths(most / 2, most / 2 - 1)).toEqual([most / 2 + 1, most / 2])
    expect(lengths(most + 5, 3)).toEqual([most + 6, 4])
    expect(writesOf(Buffer.from('\n'), [sized(most + 5)]).map((bytes) => bytes.length)).toEqual([1, most + 6])
  })
})

describe('a `recovered` note', () => {
  const gap = { back: 20, bytes: 5, sha256: 'x' }
  const at = (line: Line, offset: number): Line => ({ ...line, offset })

  test('names places by how far they lie behind it; what it says in another shape names none', () => {
    const note = at(
      recovered(root.id, {
        gaps: [gap, null, 'x', { ...gap, back: '1' }, { ...gap, bytes: null }, { ...gap, sha256: 5 }],
        orphans: ['o'],
      }),
      100,
    )
    expect(namingsOf(note)).toEqual([{ start: 80, end: 85, sha256: 'x', at: 100, orphans: new Set(['o']) }])
    expect(namingsOf(recovered(root.id, { gaps: 'x', orphans: 5 }))).toEqual([])
    expect(namingsOf(recovered(root.id, { gaps: [gap], orphans: 'o' }))[0]?.orphans).toEqual(new Set())
    expect(
      namingsOf(encodeLine({ parent: root.id, at: timeAt(1), type: 'status', note: true }, { gaps: [gap] })),
    ).toEqual([])
    const redacted = encodeTombstone(note.id, note, '0'.repeat(64), { gaps: [gap] })
    expect(namingsOf(redacted)).toEqual([])
    expect(namingsOf({ ...note, bytes: Buffer.from(`${note.bytes.toString().slice(0, -1)},}`) })).toEqual([])
  })

  test('is believed only where place, length and hash are those of the bytes', () => {
    const file = fileOf('0123456789')
    const name = { start: 2, end: 5, sha256: sha256(Buffer.from('234')), at: 10, orphans: new Set<unknown>() }
    expect(naming(file, { start: 2, end: 5 }, [{ ...name, sha256: 'lie' }, name])).toBe(name)
    expect(naming(file, { start: 2, end: 5 }, [{ ...name, sha256: 'lie' }])).toBe(undefined)
    expect(naming(file, { start: 2, end: 6 }, [name])).toBe(undefined)
    expect(naming(file, { start: 1, end: 5 }, [name])).toBe(undefined)
    expect(naming(file, { start: 2, end: 5 }, [])).toBe(undefined)
  })

  test('calls lines void only between what it names and itself, and only those that it lists', () => {
    const names = [{ start: 10, end: 20, sha256: 'x', at: 100, orphans: new Set<unknown>([first.id]) }]
    const isVoidAt = (line: Line, offset: number) => declaresVoid(names, { ...line, offset })
    expect([10, 11, 99, 100].map((offset) => isVoidAt(first, offset))).toEqual([false, true, true, false])
    expect(isVoidAt(second, 50)).toBe(false)
    expect(declaresVoid([], first)).toBe(false)
  })
})

describe('reading a file', () => {
  test('goes on after a short read, and ends where the file does', () => {
    const whole = Buffer.from('0123456789')
    const sips: FileHandle = {
      ...fileOf(whole),
      read: (buffer, offset, length, position) => {
        const part = whole.subarray(position, position + Math.min(length, 3))
        buffer.set(part, offset)
        return part.length
      },
    }
    expect(readFully(sips, 1, 7).toString()).toBe('1234567')
    expect(readFully(sips, 8, 7).toString()).toBe('89')
    expect(readFully(sips, 20, 7).toString()).toBe('')
    expect(hashOf(sips, 2, 9)).toBe(sha256(whole.subarray(2, 9)))
    expect(hashOf(sips, 2, 99)).toBe(sha256(whole.subarray(2)))
    expect(hashOf(sips, 5, 5, Buffer.from('x'))).toBe(sha256(Buffer.from('x')))
    expect(hashOf(fileOf(Buffer.alloc(600_000, 'y')), 1, 600_000)).toBe(sha256(Buffer.alloc(599_999, 'y')))
  })

  test('gives segments up to and with their newline, each a line or not', () => {
    const bytes = Buffer.concat([bytesOf(root), Buffer.from('junk\n\n'), first.bytes])
    const at = root.bytes.length + 1
    expect(segmentsOf(bytes, 0).map(({ line, start, end }) => [line?.id ?? null, start, end])).toEqual([
      [root.id, 0, at],
      [null, at, at + 5],
      [null, at + 5, at + 6],
      [first.id, at + 6, at + 6 + first.bytes.length],
    ])
    expect(segmentsOf(bytesOf(first), 500)).toEqual([
      { line: { ...first, offset: 500 }, start: 500, end: 501 + first.bytes.length },
    ])
    expect(segmentsOf(Buffer.alloc(0), 5)).toEqual([])
  })

  test('gives the same segments whatever is read at once', () => {
    const file = fileOf(bytesOf(root, first, second), 'torn')
    const whole = segmentsOf(Buffer.concat([bytesOf(root, first, second), Buffer.from('torn')]), 0)
    for (const chunk of [1, 7, 100, 251, 100_000])
      expect([...scanForward(file, 0, chunk)].flat()).toEqual(whole)
    const from = root.bytes.length + 1
    expect([...scanForward(file, from, 50)].flat()).toEqual(whole.slice(1))
    expect([...scanForward(fileOf(''), 0, 50)]).toEqual([])
  })

  test('knows the first line where it is whole', () => {
    expect(firstLine(fileOf(bytesOf(root, first)))?.id).toBe(root.id)
    expect(firstLine(fileOf(root.bytes))?.id).toBe(root.id)
    expect(firstLine(fileOf(root.bytes.subarray(0, -1)))).toBe(null)
    expect(firstLine(fileOf('\n', bytesOf(root)))).toBe(null)
    expect(firstLine(fileOf(''))).toBe(null)
  })
})

test('the nodes that a reader has seen are known, however many, and no others', () => {
  const nodes = new Nodes()
  expect(nodes.has(root.id)).toBe(false)
  const lines = [root, ...chainOn(root.id, 1, 2_500)]
  for (const [at, line] of lines.entries()) {
    nodes.add(line)
    if (at % 500 === 0)
      expect([nodes.has(line.id), nodes.has(root.id), nodes.has('f'.repeat(32))]).toEqual([true, true, false])
  }
  expect(lines.every(({ id }) => nodes.has(id))).toBe(true)
  expect(nodes.has('')).toBe(false)
})
