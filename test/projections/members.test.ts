import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { contentOf, isSameGroup, joinMessages } from '../../src/projections/groups.js'
import {
  callsOf,
  isPrompt,
  listOf,
  membersOf,
  numberOf,
  own,
  recordOf,
  sessionPointOf,
  stringOf,
  textMember,
  without,
} from '../../src/projections/members.js'
import {
  excerptOf,
  joinStored,
  joinText,
  oneLine,
  readText,
  textList,
  textOf,
  titleFrom,
} from '../../src/projections/text.js'
import { readUsage } from '../../src/projections/usage-tally.js'

const blob = { $blob: 'ab'.repeat(32), bytes: 5, as: 'text' as const }
const event = (members: object): Event => ({ id: '1', parent: null, at: '', type: 'message', ...members })

describe('a value of any shape is read as what it should be, or as nothing', () => {
  it('records, lists, texts and numbers', () => {
    expect([{}, { a: 1 }, [], null, 'x', 5, undefined].map(recordOf)).toEqual([
      {},
      { a: 1 },
      null,
      null,
      null,
      null,
      null,
    ])
    expect([[1], {}, 'x', null].map(listOf)).toEqual([[1], [], [], []])
    expect(['x', '', 5, null].map(stringOf)).toEqual(['x', '', null, null])
    expect([5, -1.5, '5', Number.NaN, Infinity, null].map(numberOf)).toEqual([
      5,
      -1.5,
      null,
      null,
      null,
      null,
    ])
    expect(Object.is(numberOf(-0), 0)).toBe(true)
  })

  it('members of a record by names that every object has', () => {
    const record = JSON.parse('{"__proto__":1,"a":2}') as Record<string, number>
    expect([own(record, '__proto__'), own(record, 'a'), own(record, 'constructor')]).toEqual([
      1,
      2,
      undefined,
    ])
    expect(without(record, 'a')).toEqual(JSON.parse('{"__proto__":1}'))
    expect(without(record, 'constructor')).toBe(record)
    expect(Object.keys(without(record, '__proto__'))).toEqual(['a'])
  })

  it('the members of an event, or what a redaction kept of them', () => {
    const whole = event({ role: 'user' })
    expect(membersOf(whole)).toBe(whole)
    expect(membersOf(event({ redacted: true, role: 'x', kept: { role: 'user' } }))).toEqual({ role: 'user' })
    expect(membersOf(event({ redacted: true, kept: 'x' }))).toEqual({})
    expect(membersOf(event({ redacted: 'true', role: 'x' }))).toMatchObject({ role: 'x' })
  })

  it('text: a string, or a blob with no member that a blob does not have', () => {
    expect(['x', '', 5, null, {}, { $blob: 5 }].map(textMember)).toEqual(['x', '', null, null, null, null])
    expect(textMember({ ...blob, media: 'a/b', more: 1 })).toStrictEqual({ ...blob, media: 'a/b' })
    expect(textMember({ $blob: 'a', bytes: 'x', as: 'other', media: 5 })).toStrictEqual({
      $blob: 'a',
      bytes: 0,
      as: 'text',
    })
    for (const as of ['json', 'base64']) expect(textMember({ ...blob, as })).toStrictEqual({ ...blob, as })
  })

  it('the calls of a message: those with an id, each id once, with what is left of them', () => {
    const call = { id: 'a', name: 'n', arguments: '{}' }
    expect(
      callsOf({
        toolCalls: [
          call,
          { ...call, name: 'again' },
          { name: 'n' },
          null,
          'x',
          { id: 'b' },
          { ...call, id: 'c', arguments: blob, more: 1 },
        ],
      }),
    ).toStrictEqual([call, { id: 'b', name: '', arguments: '' }, { ...call, id: 'c', arguments: blob }])
    expect([callsOf({}), callsOf({ toolCalls: 'x' })]).toEqual([[], []])
  })

  it('a prompt is a visible message of the user, and no aside', () => {
    const isOne = (members: object) => isPrompt(event(members), members as never)
    expect(isOne({ role: 'user' })).toBe(true)
    expect(isOne({ role: 'user', visible: true, aside: false })).toBe(true)
    expect(isOne({ role: 'assistant' })).toBe(false)
    expect(isOne({ role: 'user', visible: false })).toBe(false)
    expect(isOne({ role: 'user', aside: true })).toBe(false)
    expect(isOne({ type: 'custom', role: 'user' })).toBe(false)
  })

  it('a point of another session: the session, and the event where it says one', () => {
    expect(sessionPointOf({ session: 'a', event: 'b', more: 1 })).toEqual({ session: 'a', event: 'b' })
    expect(sessionPointOf({ session: 'a' })).toEqual({ session: 'a', event: null })
    expect([null, 'x', {}, { event: 'b' }, { session: 5 }].map(sessionPointOf)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
  })

  it('a usage: every count, a cost only where it is known, and null where nothing is', () => {
    expect(
      readUsage({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, costUsd: 0.5 }),
    ).toStrictEqual({
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 4,
      reasoning: 5,
      costUsd: 0.5,
    })
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    for (const name of Object.keys(none))
      expect(readUsage({ [name]: 7 })).toStrictEqual({ ...none, [name]: 7 })
    expect(readUsage({ costUsd: 0 })).toStrictEqual({ ...none, costUsd: 0 })
    expect([{}, null, 'x', [], { input: '1', costUsd: null }].map(readUsage)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
  })
})

describe('text', () => {
  it('of a content is its texts, joined where all are there, and none where it says nothing', () => {
    const part = (text: unknown) => ({ type: 'text', text })
    expect([textOf('x'), textOf(''), textOf(null), textOf(5), textOf([])]).toEqual([
      'x',
      null,
      null,
      null,
      null,
    ])
    expect(textOf(blob)).toEqual(blob)
    expect(textOf([part('a'), { type: 'image', text: 'no' }, part(''), part('b'), 'c', { text: 'd' }])).toBe(
      'a\nb\nc\nd',
    )
    expect(textOf([part('a')])).toBe('a')
    expect(textOf([part('a'), part(blob)])).toEqual(['a', blob])
    expect(textOf([part(blob)])).toEqual(blob)
    expect(textOf([null, 7, { type: 7, text: 'x' }, part(7)])).toBe(null)
    expect(joinStored([])).toBe(null)
  })

  it('that was joined before is read back, and taken apart again', () => {
    expect(readText('x')).toBe('x')
    expect(readText(['a', 'b'])).toBe('a\nb')
    expect(readText(['a', blob, 5, null])).toEqual(['a', blob])
    expect([readText([]), readText(5)]).toEqual([null, null])
    expect([textList(null), textList('a'), textList(['a', blob]), textList(blob)]).toEqual([
      [],
      ['a'],
      ['a', blob],
      [blob],
    ])
  })

  it('that is resolved may be parts, or lists of them, to a depth; all else says nothing', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'deep' : [nested(depth - 1)])
    expect(joinText('x')).toBe('x')
    expect(
      joinText([{ type: 'text', text: 'a' }, '', { text: 'b' }, { type: 'image', text: 'no' }, null, 7]),
    ).toBe('a\nb')
    expect(joinText({ type: 'text' })).toBe('')
    expect(joinText({ type: 'text', text: [{ text: 'in a blob' }] })).toBe('in a blob')
    expect([joinText(nested(4)), joinText(nested(5)), joinText(nested(40))]).toEqual(['deep', '', ''])
  })

  it('on one line has single spaces and is cut between code points', () => {
    expect(oneLine(' a \n\t b  ', 10)).toBe('a b')
    expect(oneLine('abcdef', 3)).toBe('abc')
    expect(oneLine('ab cdef', 3)).toBe('ab')
    expect(oneLine('😀😀😀', 2)).toBe('😀😀')
    expect(oneLine(`${' '.repeat(500)}far`, 10)).toBe('far')
    expect(oneLine(`a${' '.repeat(500)}b`, 10)).toBe('a b')
    expect(oneLine('x'.repeat(1_000), 10)).toBe('x'.repeat(10))
    expect(oneLine('', 10)).toBe('')
    expect([titleFrom(' \n '), titleFrom('t')]).toEqual(['[image]', 't'])
  })

  it('in a drawing is its beginning; one in a blob is only named', () => {
    expect(excerptOf('a\nb')).toBe('a b')
    expect(excerptOf('x'.repeat(100))).toBe('x'.repeat(80))
    expect(excerptOf('abcdef', 3)).toBe('abc')
    expect(excerptOf(blob)).toBe('[text]')
    expect(
      excerptOf([
        { type: 'text', text: 'a' },
        { type: 'text', text: blob },
      ]),
    ).toBe('a')
    expect([excerptOf(null), excerptOf([])]).toEqual(['', ''])
  })
})

