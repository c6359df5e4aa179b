import { createHash } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { bodyOffset } from '../../src/events/envelope.js'
import {
  encodeLine,
  encodeText,
  encodeTombstone,
  type Line,
  parseLine,
  payloadText,
  proveLine,
} from '../../src/events/line.js'
import { messageOn, rootLine, timeAt } from '../support/logs.js'

const parent = 'a'.repeat(32)
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')
const envelope = { parent, at: timeAt(1), type: 'x', note: false }

/** A line that proves its id over whatever bytes stand as its payload. */
const forged = (payload: Buffer | string): Buffer => {
  const body = sha256(payload)
  const id = sha256(`{"parent":"${parent}","at":"${timeAt(1)}","type":"x","body":"${body}"}`).slice(0, 32)
  const prefix = `{"id":"${id}","parent":"${parent}","at":"${timeAt(1)}","type":"x",`
  return Buffer.concat([Buffer.from(prefix), Buffer.from(payload), Buffer.from('}')])
}
const reasonOf = (bytes: Buffer): string => {
  const event = parseLine(proveLine(bytes, 0) as Line)
  return E.isLeft(event) ? event.left : ''
}

describe('why a line that proves itself is no event', () => {
  test.each([
    ['"a":', 'the payload is no JSON ('],
    [Buffer.from('"a":"\xff"', 'latin1'), 'the payload is no UTF-8'],
    [`"id":"${'b'.repeat(32)}"`, 'a repeated member contradicts the envelope'],
    ['"role":"user","note":true', 'a repeated member contradicts the envelope'],
    ['"body":"x"', 'the payload holds a reserved member'],
    ['"redacted":true', 'the payload holds a reserved member'],
    ['"kept":null', 'the payload holds a reserved member'],
  ])('%s is told', (payload, reason) => {
    expect(reasonOf(forged(payload))).toContain(reason)
  })

  test('the character that stands for broken bytes may stand there in its own right', () => {
    expect(reasonOf(forged('"a":"\ufffd"'))).toBe('')
  })

  test('a redacted one holds no member beside what was kept', () => {
    const line = messageOn(parent, 1)
    const text = encodeTombstone(line.id, line, sha256('x'), { a: 1 }).bytes.toString()
    const event = (bytes: string) => parseLine({ ...line, redacted: true, bytes: Buffer.from(bytes) })
    const reason = 'a redacted event holds more than its hash and what was kept'
    expect(E.isRight(event(text))).toBe(true)
    expect(event(text.replace('"kept":', '"role":"user","kept":'))).toEqual(E.left(reason))
    expect(event(text.replace('"redacted":true', '"redacted":false'))).toEqual(E.left(reason))
    expect(event(text.replace('"kept":{"a":1}', '"kept":{},"body":"x"'))).toEqual(E.left(reason))
  })
})

describe('a payload', () => {
  test('escapes what some reader takes for the end of a line, and nothing else', () => {
    expect(payloadText({ a: '\u2028\u2029\u0085\ufeff\u2028', b: 'é\u00a0\u2027' })).toBe(
      '"a":"\\u2028\\u2029\\u0085\\ufeff\\u2028","b":"é\u00a0\u2027"',
    )
    expect(payloadText({})).toBe('')
  })

  test('that is no JSON object is refused in words', () => {
    for (const payload of [[], [1], () => 1, { toJSON: () => 'x' }, { toJSON: () => undefined }])
      expect(() => payloadText(payload)).toThrow('a payload is a JSON object')
  })

  test('whose text is there already makes the same line', () => {
    const line = encodeLine(envelope, { a: '\u2028' })
    expect(encodeText(envelope, payloadText({ a: '\u2028' }))).toEqual(line)
    expect(line).toMatchObject({ ...envelope, redacted: false, offset: -1 })
    expect(proveLine(line.bytes, 7)).toEqual({ ...line, offset: 7 })
  })
})

