import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { compactions } from '../../src/projections/compactions.js'
import { messages, viewMessages } from '../../src/projections/messages.js'
import { nextProcesses } from '../../src/projections/processes.js'
import { redoTargets } from '../../src/projections/redo-targets.js'
import { fold, replay } from '../../src/projections/replay.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { canonicalJson } from '../../src/projections/state-hash.js'
import { tree } from '../../src/projections/tree.js'
import { undoTargets } from '../../src/projections/undo-targets.js'
import { usage } from '../../src/projections/usage.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const begun = (payload: object = {}): LogWriter => {
  const log = new LogWriter()
  log.root(payload)
  return log
}
const shown = (log: LogWriter) => messages.view(replay(messages, log.events))
const treeOf = (log: LogWriter) => tree.view(fold(tree, log.events))
const redos = (log: LogWriter) => redoTargets.view(fold(redoTargets, log.events))
const report = (log: LogWriter) => usage.view(fold(usage, log.events))
const rowOf = (log: LogWriter) => sessionIndex.view(fold(sessionIndex, log.events))
const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

describe('the tree', () => {
  it('says of each type what its node needs, and no more', () => {
    const log = begun()
    const { id } = log.message('user', 'ask', { name: 'no', reason: 'no', from: 'no' })
    log.write('checkpoint', { reason: 'manual', failed: 'disk full', role: 'no' })
    log.write('custom', { name: 'acme', data: 1 })
    log.write('edit', { target: id, replacement: 'better', content: 'no' })
    log.write('compaction', { summary: 'in short', through: id, name: 'no' })
    log.write('branch', { name: 'side', summary: 'what was left' })
    log.write('message', { role: 'user', content: 'secret' }, { redacted: true, kept: { role: 'user' } })
    log.message(7 as never, 7)
    const bare = treeOf(log).nodes.map(({ id: _id, parent: _parent, at: _at, label, ...rest }) => {
      expect(label).toBe(null)
      return rest
    })
    expect(bare).toStrictEqual([
      { type: 'session', text: '' },
      { type: 'message', role: 'user', text: 'ask' },
      { type: 'checkpoint', reason: 'manual', text: 'disk full' },
      { type: 'custom', name: 'acme', text: '' },
      { type: 'edit', text: 'better' },
      { type: 'compaction', text: 'in short' },
      { type: 'branch', name: 'side', text: 'what was left' },
      { type: 'message', role: 'user', text: '[redacted]' },
      { type: 'message', text: '' },
    ])
  })

  it('has calls on messages only, and labels that are texts, whatever else a note says', () => {
    const log = begun()
    const toolCalls = [{ id: 'c', name: 'bash', arguments: '' }]
    const message = log.message('assistant', 'x', { toolCalls })
    log.write('custom', { name: 'n', data: 1, toolCalls })
    log.write('label', { target: message.id, label: 'kept' })
    log.write('label', { target: message.id, label: 7 })
    log.write('label', { target: 7, label: 'x' })
    log.write('title', { target: message.id, label: 'no label', title: 't', by: 'user' })
    const [, node, custom] = treeOf(log).nodes
    expect(node).toMatchObject({ label: 'kept', calls: ['bash'] })
    expect(custom).not.toHaveProperty('calls')
    expect(treeOf(log).nodes).toHaveLength(3)
  })

  it('shows which ends diverged, each with the time of its last event', () => {
    const log = begun()
    const shared = log.message('user', 'x')
    const mine = log.message('assistant', 'mine')
    const theirs = log.message('assistant', 'theirs', {}, shared.id)
    expect(treeOf(log).branches).toEqual([
      { name: 'main', leaf: theirs.id, events: 3, updatedAt: theirs.at, diverged: false },
      { name: 'main', leaf: mine.id, events: 3, updatedAt: mine.at, diverged: true },
    ])
  })
})

