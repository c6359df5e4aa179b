import { describe, expect, it } from 'vitest'
import { context } from '../../src/projections/context.js'
import { replay } from '../../src/projections/replay.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const begun = (): LogWriter => {
  const log = new LogWriter()
  log.root()
  return log
}
const contextOf = (log: LogWriter, leaf?: string) => context.view(replay(context, log.events, leaf))
const said = (log: LogWriter) => contextOf(log).map(({ role, content }) => [role, content])
const call = (id: string) => ({ id, name: 'bash', arguments: '{}' })

describe('what goes in', () => {
  it('leaves out what is not for the model: asides and context:false, their calls and results too', () => {
    const log = begun()
    log.message('system', 'be brief')
    log.message('user', 'hi')
    log.message('user', 'an aside', { aside: true })
    log.message('assistant', null, { context: false, toolCalls: [call('x')] })
    log.message('tool', 'of what is out', { toolCallId: 'x' })
    log.message('assistant', 'hidden from people only', { visible: false })
    expect(said(log)).toEqual([
      ['system', 'be brief'],
      ['user', 'hi'],
      ['assistant', 'hidden from people only'],
    ])
  })

  it('applies the last edit of the branch; null takes a message out, and a result reads [removed]', () => {
    const log = begun()
    const a = log.message('user', 'a')
    const b = log.message('user', 'b')
    log.message('assistant', 'calling', { toolCalls: [call('x')], replay: [{ type: 'thinking' }] })
    const assistant = log.head ?? ''
    const result = log.message('tool', 'secret', { toolCallId: 'x', ok: true })
    const before = log.head ?? ''
    for (const [target, replacement] of [
      [a.id, 'first'],
      [a.id, 'second'],
      [b.id, null],
      [assistant, null],
      [result.id, null],
    ])
      log.write('edit', { target, replacement })
    expect(contextOf(log)).toEqual([
      { role: 'user', content: 'second', ids: [a.id] },
      { role: 'assistant', content: null, toolCalls: [call('x')], ids: [assistant] },
      { role: 'tool', content: '[removed]', toolCallId: 'x', ok: true, ids: [result.id] },
    ])
    expect(contextOf(log, before)[0]?.content).toBe('a')
  })

  it('a redacted edit still hides what it replaced', () => {
    const log = begun()
    const target = log.message('user', 'first').id
    log.write('edit', { target, replacement: 'second' }, { redacted: true, kept: { target } })
    expect(said(log)).toEqual([['user', '[redacted]']])
  })

  it("an embedder's event with content speaks as the user; other types are passed over", () => {
    const log = begun()
    log.write('custom', { name: 'n', data: 1, content: 'note this' })
    log.write('custom', { name: 'n', data: 1 })
    log.write('custom', { name: 'n', data: 1, content: 'not this', context: false })
    log.write('future', { role: 'user', content: 'x' })
    expect(said(log)).toEqual([['user', 'note this']])
  })

  it('a redacted message says so, and its calls stay paired', () => {
    const log = begun()
    log.write('message', { role: 'user', content: 'secret' }, { redacted: true, kept: { role: 'user' } })
    log.write(
      'message',
      { role: 'assistant' },
      { redacted: true, kept: { role: 'assistant', toolCalls: [{ id: 'x', name: 'bash' }] } },
    )
    log.write('message', { role: 'tool' }, { redacted: true, kept: { role: 'tool', toolCallId: 'x' } })
    expect(said(log)).toEqual([
      ['user', '[redacted]'],
      ['assistant', '[redacted]'],
      ['tool', '[redacted]'],
    ])
  })

  it('joins a group', () => {
    const log = begun()
    log.message('assistant', 'one', { group: 'g', toolCalls: [call('a')] })
    log.message('tool', 'ra', { toolCallId: 'a' })
    log.message('assistant', 'two', { group: 'g', toolCalls: [call('b')] })
    log.message('tool', 'rb', { toolCallId: 'b' })
    expect(contextOf(log)).toMatchObject([
      { role: 'assistant', content: [{ text: 'one' }, { text: 'two' }], toolCalls: [call('a'), call('b')] },
      { toolCallId: 'a', content: 'ra' },
      { toolCallId: 'b', content: 'rb' },
    ])
  })
})

