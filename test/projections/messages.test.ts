import { describe, expect, it } from 'vitest'
import { compactions } from '../../src/projections/compactions.js'
import { messages, viewMessages } from '../../src/projections/messages.js'
import { replay } from '../../src/projections/replay.js'
import { undoTargets, viewUndoTargets } from '../../src/projections/undo-targets.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const begun = (): LogWriter => {
  const log = new LogWriter()
  log.root()
  return log
}
const shown = (log: LogWriter) => messages.view(replay(messages, log.events))
const call = (id: string) => ({ id, name: 'bash', arguments: '{}' })

describe('messages', () => {
  it('shows every member of the event, and where it stands', () => {
    const log = begun()
    const checkpoint = log.write('checkpoint', { reason: 'prompt', commit: 'c' })
    log.write('checkpoint', { reason: 'prompt', failed: 'disk full' })
    log.write('branch', { name: 'try it' })
    const event = log.message('user', 'hi', { meta: { a: 1 }, timing: { durationMs: 3 } })
    expect(shown(log).messages).toEqual([
      { ...event, compacted: false, checkpoint: checkpoint.id, branch: 'try it' },
    ])
  })

  it('hides hidden messages unless they are asked for; asides are shown', () => {
    const log = begun()
    log.message('user', 'seen')
    log.message('user', 'hidden', { visible: false })
    log.message('assistant', 'aside', { aside: true })
    expect(shown(log).messages.map(({ content }) => content)).toEqual(['seen', 'aside'])
    expect(viewMessages(replay(messages, log.events), { hidden: true }).messages.length).toBe(3)
  })

  it('pairs calls with the last result written', () => {
    const log = begun()
    log.message('assistant', null, { toolCalls: [call('a'), call('b'), call('__proto__')] })
    log.message('tool', 'too early', { toolCallId: 'a' })
    const b = log.message('tool', 'b', { toolCallId: 'b' })
    const a = log.message('tool', 'a', { toolCallId: 'a' })
    const proto = log.message('tool', 'p', { toolCallId: '__proto__' })
    log.message('tool', 'of nobody', { toolCallId: 'z' })
    expect(Object.entries(shown(log).messages[0]?.results ?? {})).toEqual([
      ['a', a.id],
      ['b', b.id],
      ['__proto__', proto.id],
    ])
  })

  it('joins a group: contents as parts in order, calls, reasoning; usage of the last', () => {
    const log = begun()
    const first = log.message('assistant', 'one', {
      group: 'g',
      reasoning: 'r1',
      usage: { input: 1, output: 1 },
      toolCalls: [call('a')],
    })
    log.message('tool', 'ra', { toolCallId: 'a' })
    const last = log.message('assistant', [{ type: 'text', text: 'two' }], {
      group: 'g',
      reasoning: [{ text: 'r2', signature: 's' }],
      toolCalls: [call('b')],
      usage: { input: 1, output: 9 },
    })
    log.message('user', 'next')
    log.message('assistant', 'another message', { group: 'g' })
    const [joined, result, , other] = shown(log).messages
    expect(joined).toMatchObject({
      id: last.id,
      parent: first.parent,
      events: [first.id, last.id],
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      reasoning: [{ text: 'r1' }, { text: 'r2', signature: 's' }],
      toolCalls: [call('a'), call('b')],
      usage: { output: 9 },
      results: { a: result?.id },
    })
    expect(other).toMatchObject({ content: 'another message' })
    expect(other?.events).toBeUndefined()
  })

  it('marks what happened between messages, and what a compaction covers', () => {
    const log = begun()
    const covered = log.message('user', 'covered')
    log.write('compaction', {
      summary: 's',
      through: covered.id,
      trigger: 'auto',
      keep: [{ id: covered.id, message: {} }],
    })
    const next = log.message('user', 'next')
    log.write('edit', { target: next.id, replacement: null })
    const { messages: list, marks } = shown(log)
    expect(list.map(({ compacted }) => compacted)).toEqual([true, false])
    expect(marks).toMatchObject([
      { type: 'compaction', before: next.id, summary: 's', through: covered.id, trigger: 'auto' },
      { type: 'edit', before: null, target: next.id, replacement: null },
    ])
    expect(marks[0]).not.toHaveProperty('keep')
  })

  it('a redacted message keeps its place and its bare structure', () => {
    const log = begun()
    const gone = log.write(
      'message',
      { role: 'assistant', content: 'secret' },
      { redacted: true, kept: { role: 'assistant', toolCalls: [{ id: 'a', name: 'n' }] } },
    )
    log.message('tool', 'r', { toolCallId: 'a' })
    expect(shown(log).messages[0]).toMatchObject({
      id: gone.id,
      redacted: true,
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', name: 'n', arguments: '' }],
    })
  })
})

describe('compactions', () => {
  it('lists those on the path, with what they cover; the newest is current', () => {
    const log = begun()
    const a = log.message('user', 'a')
    const b = log.message('assistant', 'b')
    const one = log.write('compaction', {
      summary: 'one',
      through: a.id,
      tokensBefore: 9,
      tokensAfter: 2,
      keep: [{ id: a.id, message: {} }, 3],
    })
    const two = log.write('compaction', { summary: 'two', through: b.id })
    log.move('undo', one.id, two.id)
    const at = (leaf?: string) => compactions.view(replay(compactions, log.events, leaf))
    expect(at(two.id)).toMatchObject([
      { id: one.id, covers: 1, kept: [a.id], tokensBefore: 9, current: false },
      { id: two.id, covers: 2, tokensBefore: null, current: true },
    ])
    expect(at()).toMatchObject([{ id: one.id, current: true }])
  })
})

describe('undo targets', () => {
  const targets = (log: LogWriter) => undoTargets.view(replay(undoTargets, log.events))

  it('are the visible prompts that no compaction covers, with the whole text', () => {
    const log = begun()
    const covered = log.message('user', 'covered')
    log.write('compaction', { summary: 's', through: covered.id })
    log.message('user', 'aside', { aside: true })
    log.message('user', 'hidden', { visible: false })
    const prompt = log.message('user', 'a\nlong prompt')
    expect(targets(log)).toEqual([
      {
        id: prompt.id,
        text: 'a\nlong prompt',
        at: prompt.at,
        checkpoint: null,
        restorable: false,
        why: 'no code checkpoint on this branch',
      },
    ])
    expect(viewUndoTargets(replay(undoTargets, log.events), { all: true }).map(({ id }) => id)).toEqual([
      covered.id,
      prompt.id,
    ])
  })

  it('have the nearest checkpoint at or before them, else the first after', () => {
    const log = begun()
    log.message('user', 'first')
    const one = log.write('checkpoint', { reason: 'before-tool', commit: '1' })
    log.message('user', 'second')
    log.write('checkpoint', { reason: 'prompt', commit: '2' })
    log.write('checkpoint', { reason: 'prompt', failed: 'x' })
    expect(targets(log).map(({ checkpoint, restorable }) => [checkpoint, restorable])).toEqual([
      [one.id, true],
      [one.id, true],
    ])
  })

  it('say why the code cannot go back', () => {
    const log = begun()
    log.message('user', 'x')
    log.write('checkpoint', { reason: 'prompt', failed: 'too large' })
    expect(targets(log)).toMatchObject([{ restorable: false, why: 'the checkpoint failed: too large' }])
  })

  it('a group of a prompt is one target: its first event', () => {
    const log = begun()
    const first = log.message('user', 'a', { group: 'g' })
    log.message('user', 'b', { group: 'g' })
    expect(targets(log)).toMatchObject([{ id: first.id, text: 'a\nb' }])
  })
})