describe('redo', () => {
  it('is lost with what changes the context, and only an undo that says where it came from can be taken back', () => {
    const log = begun()
    const one = log.message('user', 'one')
    const two = log.message('user', 'two')
    const undoTwo = log.move('undo', one.id)
    const undoOne = log.move('undo', one.parent ?? '')
    expect(redos(log)).toEqual([
      { to: undoTwo.id, undo: undoOne.id },
      { to: two.id, undo: undoTwo.id },
    ])
    log.move('redo', undoTwo.id)
    expect(redos(log)).toEqual([{ to: two.id, undo: undoTwo.id }])
    log.write('edit', { target: one.id, replacement: 'ONE' })
    expect(redos(log)).toEqual([])
    log.write('head', { to: one.id, reason: 'undo', row: {} }, { parent: one.id })
    expect(redos(log)).toEqual([])
  })
})

describe('usage', () => {
  const spend = (input: number, more: object = {}) => ({ usage: { input, output: 0 }, ...more })

  it('before any prompt belongs to no turn, but to its day and its model', () => {
    const log = begun()
    log.message('system', 'rules', spend(1, { model: '' }))
    expect(report(log)).toEqual({
      total: { ...nothing, input: 1 },
      models: { unknown: { ...nothing, input: 1, requests: 1 } },
      requests: 1,
      turns: [],
      days: [{ day: '2026-12-01', ...nothing, input: 1, requests: 1 }],
    })
  })

  it('of notes counts in the turn that they hang on; other events and unknown types cost nothing', () => {
    const log = begun()
    const prompt = log.message('user', 'x')
    log.write('usage', { for: 'title', ...spend(2, { model: 'm' }) })
    log.write('custom', { name: 'n', data: 1, ...spend(100) })
    log.write('future.type', spend(100))
    log.message('assistant', 'no usage', { model: 'm' })
    expect(report(log)).toMatchObject({ requests: 1, total: { input: 2 } })
    expect(report(log).turns).toEqual([{ turn: prompt.id, at: prompt.at, ...nothing, input: 2, requests: 1 }])
  })

  it('of a group is its last, whatever stands between; a group without usage settles the one before', () => {
    const log = begun()
    log.message('user', 'x')
    const say = (group: string | null, more: object = {}) =>
      log.message('assistant', 'x', { model: 'm', ...(group === null ? {} : { group }), ...more })
    say('g', spend(1))
    say('g')
    say('g', spend(5))
    expect(report(log)).toMatchObject({ requests: 1, total: { input: 5 } })
    say('h')
    say('h', spend(10))
    say(null, spend(100))
    say('g', spend(1000))
    const all = { ...nothing, input: 1115, requests: 4 }
    const { requests, total, turns, days, models } = report(log)
    expect([requests, total]).toEqual([4, { ...nothing, input: 1115 }])
    expect([models.m, { ...turns[0], turn: '', at: '' }, days[0]]).toEqual([
      all,
      { ...all, turn: '', at: '' },
      { ...all, day: '2026-12-01' },
    ])
    expect(rowOf(log).usage).toEqual({ total, models, requests })
  })

  it('adds each count and each cost; a cost that nobody knows is not nought', () => {
    const log = begun()
    const counts = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 }
    for (const more of [{}, {}]) log.message('assistant', 'x', { model: 'm', usage: { ...counts, ...more } })
    const twice = { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, reasoning: 10 }
    expect(report(log).total).toStrictEqual(twice)
    log.message('assistant', 'x', { model: 'n', usage: { costUsd: 0.5 } })
    log.message('assistant', 'x', { model: 'n', usage: { costUsd: 0.25 } })
    expect(report(log).total).toStrictEqual({ ...twice, costUsd: 0.75 })
    expect(report(log).models.m).toStrictEqual({ ...twice, requests: 2 })
  })
})

