import { describe, expect, it } from 'vitest'
import { fold } from '../../src/projections/replay.js'
import { rowOf } from '../../src/projections/row.js'
import { rowAt, sessionIndex } from '../../src/projections/session-index.js'
import { joinText, titleFrom } from '../../src/projections/text.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const rowOfLog = (log: LogWriter) => sessionIndex.view(fold(sessionIndex, log.events))
const begun = (payload: object = {}): LogWriter => {
  const log = new LogWriter()
  log.root(payload)
  return log
}
const ref = { $blob: 'ab'.repeat(32), bytes: 70_000, as: 'text' }
const tokens = (input: number, output: number) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
})

describe('what the root says', () => {
  it('is shown, and null where the root does not say it', () => {
    const point = { session: 'a'.repeat(32), event: 'b'.repeat(32) }
    const log = begun({
      forkedFrom: point,
      startedBy: point,
      origin: { format: 'claude', id: 'x', extra: { big: 1 } },
    })
    expect(rowOfLog(log)).toMatchObject({
      session: log.events[0]?.id,
      workspace: '/w',
      cwd: '/w',
      createdAt: '2026-12-01T09:00:00.000Z',
      origin: { format: 'claude', id: 'x' },
      forkedFrom: point,
      startedBy: point,
    })
    const bare = new LogWriter()
    bare.write('session', {}, { parent: null })
    expect(rowOfLog(bare)).toMatchObject({
      workspace: null,
      cwd: null,
      origin: null,
      forkedFrom: null,
      startedBy: null,
    })
  })

  it('an empty log has a row too', () => {
    expect(sessionIndex.view(sessionIndex.initial)).toMatchObject({
      session: '',
      title: 'New session',
      events: 0,
      branches: 0,
      head: null,
    })
  })
})

describe('title', () => {
  const titled = (...titles: readonly (readonly [string, string])[]) => {
    const log = begun()
    log.message('user', 'first prompt')
    for (const [title, by] of titles) log.write('title', { title, by })
    const { title, titleBy } = rowOfLog(log)
    return [title, titleBy]
  }

  it('auto replaces neither user nor import, import does not replace user, user replaces all', () => {
    expect(titled(['u', 'user'], ['a', 'auto'], ['i', 'import'])).toEqual(['u', 'user'])
    expect(titled(['i', 'import'], ['a', 'auto'])).toEqual(['i', 'import'])
    expect(titled(['a', 'auto'], ['b', 'auto'])).toEqual(['b', 'auto'])
    expect(titled(['a', 'auto'], ['i', 'import'], ['j', 'import'])).toEqual(['j', 'import'])
    expect(titled(['u', 'user'], ['v', 'user'])).toEqual(['v', 'user'])
    expect(titled(['x', 'nobody'])).toEqual(['first prompt', null])
  })

  it('comes from the first visible prompt that is no aside', () => {
    const log = begun()
    expect(rowOfLog(log)).toMatchObject({ title: 'New session', titleBy: null })
    log.message('user', 'hidden', { visible: false })
    log.message('user', 'by the way', { aside: true })
    log.message('assistant', 'hello')
    log.message('user', '  fix\n\tthe   bug ')
    log.message('user', 'another')
    expect(rowOfLog(log).title).toBe('fix the bug')
  })

  it('is cut at 100 code points, never inside one', () => {
    const log = begun()
    log.message('user', '😀'.repeat(150))
    expect(rowOfLog(log).title).toBe('😀'.repeat(100))
    expect(titleFrom(`${' '.repeat(2000)}${'a'.repeat(99)} b`)).toBe('a'.repeat(99))
  })

  it('reads [image] without text, [redacted] once redacted, [text] until a blob is resolved', () => {
    const image = begun()
    image.message('user', [{ type: 'image', media: 'image/png', data: ref }])
    expect(rowOfLog(image).title).toBe('[image]')
    const redacted = begun()
    redacted.write('message', { role: 'user', content: 'secret' }, { redacted: true, kept: { role: 'user' } })
    expect(rowOfLog(redacted).title).toBe('[redacted]')
    const blob = begun()
    blob.message('user', [
      { type: 'text', text: 'see' },
      { type: 'text', text: ref },
    ])
    expect(rowOfLog(blob)).toMatchObject({ title: '[text]', firstPrompt: ['see', ref] })
    expect(titleFrom(joinText(['see', 'the big file']))).toBe('see the big file')
    blob.write('title', { title: 'named', by: 'auto' })
    expect(rowOfLog(blob)).toMatchObject({ title: 'named', firstPrompt: null })
  })
})

