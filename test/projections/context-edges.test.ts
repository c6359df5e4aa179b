import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { codeStateAfter, codeStateOf, tellsOfFiles } from '../../src/projections/code-state.js'
import { context } from '../../src/projections/context.js'
import { nextLeaves, noLeaves } from '../../src/projections/leaves.js'
import { messages } from '../../src/projections/messages.js'
import { fold, replay } from '../../src/projections/replay.js'
import { rowOf } from '../../src/projections/row.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const begun = (): LogWriter => {
  const log = new LogWriter()
  log.root()
  return log
}
const contextOf = (log: LogWriter) => context.view(replay(context, log.events))
const said = (log: LogWriter) => contextOf(log).map(({ role, content }) => [role, content])
const call = (id: string) => ({ id, name: 'bash', arguments: '{}' })
/** An event that no log of ours holds, and a foreign one may: a note of a type that is none. */
const asNote = (event: Event): Event => ({ ...event, note: true })

describe('a note', () => {
  it('is no part of the conversation, whatever its type', () => {
    const log = begun()
    const first = log.message('user', 'first')
    const said = log.message('assistant', 'said')
    const events = [...log.events.slice(0, 2), asNote({ ...said, parent: first.id })]
    expect(context.view(fold(context, events))).toEqual([{ role: 'user', content: 'first', ids: [first.id] }])
    expect(messages.view(fold(messages, events)).messages.map(({ id }) => id)).toEqual([first.id])
    expect(rowOf(events)).toEqual(rowOf(events.slice(0, 2)))
    const row = sessionIndex.view(fold(sessionIndex, events))
    expect([row.head, row.tail, row.lastAssistant]).toEqual([first.id, said.id, null])
  })

  it('of how far a call came says so of that call only, and only where it was started', () => {
    const log = begun()
    const first = log.message('assistant', null, { toolCalls: [call('a'), call('b'), call('c')] })
    log.write('tool', { toolCallId: 'a', state: 'started' })
    log.write('tool', { toolCallId: 'b', state: 'allowed' })
    log.write('tool', { toolCallId: 7, state: 'started' })
    log.write('process', { toolCallId: 'b', state: 'started' })
    log.write('custom', { name: 'n', data: 1, toolCallId: 'b', state: 'started' })
    log.message('assistant', null, { toolCalls: [call('a')] })
    const interrupted = 'The call was interrupted, outcome unknown: check before retrying.'
    const unstarted = 'The call was not started: it had no effect.'
    expect(contextOf(log).filter(({ role }) => role === 'tool')).toEqual([
      {
        role: 'tool',
        content: interrupted,
        toolCallId: 'a',
        ok: false,
        synthetic: 'outcome unknown',
        ids: [],
      },
      ...['b', 'c', 'a'].map((toolCallId) => ({
        role: 'tool',
        content: unstarted,
        toolCallId,
        ok: false,
        synthetic: 'not started',
        ids: [],
      })),
    ])
    expect(contextOf(log)[0]?.ids).toEqual([first.id])
  })
})

describe('a message of the context', () => {
  it('has what its event says of how it was made, and nothing where it says nothing', () => {
    const log = begun()
    const none = { reasoning: null, replay: null, refusal: null, model: null, provider: null }
    const a = log.message('assistant', 'a', none)
    const all = { reasoning: 'r', replay: [1], refusal: 'no', model: 'm', provider: 'p' }
    const b = log.message('assistant', 'b', { ...all, stop: 'end', usage: { input: 1, output: 1 } })
    expect(contextOf(log)).toStrictEqual([
      { role: 'assistant', content: 'a', ids: [a.id] },
      { role: 'assistant', content: 'b', ...all, ids: [b.id] },
    ])
  })

  it('that says nothing is left out; a refusal, or a part that is no empty text, says something', () => {
    const log = begun()
    const text = { type: 'text', text: '' }
    for (const content of [null, '', [], [text, text]]) log.message('user', content, { refusal: null })
    for (const content of [[{ type: 'image', text: '' }], [text, { type: 'text', text: 'x' }], [null]])
      log.message('user', content)
    log.message('assistant', null, { refusal: '' })
    expect(contextOf(log).map(({ content }) => content)).toEqual([
      [{ type: 'image', text: '' }],
      [text, { type: 'text', text: 'x' }],
      [null],
      null,
    ])
  })

  it('of a tool that does not say whether it went well, says nothing of it either; without content it is empty', () => {
    const log = begun()
    log.message('assistant', null, { toolCalls: [call('a'), call('b')] })
    const a = log.message('tool', 'x', { toolCallId: 'a', ok: 'yes' })
    const b = log.message('tool', null, { toolCallId: 'b', ok: false })
    expect(contextOf(log).slice(1)).toStrictEqual([
      { role: 'tool', content: 'x', toolCallId: 'a', ids: [a.id] },
      { role: 'tool', content: '', toolCallId: 'b', ok: false, ids: [b.id] },
    ])
  })

  it('of a role that nobody has is none; only a tool answers, and only an assistant is answered', () => {
    const log = begun()
    log.message('oracle', 'x')
    const asked = log.message('user', 'u', { toolCalls: [call('a')], toolCallId: 'a' })
    log.message('tool', 'r', { toolCallId: 'a' })
    log.message('assistant', 'calling', { toolCalls: [call('b')] })
    log.message('assistant', 'no result', { toolCallId: 'b' })
    log.message('tool', 'of no call')
    expect(said(log)).toEqual([
      ['user', 'u'],
      ['assistant', 'calling'],
      ['tool', 'The call was not started: it had no effect.'],
      ['assistant', 'no result'],
    ])
    const [shown] = messages.view(replay(messages, log.events)).messages.slice(1)
    expect([shown?.id, shown?.results]).toEqual([asked.id, {}])
  })

  it('of an embedder is what it says for the model, an aside or not', () => {
    const log = begun()
    log.write('custom', { name: 'n', data: 1, content: 'aside', aside: true })
    log.write('custom', { name: 'n', data: 1, content: 'secret' }, { redacted: true, kept: { content: 'x' } })
    const { id } = log.write('custom', { name: 'n', data: 1, content: 'x', model: 'm', toolCallId: 'c' })
    expect(contextOf(log)).toStrictEqual([{ role: 'user', content: 'x', ids: [id] }])
  })
})