describe('messages', () => {
  it('of no role that is known, and results, are shown as they stand; a group goes on across results only', () => {
    const log = begun()
    log.write('message', { content: 'from nobody' })
    log.message('tool', 'r1', { toolCallId: 'c', group: 'g' })
    log.message('tool', 'r2', { toolCallId: 'c', group: 'g' })
    expect(shown(log).messages.map(({ role, content }) => [role, content])).toEqual([
      ['unknown', 'from nobody'],
      ['tool', 'r1'],
      ['tool', 'r2'],
    ])
  })

  it('that were hidden take no place and no mark hangs on them, unless they are asked for', () => {
    const log = begun()
    log.message('user', 'a')
    log.write('restore', { checkpoint: null, safety: null, files: [], more: 1 })
    const hidden = log.message('user', 'hidden', { visible: false })
    const b = log.message('user', 'b')
    const path = replay(messages, log.events)
    const restore = { type: 'restore', checkpoint: null, safety: null, files: [] }
    expect(viewMessages(path).marks).toMatchObject([{ ...restore, before: b.id }])
    expect(viewMessages(path, { hidden: true }).marks).toMatchObject([{ ...restore, before: hidden.id }])
    expect(viewMessages(path).marks[0]).not.toHaveProperty('more')
    expect(viewMessages(null)).toEqual({ messages: [], marks: [] })
  })

  it('a mark tells what its kind tells, and only what its event has', () => {
    const log = begun()
    const one = log.message('user', 'x')
    log.write('branch', { name: 'side' })
    log.move('undo', one.id)
    log.write('checkpoint', { reason: 'manual', commit: 'c' })
    log.write('custom', { name: 'n', data: 1 })
    const head = log.events[3]
    expect(shown(log).marks).toEqual([
      {
        type: 'head',
        id: head?.id,
        at: head?.at,
        before: null,
        to: one.id,
        from: log.events[2]?.id,
        reason: 'undo',
      },
    ])
    const side = replay(messages, log.events, log.events[2]?.id)
    expect(viewMessages(side).marks).toEqual([
      { type: 'branch', id: log.events[2]?.id, at: log.events[2]?.at, before: null, name: 'side' },
    ])
  })

  it('an edited, redacted or failed checkpoint is none to go back to', () => {
    const log = begun()
    log.write('checkpoint', { reason: 'prompt', commit: 'c' }, { redacted: true, kept: {} })
    log.write('checkpoint', { reason: 'prompt', failed: 'x' })
    log.message('user', 'x')
    expect(shown(log).messages[0]?.checkpoint).toBe(null)
  })
})

describe('compactions', () => {
  it('show null for what they do not say, and cover only what is on their path', () => {
    const log = begun()
    log.message('user', 'a')
    log.write('custom', { name: 'n', data: 1 })
    const last = log.events.at(-1)
    log.write('compaction', {
      summary: 's',
      through: last?.id,
      model: 'm',
      trigger: 'auto',
      usage: { input: 3 },
    })
    log.write('compaction', { summary: 5, through: 'f'.repeat(32), keep: 'x' })
    log.write('compaction', {})
    const bare = {
      summary: null,
      through: null,
      covers: 0,
      kept: [],
      trigger: null,
      model: null,
      tokensBefore: null,
      tokensAfter: null,
      usage: null,
    }
    expect(compactions.view(replay(compactions, log.events))).toMatchObject([
      { covers: 1, model: 'm', trigger: 'auto', usage: { ...nothing, input: 3 }, current: false },
      { ...bare, through: 'f'.repeat(32), current: false },
      { ...bare, current: true },
    ])
  })
})

describe('undo targets', () => {
  const targets = (log: LogWriter) => undoTargets.view(replay(undoTargets, log.events))

  it('without text are empty, and name the last reason why a checkpoint failed', () => {
    const log = begun()
    log.write('checkpoint', { reason: 'prompt', failed: 'first' })
    log.message('user', [{ type: 'image' }])
    log.write('checkpoint', { reason: 'prompt', failed: 'second' })
    log.write('checkpoint', { reason: 'prompt' })
    log.message('assistant', 'no prompt')
    expect(targets(log)).toMatchObject([{ text: '', why: 'the checkpoint failed: second' }])
  })

  it('that can go back say no reason why not, though another checkpoint failed', () => {
    const log = begun()
    log.message('user', 'x')
    log.write('checkpoint', { reason: 'prompt', failed: 'no' })
    const taken = log.write('checkpoint', { reason: 'prompt', commit: 'c' })
    expect(targets(log)).toMatchObject([{ checkpoint: taken.id, restorable: true, why: null }])
  })
})

