import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  blobRefs,
  InPlaceOfBlob,
  InStoredForm,
  maxLine,
  movedOut,
  resolveValues,
  type Stored,
  storeValues,
} from '../../src/events/blob.js'
import { type BlobRef, isBlobRef } from '../../src/events/content.js'
import { sha256 } from '../../src/events/id.js'

const stored = (payload: object): Stored => {
  const result = storeValues(payload)
  if (E.isLeft(result)) throw result.left
  return result.right
}
const refusedFor = (payload: object): readonly string[] => {
  const result = storeValues(payload)
  return E.isLeft(result) ? result.left.reasons : []
}
const loadFrom =
  (blobs: ReadonlyMap<string, Buffer>) =>
  async ({ $blob }: BlobRef) =>
    blobs.get($blob) as Buffer

/** What a payload may take of a line. */
const most = maxLine - 1024
/** Numbers that take 17 bytes each in a list. */
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => 1e15 + i)
/** The keys whose values moved out. */
const movedIn = (value: object): string[] =>
  Object.entries(value).flatMap(([key, one]) => (isBlobRef(one) ? [key] : []))

describe('a payload that is too long for a line', () => {
  const texts = (count: number, length: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i}`.padEnd(length, '.')]))

  test('of exactly the most that a line takes stays as it is; of one byte more it gives out a string', () => {
    const fill = (extra: number) => {
      const payload: Record<string, string> = texts(17, 60_000)
      const rest = most - Buffer.byteLength(JSON.stringify({ ...payload, end: '' })) + 2
      return { ...payload, end: '.'.repeat(rest + extra) }
    }
    expect(Buffer.byteLength(stored(fill(0)).text)).toBe(most)
    expect(stored(fill(0)).blobs.size).toBe(0)
    const moved = stored(fill(1))
    expect(movedIn(moved.payload)).toEqual(['k0'])
    expect(moved.text).toBe(JSON.stringify(moved.payload).slice(1, -1))
  })

  test('gives out its longest strings, and no more of them than it must', () => {
    const payload = { ...texts(20, 50_000), long: 'l'.repeat(64_000), longer: 'm'.repeat(65_000) }
    const made = stored({ data: payload })
    expect(movedIn((made.payload as { data: object }).data)).toEqual(['long', 'longer'])
    expect(Buffer.byteLength(made.text)).toBeLessThanOrEqual(most)
  })

  test('counts what a string takes in JSON, not what it holds', () => {
    const quotes = '"'.repeat(30_000)
    const payload = { ...texts(20, 50_000), quotes }
    expect(movedIn((stored({ data: payload }).payload as { data: object }).data)).toEqual(['quotes'])
  })

  test('keeps the strings that folds read, however long, and short ones; members go out whole after the strings', () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, 'x'.repeat(120)]))
    const made = stored({ name: 'n'.repeat(60_000), content: 'c'.repeat(60_000), data: many, other: [1, 2] })
    expect(movedIn(made.payload)).toEqual(['content', 'data'])
    expect(made.payload).toMatchObject({ name: 'n'.repeat(60_000), data: { as: 'json' }, other: [1, 2] })
  })

  test('never gives out what folds read where it stands, though it is longer than all else', () => {
    const structural = ['id', 'name', 'role', 'toolCallId', 'group', 'through', 'target', 'to', 'from']
    const keys = [...structural, 'reason', 'toolCalls', 'row', 'keep', 'ids', 'gaps', 'orphans']
    const payload = Object.fromEntries(keys.map((key) => [key, numbers(3_800)]))
    expect(movedIn(stored({ ...payload, data: numbers(1_000) }).payload)).toEqual(['data'])
    const longer = { ...payload, row: numbers(6_000) }
    const bytes = Buffer.byteLength(JSON.stringify(longer)) - 2
    expect(refusedFor(longer)).toEqual([`the payload should fit a line of ${most} bytes, it takes ${bytes}`])
  })

  test('of what an origin holds gives out what stands beside the model, and nothing else', () => {
    const many = numbers(70_000)
    const of = (origin: unknown) => (stored({ origin, data: 1 }).payload as { origin: object }).origin
    expect(movedIn(of({ format: 'f', id: '1', extra: many }))).toEqual(['extra'])
    expect(refusedFor({ origin: { format: 'f', id: '1', other: many } })).toHaveLength(1)
    expect(refusedFor({ origin: many })).toHaveLength(1)
    expect(movedIn(stored({ origin: null, data: many }).payload)).toEqual(['data'])
  })

  test('is told how much it may take, and how much it takes', () => {
    const keys = Object.fromEntries(Array.from({ length: 5_300 }, (_, i) => [`${i}`.padEnd(200, '-'), 1]))
    const bytes = Buffer.byteLength(JSON.stringify(keys)) - 2
    expect(refusedFor(keys)).toEqual([`the payload should fit a line of ${most} bytes, it takes ${bytes}`])
  })
})

describe('a payload that JSON does not take', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 0 : { a: deep(levels - 1) })

  test('is told why', () => {
    const why = 'the payload should be JSON (no cycles, no BigInt, nested no deeper than 500 levels)'
    expect(refusedFor({ n: 1n })).toEqual([why])
    expect(refusedFor([])).toEqual([why])
    expect(refusedFor(deep(501) as object)).toEqual([
      'the payload should be nested no deeper than 500 levels',
    ])
    expect(refusedFor(deep(500) as object)).toEqual([])
  })
})

describe('a value', () => {
  const longer = 'x'.repeat(70_000)

  test('that is to stand in a blob does so whatever its size: text as text, all else as JSON, large texts apart', async () => {
    const text = movedOut('short')
    expect(text.ref).toEqual({ $blob: sha256('short'), bytes: 5, as: 'text' })
    expect(text.blobs.get(text.ref.$blob)?.toString()).toBe('short')
    const value = { $key: [1, longer] }
    const json = movedOut(value)
    expect(json.ref.as).toBe('json')
    expect(json.blobs.size).toBe(2)
    expect(await resolveValues({ value: json.ref }, loadFrom(json.blobs))).toEqual({ value })
  })

  test('in its stored form stands beside what is not, and only the latter is escaped', () => {
    const made = stored({ $a: 1, keep: new InStoredForm([{ $$b: 2 }]), content: 'c' })
    expect(made.payload).toEqual({ $$a: 1, keep: [{ $$b: 2 }], content: 'c' })
    expect(JSON.parse(`{${made.text}}`)).toEqual(made.payload)
  })

  test('that is missing may be stood in for by words, wherever it stood', async () => {
    const ref = { $blob: 'f'.repeat(64), bytes: 1, as: 'text' }
    const value = { a: ref, list: [{ b: ref }, 'x'], $$c: 1, none: null }
    const load = async () => new InPlaceOfBlob('[gone]')
    expect(await resolveValues(value, load)).toEqual({
      a: '[gone]',
      list: [{ b: '[gone]' }, 'x'],
      $c: 1,
      none: null,
    })
  })

  test('without blobs and escaped keys is given back itself, not a copy', async () => {
    const value = { a: [1, { b: null }], c: 'x' }
    const load = () => Promise.reject(new Error('there is nothing to load'))
    expect(await resolveValues(value, load)).toBe(value)
    expect(await resolveValues('text', load)).toBe('text')
    expect(await resolveValues(null, load)).toBe(null)
  })

  test('names the blobs in it, not those that they name', () => {
    const ref = (digit: string): BlobRef => ({ $blob: digit.repeat(64), bytes: 1, as: 'json' })
    expect(blobRefs({ a: ref('a'), list: [ref('b'), { c: ref('c') }], d: null, e: 'x' })).toEqual(
      ['a', 'b', 'c'].map(ref),
    )
    expect([blobRefs(null), blobRefs('x'), blobRefs({ $blob: 5 })]).toEqual([[], [], []])
    expect(blobRefs(ref('a'))).toEqual([ref('a')])
  })

  test('of media keeps its kind only where it is a text; bytes that base64 does not give back are text', () => {
    const dataOf = (part: object) =>
      (stored({ content: [part] }).payload as { content: readonly [{ data: unknown }] }).content[0].data
    const bytes = Buffer.from([1, 2, 3])
    const data = bytes.toString('base64')
    const ref = { $blob: sha256(bytes), bytes: 3, as: 'base64' }
    expect(dataOf({ type: 'image', data })).toEqual(ref)
    expect(dataOf({ type: 'audio', media: 5, data })).toEqual(ref)
    expect(dataOf({ type: 'document', media: 'a/b', data })).toEqual({ ...ref, media: 'a/b' })
    expect(dataOf({ type: 'image', media: 'a/b', data: 'AQI' })).toEqual({
      $blob: sha256('AQI'),
      bytes: 3,
      as: 'text',
      media: 'a/b',
    })
    expect(dataOf({ type: 'image', data: [data] })).toEqual([data])
    expect(dataOf({ type: 'chart', data })).toBe(data)
  })
})