describe('an edit', () => {
  it('replaces the words, and the old ones that stand in other members; reasoning stays with words of its own', () => {
    const log = begun()
    const more = { reasoning: 'why', refusal: 'no', replay: ['old words'], model: 'm' }
    const a = log.message('assistant', 'old', more)
    const b = log.message('assistant', 'old', { ...more, toolCalls: [call('x')] })
    const c = log.message('assistant', 'old')
    log.write('edit', { target: a.id, replacement: 'new' })
    log.write('edit', { target: b.id, replacement: null })
    log.write('edit', { target: c.id, replacement: 'new' })
    log.write('edit', { target: 7, replacement: 'of nothing' })
    log.write('custom', { name: 'n', data: 1, target: c.id, replacement: 'no edit' })
    expect(contextOf(log).filter(({ role }) => role === 'assistant')).toStrictEqual([
      { role: 'assistant', content: 'new', reasoning: 'why', model: 'm', ids: [a.id] },
      { role: 'assistant', content: null, toolCalls: [call('x')], model: 'm', ids: [b.id] },
      { role: 'assistant', content: 'new', ids: [c.id] },
    ])
  })
})

describe('a compaction', () => {
  it('keeps what it names in full: an entry without an id or a message is none', () => {
    const log = begun()
    const { id } = log.message('user', 'covered')
    const keep = [
      null,
      'x',
      { id },
      { message: { role: 'user', content: 'of nobody' } },
      { id, message: 'x' },
    ]
    const kept = { id, message: { role: 'user', content: 'kept' } }
    log.write('compaction', { summary: 's', through: id, keep: [...keep, kept] })
    expect(said(log)).toEqual([
      ['user', 'kept'],
      ['user', 's'],
    ])
  })

  it('through an event that is not there covers nothing; what a note of that id says is no place to cut', () => {
    const log = begun()
    log.message('user', 'a')
    log.write('compaction', { summary: 's', through: 'f'.repeat(32) })
    log.message('user', 'b')
    expect(said(log)).toEqual([
      ['user', 's'],
      ['user', 'a'],
      ['user', 'b'],
    ])
  })

  it('of which only the event is left says that it was redacted; the second one sums up the first', () => {
    const log = begun()
    const a = log.message('user', 'a')
    log.write('compaction', { summary: 'first', through: a.id })
    const b = log.message('user', 'b')
    log.write('compaction', { summary: 'x', through: b.id }, { redacted: true, kept: { through: b.id } })
    log.message('user', 'c')
    expect(said(log)).toEqual([
      ['user', '[redacted]'],
      ['user', 'c'],
    ])
  })
})

describe('the row at an end', () => {
  it('goes on with a group until someone else speaks; what a group said earlier stands', () => {
    const log = begun()
    const say = (content: unknown, more: object = {}) =>
      log.message('assistant', content, { group: 'g', ...more })
    say('one', { refusal: 'no', reasoning: 'why' })
    say(null)
    expect(rowOf(log.path())).toMatchObject({ lastAssistant: 'one', lastRefusal: 'no', lastReasoning: 'why' })
    log.message('assistant', 'other', { group: 'h' })
    expect(rowOf(log.path())).toMatchObject({
      lastAssistant: 'other',
      lastRefusal: null,
      lastReasoning: null,
    })
    log.message('assistant', 'of no group')
    log.message('assistant', 'of no group again')
    expect(rowOf(log.path())).toMatchObject({ group: null, lastAssistant: 'of no group again' })
    say('a')
    log.message('user', 'aside', { aside: true })
    say('b')
    expect(rowOf(log.path()).lastAssistant).toBe('a\nb')
    log.message('user', 'next')
    const before = rowOf(log.path())
    expect(before).toMatchObject({ branch: 'main', group: null, textGroup: null, lastAssistant: 'a\nb' })
    log.message('user', 'and again')
    expect(rowOf(log.path())).toEqual(before)
    log.write('custom', { name: 'n', data: 1, role: 'assistant', content: 'no message' })
    expect(rowOf(log.path())).toEqual(before)
  })

  it('that a head event holds is read with the care of any other member', () => {
    const log = begun()
    log.write('branch', { name: 'side' })
    const above = log.head ?? ''
    const rowWith = (row: unknown) => {
      log.write('head', { to: above, from: above, reason: 'checkout', row }, { parent: above })
      return rowOf(log.path())
    }
    const blob = { $blob: 'a'.repeat(64), bytes: 1, as: 'text' }
    expect(rowWith('x').branch).toBe('side')
    expect(rowWith({ branch: 'other', lastTool: { id: 'c' }, lastAssistant: ['a', blob, 7] })).toMatchObject({
      branch: 'other',
      lastTool: { id: 'c', name: '', arguments: '' },
      lastAssistant: ['a', blob],
    })
    expect(rowWith({ lastTool: { name: 'n' } })).toMatchObject({ branch: 'side', lastTool: null })
    expect(rowWith({ lastTool: 'x', activeTokens: -0 })).toMatchObject({ lastTool: null, activeTokens: 0 })
  })
})