describe('time and status', () => {
  it('naming, labelling and redacting change no time', () => {
    const log = begun()
    const { at } = log.message('user', 'x')
    log.write('title', { title: 't', by: 'user' })
    log.write('label', { target: log.head, label: 'l' })
    log.write('redaction', { ids: [], reason: 'r' })
    expect(rowOfLog(log).updatedAt).toBe(at)
    const status = log.write('status', { status: 'processing' })
    expect(rowOfLog(log)).toMatchObject({
      updatedAt: status.at,
      tail: status.id,
      tailAt: status.at,
      events: 6,
      head: log.head,
    })
  })

  it('an event that says an earlier time than one before it turns no clock back', () => {
    const log = begun()
    const { at } = log.message('user', 'x')
    const old = { ...log.message('user', 'imported'), at: '2020-01-01T00:00:00.000Z' }
    const state = fold(sessionIndex, [...log.events.slice(0, -1), old])
    expect(sessionIndex.view(state)).toMatchObject({ updatedAt: at, tailAt: at, tail: old.id })
  })

  it('is pending at first, then what the last note says; an unknown one says nothing', () => {
    const log = begun()
    expect(rowOfLog(log)).toMatchObject({ status: 'pending', reason: null })
    log.write('status', { status: 'failed', reason: 'no key' })
    log.write('status', { status: 'dancing' })
    expect(rowOfLog(log)).toMatchObject({ status: 'failed', reason: 'no key' })
  })

  it.each(['ask_permission', 'waiting_for_user'])(
    'an undo makes %s completed; a checkout does not',
    (status) => {
      const log = begun()
      const prompt = log.message('user', 'x')
      log.write('status', { status, reason: 'r' })
      log.move('checkout', prompt.id)
      expect(rowOfLog(log).status).toBe(status)
      log.move('undo', prompt.parent ?? '')
      expect(rowOfLog(log)).toMatchObject({ status: 'completed', reason: null })
    },
  )

  it('lists the processes that still run', () => {
    const log = begun()
    const process = { pid: 7, startedAt: 't1', command: 'npm start', deadline: 't9' }
    log.write('process', { ...process, state: 'started' })
    log.write('process', { pid: 8, startedAt: 't1', command: 'ls', state: 'started' })
    log.write('process', { pid: 8, startedAt: 't1', command: 'ls', state: 'exited', code: 0 })
    log.write('process', { pid: 7, startedAt: 't0', command: 'an older one of that pid', state: 'killed' })
    expect(rowOfLog(log).processes).toEqual([process])
    log.write('process', { pid: 7, startedAt: 't2', command: 'again', state: 'started' })
    expect(rowOfLog(log).processes).toEqual([{ pid: 7, startedAt: 't2', command: 'again' }])
  })
})

describe('usage', () => {
  it('sums messages, compactions and notes over all branches, per model', () => {
    const log = begun()
    const prompt = log.message('user', 'x')
    log.message('assistant', 'a', { model: 'm', usage: { input: 10, output: 2, cacheRead: 5, costUsd: 0.5 } })
    log.move('undo', prompt.id)
    log.message('assistant', 'b', { model: '__proto__', usage: { input: 1, output: 1 } })
    log.write('compaction', {
      summary: 's',
      through: prompt.id,
      model: 'm',
      usage: { input: 100, output: 10 },
    })
    log.write('usage', { for: 'title', usage: { input: 1, output: 1 } })
    const { usage, activeTokens } = rowOfLog(log)
    expect(usage.requests).toBe(4)
    expect(usage.total).toEqual({ ...tokens(112, 14), cacheRead: 5, costUsd: 0.5 })
    expect(Object.keys(usage.models).sort()).toEqual(['__proto__', 'm', 'unknown'])
    expect(usage.models.m).toEqual({ ...tokens(110, 12), cacheRead: 5, costUsd: 0.5, requests: 2 })
    expect(activeTokens).toBe(2)
  })

  it('sums stay numbers that JSON holds, whatever a log claims', () => {
    const log = begun()
    const huge = { input: Number.MAX_VALUE, output: 1, costUsd: -Number.MAX_VALUE }
    for (let n = 0; n < 3; n++) log.message('assistant', 'x', { usage: huge })
    const { total } = rowOfLog(log).usage
    expect(total).toMatchObject({ input: Number.MAX_VALUE, costUsd: -Number.MAX_VALUE })
  })

  it('a group counts once, by its last usage, results of tools between its events or not', () => {
    const log = begun()
    const part = (output: number) =>
      log.message('assistant', 'x', { group: 'g', model: 'm', usage: { input: 10, output } })
    part(1)
    log.message('tool', 'r', { toolCallId: 'c', group: 'other' })
    part(7)
    expect(rowOfLog(log).usage).toMatchObject({ requests: 1, total: tokens(10, 7) })
    log.message('assistant', 'y', { group: 'h', model: 'm', usage: { input: 1, output: 1 } })
    expect(rowOfLog(log).usage).toMatchObject({ requests: 2, total: tokens(11, 8) })
  })
})