describe('a group', () => {
  const message = (members: object) => ({ role: 'assistant', group: 'g', content: null, ...members })

  it('is of one role and one name; without a name there is none', () => {
    expect(isSameGroup(message({}), message({}))).toBe(true)
    expect(isSameGroup(message({}), message({ group: 'h' }))).toBe(false)
    expect(isSameGroup(message({}), message({ role: 'user' }))).toBe(false)
    expect(isSameGroup(message({ group: undefined }), message({ group: undefined }))).toBe(false)
    expect(isSameGroup(message({ group: 5 }), message({ group: 5 }))).toBe(false)
  })

  it('joins contents as parts in order; one that says nothing adds nothing', () => {
    const joined = (a: unknown, b: unknown) =>
      joinMessages(message({ content: a }), message({ content: b })).content
    const text = (value: unknown) => ({ type: 'text', text: value })
    expect(joined('a', 'b')).toEqual([text('a'), text('b')])
    expect(joined('a', [text('b')])).toEqual([text('a'), text('b')])
    expect(joined([text('a')], blob)).toEqual([text('a'), text(blob)])
    expect([joined('a', null), joined('a', ''), joined(null, 'b'), joined('', 'b')]).toEqual([
      'a',
      'a',
      'b',
      'b',
    ])
    expect([joined(null, null), joined('', null), joined(null, '')]).toEqual([null, '', ''])
    expect(joined([], 'b')).toEqual([text('b')])
    expect(contentOf([1, 'x'])).toEqual([1, 'x'])
  })

  it('joins calls, reasoning and replays in order, and has them only where one of its events does', () => {
    const joined = (a: object, b: object) => joinMessages(message(a), message(b))
    expect(joined({}, {})).toStrictEqual(message({}))
    expect(joined({ toolCalls: [{ id: 'a' }] }, { toolCalls: [{ id: 'b' }] }).toolCalls).toEqual([
      { id: 'a' },
      { id: 'b' },
    ])
    expect(joined({ toolCalls: [{ id: 'a' }] }, {}).toolCalls).toEqual([{ id: 'a' }])
    expect('toolCalls' in joined({ toolCalls: [] }, { toolCalls: 'x' })).toBe(false)
    expect(joined({ reasoning: 'a' }, { reasoning: [{ text: 'b', signature: 's' }] }).reasoning).toEqual([
      { text: 'a' },
      { text: 'b', signature: 's' },
    ])
    expect(joined({ reasoning: 'a' }, { reasoning: null }).reasoning).toBe('a')
    expect(joined({ reasoning: null }, { reasoning: 'b' }).reasoning).toBe('b')
    expect(joined({ replay: { x: 1 } }, { replay: [{ y: 2 }] }).replay).toEqual([{ x: 1 }, { y: 2 }])
    expect(joined({ replay: [1] }, {}).replay).toEqual([1])
  })

  it('has the rest of its last event', () => {
    expect(joinMessages(message({ model: 'a', stop: 'x' }), message({ model: 'b', ok: true }))).toStrictEqual(
      message({ model: 'b', stop: 'x', ok: true }),
    )
  })
})