describe('the leaves', () => {
  it('forget the head events that point at a node once it has a child', () => {
    const log = begun()
    const a = log.message('user', 'a')
    const b = log.message('user', 'b', {}, a.id)
    log.move('checkout', b.id)
    const toB = log.events.at(-1)
    const c = log.message('user', 'c', {}, a.id)
    log.move('checkout', c.id)
    const before = log.events.reduce(nextLeaves, noLeaves)
    expect(Object.values(before.bases)).toEqual([b.id, c.id])
    const child = log.message('user', 'after b', {}, toB?.id)
    const after = nextLeaves(before, child)
    expect(Object.values(after.bases)).toEqual([c.id])
    expect(after).toMatchObject({ newest: child.id, others: { [c.id]: true } })
    expect(nextLeaves(after, child)).toBe(after)
  })
})

describe('the code state', () => {
  const file = { path: 'workspace/a', kind: 'file', mode: 0o644, oid: 'aa', bytes: 1 }
  const at = '2026-12-01T09:00:00.000Z'
  const event = (type: string, payload: object): Event => ({ id: type, parent: null, at, type, ...payload })

  it('is told by checkpoints, restores, and moves that restore; the rest changes nothing', () => {
    const state = codeStateOf([event('checkpoint', { commit: 'c', reason: 'prompt', files: [file] })])
    for (const [other, tells] of [
      [event('message', { restore: { files: [file] }, files: [file], commit: 'd' }), false],
      [event('head', {}), false],
      [event('head', { restore: { files: [] } }), true],
      [event('restore', { files: [] }), true],
      [event('checkpoint', { failed: 'x' }), true],
    ] as const) {
      expect([other, tellsOfFiles(other)]).toEqual([other, tells])
      if (!tells) expect(codeStateAfter(state, other)).toBe(state)
    }
    const before = structuredClone(state.files)
    const next = codeStateAfter(state, event('restore', { files: [{ path: 'workspace/a', kind: 'absent' }] }))
    expect(next.files.get('workspace/a')).toMatchObject({ last: { kind: 'absent' }, reason: 'restore' })
    expect(state.files).toEqual(before)
  })

  it('has what a record says of the disk, and no more of it', () => {
    const link = { path: 'workspace/l', kind: 'link', oid: 'bb', bytes: 2, mode: 0o777, action: 'write' }
    const gone = { path: 'workspace/g', kind: 'absent', oid: 'cc', action: 'remove' }
    const { files } = codeStateOf([
      event('checkpoint', { commit: 'c', reason: 7, files: [{ ...file, by: 7, action: 'x' }, link, gone] }),
    ])
    expect(files.get('workspace/a')).toMatchObject({ last: file, first: file, reason: '', others: [] })
    expect([...files.values()].map(({ last }) => last)).toStrictEqual([
      file,
      { path: 'workspace/l', kind: 'link', oid: 'bb', bytes: 2 },
      { path: 'workspace/g', kind: 'absent' },
    ])
  })

  it('knows the last search of the whole workspace, when it was, and what it left out', () => {
    const checkpoint = (scan: unknown) => event('checkpoint', { commit: 'c', files: [], scan })
    const left = [
      { path: 'workspace/big', why: 'too large' },
      { path: 'workspace/x' },
      { why: 'no path' },
      null,
    ]
    const scanned = codeStateOf([checkpoint({ complete: true, left })])
    expect(scanned.scan).toMatchObject({
      complete: true,
      at,
      left: [
        { path: 'workspace/big', why: 'too large' },
        { path: 'workspace/x', why: '' },
      ],
    })
    expect(codeStateOf([checkpoint({ complete: 'yes' })]).scan).toMatchObject({ complete: false, left: [] })
    expect(codeStateOf([checkpoint('x')]).scan).toBe(null)
    expect(codeStateAfter(scanned, checkpoint(undefined)).scan).toEqual(scanned.scan)
  })
})