describe('the members that depend on the branch', () => {
  it('each is the newest on the path of the head', () => {
    const log = begun()
    const prompt = log.message('user', 'x')
    log.message('assistant', 'text', { reasoning: 'old', refusal: 'no', usage: { input: 5, output: 1 } })
    const call = { id: 'c', name: 'bash', arguments: '{}' }
    const last = log.message('assistant', null, {
      toolCalls: [{ ...call, id: 'b' }, call],
      reasoning: [{ text: 'new', signature: 's' }],
    })
    log.message('assistant', 'aside', { aside: true, usage: { input: 500, output: 1 } })
    log.message('assistant', 'hidden', { visible: false, usage: { input: 6, output: 1 } })
    expect(rowOfLog(log)).toMatchObject({
      lastAssistant: 'text',
      lastReasoning: 'new',
      lastRefusal: null,
      lastTool: call,
      activeTokens: 7,
    })
    expect(rowOf(log.path())).toMatchObject({ event: last.id, toolEvent: last.id })
    log.move('undo', prompt.id)
    expect(rowOfLog(log)).toMatchObject({
      lastAssistant: null,
      lastReasoning: null,
      lastTool: null,
      activeTokens: 0,
    })
    log.move('redo', last.id)
    expect(rowOfLog(log)).toMatchObject({ lastAssistant: 'text', lastReasoning: 'new', lastTool: call })
  })

  it('a group is one message', () => {
    const log = begun()
    const say = (content: unknown, more: object = {}) =>
      log.message('assistant', content, { group: 'g', ...more })
    say(null, { reasoning: 'why' })
    say('one')
    say(null, { toolCalls: [{ id: 'c', name: 'n', arguments: '' }] })
    log.message('tool', 'r', { toolCallId: 'c' })
    say([{ type: 'text', text: 'two' }])
    expect(rowOfLog(log)).toMatchObject({ lastAssistant: 'one\ntwo', lastReasoning: 'why' })
    log.message('user', 'next')
    say('three')
    expect(rowOfLog(log)).toMatchObject({ lastAssistant: 'three', lastReasoning: null })
    log.message('assistant', null, { group: 'another' })
    say('four')
    expect(rowOfLog(log).lastAssistant).toBe('four')
  })

  it('a row of another shape in a head event is no row', () => {
    const log = begun()
    log.message('assistant', 'x')
    log.write('head', {
      to: log.head,
      from: log.head,
      reason: 'checkout',
      row: { branch: 3, lastAssistant: {}, lastTool: [], activeTokens: 'many' },
    })
    expect(rowOfLog(log)).toMatchObject({ lastAssistant: null, lastTool: null, activeTokens: 0 })
  })

  it('rowAt knows open ends only', () => {
    const log = begun()
    const message = log.message('assistant', 'x')
    const state = fold(sessionIndex, log.events)
    expect(rowAt(state, message.id)).toEqual(rowOf(log.path()))
    expect(rowAt(state, message.parent ?? '')).toBeNull()
    expect(rowAt(state, '__proto__')).toBeNull()
  })
})

describe('divergence', () => {
  it('a lost race shows both ends, by branch name; leaving an end on purpose shows none', () => {
    const log = begun()
    const shared = log.message('user', 'x')
    const mine = log.message('assistant', 'mine')
    log.move('branch', shared.id, shared.id)
    log.write('branch', { name: 'theirs' })
    const theirs = log.message('assistant', 'theirs')
    expect(rowOfLog(log)).toMatchObject({
      branches: 2,
      diverged: [{ branch: 'main', leaf: mine.id, at: mine.at }],
    })
    log.move('checkout', mine.id, theirs.id)
    expect(rowOfLog(log)).toMatchObject({ branches: 2, diverged: [] })
  })
})