describe('a line that is read', () => {
  test('gives back its envelope and where it stands, root, child, note or redacted', () => {
    const root = rootLine()
    expect(proveLine(root.bytes, 0)).toEqual({ ...root, offset: 0 })
    const note = encodeLine({ ...envelope, note: true }, { a: 1 })
    expect(proveLine(note.bytes, 300)).toEqual({ ...note, offset: 300 })
    const gone = encodeTombstone(note.id, { ...envelope, note: true }, sha256('"a":1'), { b: '\u2028' })
    expect(proveLine(gone.bytes, 5)).toEqual({ ...gone, offset: 5 })
    expect(gone.bytes.toString()).toContain('"redacted":true,"kept":{"b":"\\u2028"}}')
    expect(gone).toMatchObject({ note: true, redacted: true, offset: -1 })
  })

  test('that looks like one but says otherwise in any place fails the proof; what looks like none has no shape', () => {
    const { bytes } = encodeLine(envelope, { a: 1 })
    const changed = (from: string, to: string) =>
      proveLine(Buffer.from(bytes.toString().replace(from, to)), 0)
    expect(changed('"a":1', '"a":2')).toBe('proof')
    expect(changed('"type":"x"', '"type":"y"')).toBe('proof')
    expect(changed(',"a":1', '')).toBe('proof')
    expect(changed(parent, 'b'.repeat(32))).toBe('proof')
    expect(changed('"x",', '"x",,')).toBe('proof')
    expect(changed('"x",', '"x" ')).toBe('shape')
    expect(changed('}', ']')).toBe('shape')
    expect(proveLine(bytes.subarray(0, 97), 0)).toBe('shape')
    expect(proveLine(Buffer.alloc(0), 0)).toBe('shape')
    expect(proveLine(Buffer.from(`${bytes.toString().slice(0, bytes.indexOf(',"a"'))},}`), 0)).toBe('shape')
  })

  test('is never a session that was redacted, whatever proves it', () => {
    expect(() => encodeTombstone(parent, { ...envelope, type: 'session' }, sha256('x'))).toThrow(
      'a session event is never redacted',
    )
  })
})

describe('the envelope', () => {
  const whole = encodeLine(envelope, { a: 1 }).bytes
  const end = whole.indexOf(',"a"')
  const root = encodeLine({ ...envelope, parent: null, type: 'session' }, { a: 1 }).bytes

  test('ends after its type', () => {
    expect(bodyOffset(whole)).toBe(end)
    expect(bodyOffset(root)).toBe(root.indexOf(',"a"'))
    expect(bodyOffset(whole.subarray(0, end))).toBe(end)
    expect(bodyOffset(whole.subarray(0, end - 1))).toBe(-1)
    expect(bodyOffset(whole.subarray(0, 40))).toBe(-1)
  })

  test('has each byte in its one spelling', () => {
    for (const line of [whole, root])
      for (let at = 0; at < line.indexOf(',"a"'); at++) {
        const other = Buffer.from(line)
        // No digit, no letter, and nothing that the envelope is spelt with.
        other[at] = 0x7e
        expect([at, bodyOffset(other)]).toEqual([at, -1])
      }
  })

  test.each([
    ['2026-01-01T00:00:00.000Z', true],
    ['2026-12-31T23:59:59.999Z', true],
    ['2026-02-31T00:00:00.000Z', true],
    ['2026-00-01T00:00:00.000Z', false],
    ['2026-13-01T00:00:00.000Z', false],
    ['2026-01-00T00:00:00.000Z', false],
    ['2026-01-32T00:00:00.000Z', false],
    ['2026-01-01T24:00:00.000Z', false],
    ['2026-01-01T00:60:00.000Z', false],
    ['2026-01-01T00:00:60.000Z', false],
    ['2026-20-01T00:00:00.000Z', false],
    ['2026-01-01T30:00:00.000Z', false],
  ])('with the time %s: %s', (at, isOne) => {
    expect(bodyOffset(encodeLine({ ...envelope, at }, {}).bytes) > 0).toBe(isOne)
  })
})
