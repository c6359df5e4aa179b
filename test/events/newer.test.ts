import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { Damage } from '../../src/events/errors/index.js'
import { eventOf, eventsOf } from '../../src/events/event-of.js'
import { encodeLine, encodeTombstone, type Line, parseLine } from '../../src/events/line.js'
import { refuseNewer, refuseNewerLine } from '../../src/events/newer.js'
import { messageOn, rootLine, timeAt } from '../support/logs.js'

const root = rootLine()
const lineOf = (type: string, payload: object, note = false): Line =>
  encodeLine({ parent: root.id, at: timeAt(1), type, note }, payload)
const rootOf = (payload: object): Line =>
  encodeLine({ parent: null, at: timeAt(0), type: 'session', note: false }, payload)

/** What both readers say of a line: the one of lines looks only where it must, and says the same. */
const saidOf = (line: Line): string | null => {
  const event = parseLine(line)
  if (E.isLeft(event)) throw new Error(event.left)
  const said = refuseNewer(event.right, '/x')?.message ?? null
  expect(refuseNewerLine(line, '/x')?.message ?? null).toBe(said)
  return said
}

describe('a newer version', () => {
  test('is needed for another format, and for a type that says that it must be understood', () => {
    expect(saidOf(rootOf({ format: 2, nonce: '' }))).toBe(
      'written by a newer version: needs format 2: /x: update coppice to read it',
    )
    expect(saidOf(rootOf({ nonce: '' }))).toContain('needs format undefined')
    expect(saidOf(rootOf({ format: '1' }))).toContain('needs format 1')
    expect(saidOf(lineOf('splice', { required: true }))).toBe(
      'written by a newer version: needs the event type splice: /x: update coppice to read it',
    )
    expect(saidOf(lineOf('splice', { required: true, needs: 'coppice 3' }, true))).toBe(
      'written by a newer version: needs coppice 3, for the event type splice: /x: update coppice to read it',
    )
    expect(saidOf(lineOf('splice', { required: true, needs: 3 }))).toContain('needs the event type splice')
  })

  test('is not needed for what this one knows, or may pass over', () => {
    expect(saidOf(root)).toBe(null)
    expect(saidOf(lineOf('splice', { required: 'true' }))).toBe(null)
    expect(saidOf(lineOf('splice', {}))).toBe(null)
    expect(saidOf(lineOf('message', { role: 'user', content: '', required: true, format: 2 }))).toBe(null)
  })

  test('is not what a line that is no JSON needs: that is damage, and told by who parses it', () => {
    const line = lineOf('splice', { required: true })
    const broken = { ...line, bytes: Buffer.from(`${line.bytes.toString().slice(0, -1)},}`) }
    expect(refuseNewerLine(broken, '/x')).toBe(null)
  })
})

describe('the event of a line', () => {
  const good = messageOn(root.id, 1)
  const bad = { ...messageOn(good.id, 2), offset: 70 }
  const broken: Line = { ...bad, bytes: Buffer.from(`${bad.bytes.toString().slice(0, -1)},}`) }
  const newer = lineOf('splice', { required: true })
  const place = { kind: 'payload', line: 0, offset: 70, bytes: broken.bytes.length }

  test('is what it holds; a payload that is none, or a newer type, is refused', () => {
    expect(eventOf(good, '/x')).toMatchObject({ id: good.id, content: 'message 1' })
    expect(() => eventOf(newer, '/x')).toThrow('needs the event type splice: /x')
    expect(() => eventOf(broken, '/x')).toThrow(`damaged log (payload): ${bad.id}: the payload is no JSON (`)
    try {
      eventOf(broken, '/x')
    } catch (error) {
      expect((error as { damage: Damage }).damage).toMatchObject(place)
    }
  })

  test('of several is refused at the first that is damaged, or, to save the rest, passed over and told', () => {
    expect(() => eventsOf([good, broken], '/x')).toThrow('damaged log (payload)')
    expect(() => eventsOf([good, broken], '/x', { salvage: false })).toThrow('damaged log (payload)')
    const told: Damage[] = []
    const events = eventsOf([good, broken, good], '/x', {
      salvage: true,
      report: (damage) => told.push(damage),
    })
    expect(events.map(({ id }) => id)).toEqual([good.id, good.id])
    expect(told).toMatchObject([place])
    expect(eventsOf([broken], '/x', { salvage: true })).toEqual([])
    expect(() => eventsOf([newer], '/x', { salvage: true })).toThrow('needs the event type splice')
  })

  test('that was redacted may say anything of what was kept, but nothing else', () => {
    const tombstone = encodeTombstone(good.id, good, '0'.repeat(64), { role: 'user' })
    expect(eventsOf([tombstone], '/x')).toMatchObject([{ redacted: true, kept: { role: 'user' } }])
  })
})