describe('the row of a session', () => {
  it('tracks what the root says, and knows whether anything tells of files', () => {
    const tracking = (log: LogWriter) => fold(sessionIndex, log.events).tracking
    const log = begun({ track: 'workspace' })
    expect(tracking(log)).toEqual({ track: 'workspace', hasCode: false })
    log.write('checkpoint', { reason: 'prompt', failed: 'x' })
    log.message('user', 'x', { track: 'edits', commit: 'c' })
    expect(tracking(log)).toEqual({ track: 'workspace', hasCode: false })
    log.write('checkpoint', { reason: 'prompt', commit: 'c' })
    expect(tracking(log)).toEqual({ track: 'workspace', hasCode: true })
    const other = begun({ track: 'edits' })
    expect(tracking(other)).toEqual({ track: 'edits', hasCode: false })
    other.write('restore', { checkpoint: null, safety: null, files: [] })
    expect(tracking(other).hasCode).toBe(true)
  })

  it('takes its status from notes of that type, and its origin only whole', () => {
    const log = begun({ origin: { format: 'pi' }, forkedFrom: 'x' })
    log.write('title', { title: 't', by: 'user', status: 'failed' })
    log.write('status', { status: 'processing', reason: 7 })
    expect(rowOf(log)).toMatchObject({ status: 'processing', reason: null, origin: null, forkedFrom: null })
    log.move('undo', log.events[0]?.id ?? '')
    expect(rowOf(log).status).toBe('processing')
  })

  it('knows the processes by number and start, and nothing of notes that do not say them', () => {
    const running = nextProcesses([], { pid: 1, state: 'started' })
    expect(running).toStrictEqual([{ pid: 1, startedAt: '', command: '' }])
    for (const members of [{}, { pid: 'x', state: 'exited' }, { pid: 1, state: 'paused' }, { pid: 1 }])
      expect(nextProcesses(running, members)).toBe(running)
    expect(nextProcesses(running, { pid: 1, startedAt: 'other', state: 'killed' })).toEqual(running)
    expect(nextProcesses(running, { pid: 2, state: 'exited' })).toEqual(running)
    for (const state of ['killed', 'exited']) expect(nextProcesses(running, { pid: 1, state })).toEqual([])
  })
})

describe('canonical JSON', () => {
  it('is JSON with its keys in order', () => {
    const value = {
      b: [[], {}, [1, 'x', [2]]],
      a: { '"': '\n', '': null },
      c: [undefined, () => 1],
      d: undefined,
    }
    expect(canonicalJson(value)).toBe('{"a":{"":null,"\\"":"\\n"},"b":[[],{},[1,"x",[2]]],"c":[null,null]}')
    expect(canonicalJson({ b: 1, a: 2, c: 3 })).toBe('{"a":2,"b":1,"c":3}')
    expect([canonicalJson(null), canonicalJson('x'), canonicalJson([])]).toEqual(['null', '"x"', '[]'])
  })
})

it('what is read of one event says nothing of another: a log of unknown types shows nothing', () => {
  const log = begun()
  const event: Event = log.write('future.type', { content: 'x', role: 'user', name: 'n' })
  expect(shown(log)).toEqual({ messages: [], marks: [] })
  expect(treeOf(log).nodes.at(-1)).toMatchObject({ id: event.id, type: 'future.type', text: 'x' })
  expect(rowOf(log)).toMatchObject({ title: 'New session', events: 2 })
})

it('a member means what its type says, and nothing on an event of another type', () => {
  const log = begun()
  const first = log.message('user', 'x', { name: 'side', commit: 'c', group: 'g' })
  const other = { name: 'side', commit: 'c', from: first.id, reason: 'undo', status: 'failed', group: 'g' }
  log.write('status', {
    status: 'ask_permission',
    ...{ pid: 1, state: 'started', startedAt: '', command: '' },
  })
  log.message('assistant', 'y', other)
  log.write('tool', { toolCallId: 'c', state: 'started', status: 'failed', pid: 1 })
  expect(shown(log).messages).toMatchObject([
    { branch: 'main', checkpoint: null },
    { branch: 'main', checkpoint: null },
  ])
  expect(redos(log)).toEqual([])
  expect(rowOf(log)).toMatchObject({ status: 'ask_permission', processes: [], branches: 1, diverged: [] })
  const aside = log.message('user', 'aside', { from: first.id }, first.id)
  expect(rowOf(log).diverged).toMatchObject([{ leaf: log.events[3]?.id }])
  expect(aside.parent).toBe(first.id)
})
