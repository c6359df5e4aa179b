import { createHash } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  encodeLine,
  encodeTombstone,
  type Line,
  parseLine,
  payloadText,
  proveLine,
} from '../../src/events/line.js'
import { messageOn, rootLine, timeAt } from '../support/logs.js'

const parent = 'a'.repeat(32)
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A line that proves its id, whatever stands in it. */
const forged = ({
  at = timeAt(1),
  type = 'message',
  note = '',
  payload = '',
  comma = ',',
  from = `"${parent}"`,
} = {}): Buffer => {
  const id = sha256(
    `{"parent":${from},"at":"${at}","type":"${type}",${note === '' ? '' : '"note":true,'}"body":"${sha256(payload)}"}`,
  ).slice(0, 32)
  return Buffer.from(`{"id":"${id}","parent":${from},"at":"${at}","type":"${type}"${note}${comma}${payload}}`)
}

const isLine = (bytes: Buffer): boolean => typeof proveLine(bytes, 0) !== 'string'
const parsed = (bytes: Buffer) => parseLine(proveLine(bytes, 0) as Line)

describe('a line', () => {
  test('has a comma before a payload, and none without one', () => {
    expect(isLine(forged({ payload: '"a":1' }))).toBe(true)
    expect(isLine(forged({ payload: '', comma: '' }))).toBe(true)
    expect(isLine(forged({ payload: '' }))).toBe(false)
    expect(isLine(forged({ payload: '"a":1', comma: '' }))).toBe(false)
    expect(isLine(forged({ payload: '"a":1', comma: ' ' }))).toBe(false)
    expect(encodeLine({ parent, at: timeAt(1), type: 'x', note: false }, {}).bytes.toString()).toMatch(
      /"type":"x"\}$/,
    )
    expect(encodeLine({ parent, at: timeAt(1), type: 'x', note: true }, {}).bytes.toString()).toMatch(
      /"note":true\}$/,
    )
  })

  test('may be as short as a line can be', () => {
    const bytes = forged({ from: 'null', type: 'x', comma: '' })
    expect([bytes.length, isLine(bytes)]).toEqual([98, true])
  })

  test.each(['Message', '1st', '_x', '', 'a b', 'a"', 'é', 'a\n', '-'])(
    'is refused with the type %j',
    (type) => {
      expect(isLine(forged({ type, comma: '' }))).toBe(false)
    },
  )

  test.each(['m', 'a.b-c_d9', 'x'.repeat(5_000)])('may have a type such as %.20s', (type) => {
    expect(isLine(forged({ type, comma: '' }))).toBe(true)
  })

  test.each([
    '2026-12-01T09:00:00Z',
    '2026-12-01T09:00:00.0000Z',
    '2026-12-01T09:00:00.000+00:00',
    '2026-12-01 09:00:00.000Z',
    '2026-13-01T09:00:00.000Z',
    '2026-00-01T09:00:00.000Z',
    '2026-12-32T09:00:00.000Z',
    '2026-12-01T24:00:00.000Z',
    '2026-12-01T09:60:00.000Z',
    '2026-12-01T09:00:60.000Z',
    '+02026-12-01T09:00:00.00Z',
  ])('is refused with the time %j', (at) => {
    expect(isLine(forged({ at, comma: '' }))).toBe(false)
  })

  test.each(['""', '"abc"', `"${'A'.repeat(32)}"`, `"${'a'.repeat(33)}"`, '0', 'NULL', 'nul'])(
    'is refused with the parent %s',
    (from) => {
      expect(isLine(forged({ from, comma: '' }))).toBe(false)
    },
  )

  test('is refused in any other spelling of the same JSON', () => {
    const line = forged({ payload: '"role":"user"' }).toString()
    for (const other of [
      ` ${line}`,
      `${line} `,
      line.replace('{"id":', '{ "id":'),
      line.replace(',"parent"', ', "parent"'),
      line.replace('"type":"message"', '"type": "message"'),
      line.replace('"message"', '"\\u006dessage"'),
      `${line}\r`,
      `\ufeff${line}`,
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse())),
    ])
      expect(isLine(Buffer.from(other))).toBe(false)
  })

  test('whose payload repeats a member of the envelope otherwise is no event', () => {
    for (const payload of [
      `"id":"${'b'.repeat(32)}"`,
      '"parent":null',
      '"at":"2027-01-01T00:00:00.000Z"',
      '"type":"title"',
      '"note":false',
      '"note":null',
      '"role":"user","note":true',
    ]) {
      expect(isLine(forged({ payload }))).toBe(true)
      expect(E.isLeft(parsed(forged({ payload })))).toBe(true)
    }
  })

  test.each(['"body":1', '"redacted":true', '"kept":{}', '"redacted":false', '"body":"x","redacted":true'])(
    'whose payload holds the reserved %s is no event',
    (payload) => {
      expect(E.isLeft(parsed(forged({ payload })))).toBe(true)
    },
  )

  test.each(['"a":', 'x', '"a":1}{"b":2', '"a":1,', '"a":\u0001', '"a":01'])(
    'whose payload is the broken JSON %j is no event',
    (payload) => {
      expect(E.isLeft(parsed(forged({ payload })))).toBe(true)
    },
  )

  test('whose payload is no UTF-8 is no event', () => {
    const bytes = Buffer.from('"a":"\xff"', 'latin1')
    const envelope = { parent, at: timeAt(1), type: 'x', note: false }
    const body = createHash('sha256').update(bytes).digest('hex')
    const id = sha256(`{"parent":"${parent}","at":"${timeAt(1)}","type":"x","body":"${body}"}`).slice(0, 32)
    const prefix = encodeLine(envelope, {}).bytes.toString().slice(39, -1)
    const line = Buffer.concat([Buffer.from(`{"id":"${id}${prefix},`), bytes, Buffer.from('}')])
    expect(isLine(line)).toBe(true)
    expect(E.isLeft(parsed(line))).toBe(true)
  })
})

