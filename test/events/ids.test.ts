import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { backward, push, toArray } from '../../src/events/chain.js'
import { eventId, idOfSealed, sha256 } from '../../src/events/id.js'
import { bodyOf, encodeLine, encodeTombstone } from '../../src/events/line.js'

const digest = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('an id', () => {
  test('is the first 32 digits of SHA-256 over the envelope in its spelling, and the hash of the payload (INV-5)', () => {
    const at = '2026-12-01T09:00:00.000Z'
    const body = digest('"a":1')
    const root = { parent: null, at, type: 'session', note: false, body }
    const note = { parent: 'b'.repeat(32), at, type: 'title', note: true, body }
    const sealed = {
      root: `{"parent":null,"at":"${at}","type":"session","body":"${body}"}`,
      note: `{"parent":"${'b'.repeat(32)}","at":"${at}","type":"title","note":true,"body":"${body}"}`,
    }
    expect(eventId(root)).toBe(digest(sealed.root).slice(0, 32))
    expect(eventId(note)).toBe(digest(sealed.note).slice(0, 32))
    expect(idOfSealed(sealed.note)).toBe(eventId(note))
    expect(encodeLine(root, { a: 1 }).id).toBe(eventId(root))
    expect(encodeLine(note, { a: 1 }).id).toBe(eventId(note))
  })

  test('hashes text as UTF-8, and bytes as they are', () => {
    expect(sha256('é')).toBe(digest(Buffer.from('é')))
    expect(sha256(new Uint8Array([0xff, 0]))).toBe(digest(new Uint8Array([0xff, 0])))
  })

  test('is taken over a payload whose hash can be had from the line, redacted or not', () => {
    for (const note of [false, true]) {
      const envelope = { parent: 'b'.repeat(32), at: '2026-12-01T09:00:00.000Z', type: 'x', note }
      const line = encodeLine(envelope, { a: 'é' })
      expect(bodyOf(line)).toBe(digest('"a":"é"'))
      expect(bodyOf(encodeLine(envelope, {}))).toBe(digest(''))
      const tombstone = encodeTombstone(line.id, envelope, bodyOf(line), { a: 1 })
      expect(bodyOf(tombstone)).toBe(bodyOf(line))
      expect([tombstone.note, tombstone.redacted, line.redacted]).toEqual([note, true, false])
    }
  })
})

describe('a chain', () => {
  test('grows at its end, and is read from both', () => {
    const chain = push(push(push(null, 'a'), 'b'), 'c')
    expect(toArray(chain)).toEqual(['a', 'b', 'c'])
    expect([...backward(chain)]).toEqual(['c', 'b', 'a'])
    expect([chain.length, chain.before?.length]).toEqual([3, 2])
    expect(toArray(push(chain.before, 'd'))).toEqual(['a', 'b', 'd'])
    expect(toArray(chain)).toEqual(['a', 'b', 'c'])
    expect([toArray(null), [...backward(null)]]).toEqual([[], []])
  })
})