describe('compaction', () => {
  it('keeps what it names, then its summary, then everything after `through`', () => {
    const log = begun()
    log.message('system', 'rules')
    const pinned = log.message('user', 'pinned')
    const through = log.message('assistant', 'covered')
    log.message('user', 'between')
    const { id } = log.write('compaction', {
      summary: 'so far',
      through: through.id,
      keep: [{ id: pinned.id, message: { role: 'user', content: 'as seen' } }],
    })
    log.message('assistant', 'after')
    expect(said(log)).toEqual([
      ['user', 'as seen'],
      ['user', 'so far'],
      ['user', 'between'],
      ['assistant', 'after'],
    ])
    expect(contextOf(log)[1]).toEqual({ role: 'user', content: 'so far', summary: true, ids: [id] })
    log.write('edit', { target: pinned.id, replacement: 'edited since' })
    expect(said(log)[0]).toEqual(['user', 'edited since'])
  })

  it('without `keep` keeps the system messages of the path, edited', () => {
    const log = begun()
    const system = log.message('system', 'rules')
    log.message('system', 'not for the model', { context: false })
    log.write('edit', { target: system.id, replacement: 'new rules' })
    const one = log.message('user', 'one')
    log.write('compaction', { summary: 's1', through: one.id })
    log.message('system', 'later')
    const two = log.message('user', 'two')
    log.write('compaction', { summary: 's2', through: two.id })
    expect(said(log)).toEqual([
      ['system', 'new rules'],
      ['system', 'later'],
      ['user', 's2'],
    ])
  })

  it('a pinned call without a kept result is left out', () => {
    const log = begun()
    const message = { role: 'assistant', content: 'pinned', toolCalls: [call('a'), call('b')] }
    log.write('compaction', {
      summary: 's',
      through: log.head,
      keep: [
        { id: 'a'.repeat(32), message },
        { id: 'b'.repeat(32), message: { role: 'tool', toolCallId: 'b', content: 'rb' } },
      ],
    })
    expect(contextOf(log)).toMatchObject([
      { content: 'pinned', toolCalls: [call('b')] },
      { toolCallId: 'b' },
      { content: 's' },
    ])
  })

  it('what is kept and comes after `through` all the same stands once, in its place', () => {
    const log = begun()
    const through = log.head
    const pinned = log.message('user', 'pinned')
    log.write('compaction', {
      summary: 's',
      through,
      keep: [{ id: pinned.id, message: { role: 'user', content: 'pinned' } }],
    })
    expect(said(log)).toEqual([
      ['user', 's'],
      ['user', 'pinned'],
    ])
  })

  it('an empty summary is left out, a redacted one says so', () => {
    const log = begun()
    log.write('compaction', { summary: '', through: log.head })
    expect(said(log)).toEqual([])
    log.write('compaction', {}, { redacted: true, kept: { through: log.events[0]?.id } })
    expect(said(log)).toEqual([['user', '[redacted]']])
  })
})

describe('repair', () => {
  it('a message of nothing but empty texts says nothing, as one without content', () => {
    const log = begun()
    log.message('assistant', [{ type: 'text', text: '' }], { reasoning: 'hm' })
    log.message('assistant', '', { reasoning: 'hm' })
    log.message('assistant', [
      { type: 'text', text: '' },
      { type: 'text', text: 'yes' },
    ])
    expect(said(log)).toEqual([
      [
        'assistant',
        [
          { type: 'text', text: '' },
          { type: 'text', text: 'yes' },
        ],
      ],
    ])
  })

  it('results follow their call in call order, the last one written counts, orphans are left out', () => {
    const log = begun()
    log.message('tool', 'before any call', { toolCallId: 'a' })
    log.message('assistant', null, { toolCalls: [call('a'), call('b')] })
    log.message('tool', 'b', { toolCallId: 'b' })
    log.message('tool', 'first a', { toolCallId: 'a' })
    log.message('tool', 'nobody', { toolCallId: 'z' })
    log.message('user', 'meanwhile')
    log.message('tool', 'second a', { toolCallId: 'a' })
    expect(said(log)).toEqual([
      ['assistant', null],
      ['tool', 'second a'],
      ['tool', 'b'],
      ['user', 'meanwhile'],
    ])
  })

  it('an id that comes again belongs to the nearest call before the result', () => {
    const log = begun()
    for (const n of [1, 2]) {
      log.message('assistant', null, { toolCalls: [call('same')] })
      log.message('tool', `result ${n}`, { toolCallId: 'same' })
    }
    expect(said(log)).toEqual([
      ['assistant', null],
      ['tool', 'result 1'],
      ['assistant', null],
      ['tool', 'result 2'],
    ])
  })

  it('an id that comes again within a group is one call, with the last result', () => {
    const log = begun()
    for (const n of [1, 2]) {
      log.message('assistant', null, { group: 'g', toolCalls: [call('same'), call('same')] })
      log.message('tool', `result ${n}`, { toolCallId: 'same' })
    }
    expect(contextOf(log)).toMatchObject([{ toolCalls: [call('same')] }, { content: 'result 2' }])
    expect(contextOf(log)).toHaveLength(2)
  })

  it('a call without result is not started, or its outcome is unknown where it was', () => {
    const log = begun()
    const { id } = log.message('assistant', null, { toolCalls: [call('a'), call('b'), call('c')] })
    log.message('tool', 'done', { toolCallId: 'c' })
    log.write('tool', { toolCallId: 'a', state: 'asked' }, { parent: id })
    log.write('tool', { toolCallId: 'b', state: 'asked' }, { parent: id })
    log.write('tool', { toolCallId: 'b', state: 'started' }, { parent: id })
    log.message('user', 'go on')
    const [, a, b, c] = contextOf(log)
    expect(a).toMatchObject({ toolCallId: 'a', ok: false, synthetic: 'not started', ids: [] })
    expect(a?.content).toContain('not started')
    expect(b).toMatchObject({ toolCallId: 'b', ok: false, synthetic: 'outcome unknown' })
    expect(b?.content).toContain('outcome unknown: check before retrying')
    expect(c).toMatchObject({ content: 'done' })
    expect(c).not.toHaveProperty('synthetic')
  })

  it('only an assistant calls', () => {
    const log = begun()
    log.message('user', 'x', { toolCalls: [call('a')] })
    expect(contextOf(log)).toEqual([{ role: 'user', content: 'x', ids: [log.head] }])
  })

  it('a result that is not for the model leaves its place', () => {
    const log = begun()
    log.message('assistant', null, { toolCalls: [call('a')] })
    log.message('tool', 'x', { toolCallId: 'a', context: false })
    expect(said(log)).toEqual([
      ['assistant', null],
      ['tool', '[removed]'],
    ])
  })
})