describe('a tombstone', () => {
  const line = messageOn(parent, 1)
  const of = (rest: string): Buffer =>
    Buffer.from(`${line.bytes.toString().slice(0, line.bytes.indexOf(',"role"'))}${rest}`)
  const body = sha256(payloadText({ role: 'user', content: 'message 1' }))

  test('holds the hash, and what was kept, and nothing more', () => {
    expect(E.isRight(parsed(of(`,"body":"${body}","redacted":true}`)))).toBe(true)
    expect(E.isRight(parsed(of(`,"body":"${body}","redacted":true,"kept":{"role":"user"}}`)))).toBe(true)
    for (const rest of ['{"a":1},"role":"user"', '{},"kept":{}', '{},"body":{}', '{},"id":{}', '{"a":}']) {
      const more = of(`,"body":"${body}","redacted":true,"kept":${rest}}`)
      const result = proveLine(more, 0)
      // A doubled `kept` is JSON all the same, and neither is proved.
      if (typeof result !== 'string' && rest !== '{},"kept":{}')
        expect(E.isLeft(parseLine(result))).toBe(true)
    }
    for (const rest of [
      `,"body":"${body}"}`,
      `,"body":"${body}","redacted":false}`,
      `,"redacted":true,"body":"${body}"}`,
      `,"body":"${body}","redacted":true,"role":"user"}`,
      `,"body":"${sha256('x')}","redacted":true}`,
      `,"body":"${body.toUpperCase()}","redacted":true}`,
    ])
      expect(isLine(of(rest))).toBe(false)
  })

  test('is never made of a session, nor read as one', () => {
    const root = rootLine()
    expect(() => encodeTombstone(root.id, root, body)).toThrow(TypeError)
    const text = root.bytes.toString()
    const payload = text.slice(text.indexOf(',"format"') + 1, -1)
    const redacted = `${text.slice(0, text.indexOf(',"format"'))},"body":"${sha256(payload)}","redacted":true}`
    expect(proveLine(Buffer.from(redacted), 0)).toBe('shape')
  })

  test('of a lost event is held against its own check sum, since no hash of it is left', () => {
    const lost = encodeTombstone('c'.repeat(32), { parent, at: timeAt(1), type: 'lost', note: false }, '', {
      guessed: true,
    })
    const text = lost.bytes.toString()
    expect(isLine(lost.bytes)).toBe(true)
    expect(isLine(Buffer.from(text.replace('ccc', 'ccd')))).toBe(false)
    expect(isLine(Buffer.from(text.replace('true}', 'null}')))).toBe(false)
    expect(isLine(Buffer.from(text.replace('"parent":"aa', '"parent":"ab')))).toBe(false)
  })
})
