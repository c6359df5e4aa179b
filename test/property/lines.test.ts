import { createHash } from 'node:crypto'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  bodyOf,
  encodeLine,
  encodeTombstone,
  type Line,
  parseLine,
  proveLine,
} from '../../src/events/line.js'

const runs = (base: number) => ({ numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base) })

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const reserved = new Set(['id', 'parent', 'at', 'type', 'note', 'body', 'redacted', 'kept'])
const text = fc.string({ unit: 'binary', maxLength: 12 })
const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 })
const payload = fc.dictionary(
  text.filter((key) => !reserved.has(key)),
  json,
  { maxKeys: 4 },
)
const envelope = fc.record({
  parent: fc.option(hex(32)),
  at: fc
    .date({
      min: new Date('0000-01-01T00:00:00.000Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString()),
  type: fc.stringMatching(/^[a-z][a-z0-9_.-]{0,20}$/).filter((type) => type !== 'lost'),
  note: fc.boolean(),
})

const proved = (bytes: Buffer): Line => {
  const line = proveLine(bytes, 7)
  if (typeof line === 'string') throw new Error(`${line}: ${bytes}`)
  return line
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')

/** docs/FORMAT.md once more, by other means: what the id of a line must be. */
const idByTheBook = (line: Buffer): string => {
  const whole = line.toString('latin1')
  const match =
    /^\{"id":"[0-9a-f]{32}","parent":(null|"[0-9a-f]{32}"),"at":"([^"]*)","type":"([^"]*)"(,"note":true)?/.exec(
      whole,
    )
  if (match === null) throw new Error('no envelope')
  const [prefix, parent, at, type, note] = match
  const rest = line.subarray(prefix.length)
  const payloadBytes = rest.length === 1 ? Buffer.alloc(0) : rest.subarray(1, -1)
  const sealed = `{"parent":${parent},"at":"${at}","type":"${type}",${note === undefined ? '' : '"note":true,'}"body":"${sha256(payloadBytes)}"}`
  return sha256(sealed).slice(0, 32)
}

describe('a line', () => {
  test('decodes to what was encoded, and its id is what docs/FORMAT.md says', () => {
    fc.assert(
      fc.property(envelope, payload, (head, members) => {
        const line = encodeLine(head, members)
        expect(line.id).toBe(idByTheBook(line.bytes))
        const found = proved(line.bytes)
        expect(found).toEqual({ ...line, offset: 7 })
        const event = parseLine(found)
        if (E.isLeft(event)) throw new Error(event.left)
        const { note, ...rest } = head
        const whole = { id: line.id, ...rest, ...(note ? { note: true } : {}) }
        expect(JSON.stringify(event.right)).toBe(
          JSON.stringify({ ...whole, ...JSON.parse(JSON.stringify(members)) }),
        )
      }),
      runs(500),
    )
  })

  test('holds none of the characters that some reader takes for a line end, and no NUL', () => {
    const breaking = fc.string({
      unit: fc.constantFrom('\n', '\r', '\u2028', '\u2029', '\u0085', '\ufeff', '\0', 'x', '\ud800'),
    })
    fc.assert(
      fc.property(envelope, breaking, breaking, (head, key, value) => {
        const { bytes } = encodeLine(head, { [`k${key}`]: value })
        expect(bytes.toString()).not.toMatch(/[\n\r\u2028\u2029\u0085\ufeff\0]/)
        expect(JSON.parse(bytes.toString())[`k${key}`]).toBe(value)
      }),
      runs(200),
    )
  })

  test('with any one byte changed is no line, or a tombstone whose unproved `kept` differs', () => {
    fc.assert(
      fc.property(
        envelope,
        payload,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (head, members, where, change) => {
          const { bytes } = encodeLine(head, members)
          const changed = Buffer.from(bytes)
          const at = where % bytes.length
          changed[at] = (changed[at] as number) ^ change
          expect(['shape', 'proof']).toContain(proveLine(changed, 0))
        },
      ),
      runs(1000),
    )
  })

  test('with any bytes put in, left out or doubled is no line', () => {
    fc.assert(
      fc.property(
        envelope,
        payload,
        fc.nat(),
        fc.nat({ max: 9 }),
        fc.uint8Array({ maxLength: 6 }),
        (head, members, where, removed, added) => {
          const { bytes } = encodeLine(head, members)
          const at = where % (bytes.length + 1)
          const changed = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
          fc.pre(!changed.equals(bytes))
          expect(['shape', 'proof']).toContain(proveLine(changed, 0))
        },
      ),
      runs(1000),
    )
  })

  test('proves its id and its place when it is redacted, and its body is that of the payload', () => {
    fc.assert(
      fc.property(envelope, payload, fc.option(payload, { nil: undefined }), (head, members, kept) => {
        fc.pre(head.type !== 'session')
        const line = encodeLine(head, members)
        const tombstone = encodeTombstone(line.id, head, bodyOf(line), kept)
        const found = proved(tombstone.bytes)
        expect(found).toEqual({ ...tombstone, offset: 7 })
        expect([found.id, bodyOf(found), found.redacted]).toEqual([line.id, bodyOf(line), true])
        const event = parseLine(found)
        expect(E.isRight(event) && JSON.stringify(event.right.kept)).toBe(JSON.stringify(kept))
      }),
      runs(300),
    )
  })

  test('of any bytes at all is refused without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(['shape', 'proof']).toContain(proveLine(Buffer.from(bytes), 0))
      }),
      runs(1000),
    )
  })
})
