import { describe, expect, it } from 'vitest'
import { redoTargets } from '../../src/projections/redo-targets.js'
import { projections } from '../../src/projections/registry.js'
import { fold } from '../../src/projections/replay.js'
import { canonicalJson, stateHash } from '../../src/projections/state-hash.js'
import { tree } from '../../src/projections/tree.js'
import { usage } from '../../src/projections/usage.js'
import { LogWriter } from '../../src/testing/log-writer.js'

const begun = (): LogWriter => {
  const log = new LogWriter()
  log.root()
  return log
}

describe('redo targets', () => {
  const redos = (log: LogWriter) => redoTargets.view(fold(redoTargets, log.events))

  it('are the undone ends, newest undo first', () => {
    const log = begun()
    const one = log.message('user', 'one')
    const two = log.message('user', 'two')
    const undoTwo = log.move('undo', two.parent ?? '')
    const undoOne = log.move('undo', one.parent ?? '')
    expect(redos(log)).toEqual([
      { to: undoTwo.id, undo: undoOne.id },
      { to: two.id, undo: undoTwo.id },
    ])
    log.move('redo', undoTwo.id)
    expect(redos(log)).toEqual([{ to: two.id, undo: undoTwo.id }])
    log.move('redo', two.id)
    expect(redos(log)).toEqual([])
  })

  it('stand past what changes no context, and end with what does', () => {
    const log = begun()
    const prompt = log.message('user', 'x')
    log.move('undo', prompt.parent ?? '')
    log.write('checkpoint', { reason: 'manual', commit: 'c' })
    log.write('restore', { checkpoint: log.head, safety: null, files: [] })
    log.write('custom', { name: 'n', data: 1 })
    log.write('future.type', {})
    log.write('title', { title: 't', by: 'user' })
    expect(redos(log).map(({ to }) => to)).toEqual([prompt.id])
    log.write('custom', { name: 'n', data: 1, content: 'in the context' })
    expect(redos(log)).toEqual([])
  })

  it.each(['checkout', 'branch'] as const)('a %s is not undone by redo', (reason) => {
    const log = begun()
    log.message('user', 'x')
    const undo = log.move('undo', log.events[0]?.id ?? '')
    log.move('checkout', log.events[1]?.id ?? '')
    log.move(reason, undo.id)
    expect(redos(log)).toEqual([])
  })
})

describe('usage', () => {
  it('counts by model, by turn and by day', () => {
    const log = begun()
    const one = log.message('user', 'one')
    log.message('assistant', 'a', { model: 'm', group: 'g', usage: { input: 1, output: 1 } })
    log.message('assistant', 'b', { model: 'm', group: 'g', usage: { input: 1, output: 5 } })
    log.message('user', 'aside', { aside: true })
    log.message('assistant', 'c', { model: 'n', usage: { input: 2, output: 2, costUsd: 0.25 } })
    const two = log.message('user', 'two')
    log.message('assistant', 'd', { model: 'n', usage: { input: 3, output: 3 } })
    const report = usage.view(fold(usage, log.events))
    expect(report).toMatchObject({ requests: 3, total: { input: 6, output: 10, costUsd: 0.25 } })
    expect(report.turns).toMatchObject([
      { turn: one.id, at: one.at, requests: 2, input: 3, output: 7, costUsd: 0.25 },
      { turn: two.id, at: two.at, requests: 1, input: 3, output: 3 },
    ])
    expect(report.days).toMatchObject([{ day: '2026-12-01', requests: 3, input: 6 }])
  })

  it('a turn of each of two writers gets its own', () => {
    const log = begun()
    const root = log.head ?? ''
    const mine = log.message('user', 'mine')
    const theirs = log.message('user', 'theirs', {}, root)
    log.message('assistant', 'to me', { usage: { input: 1, output: 0 } }, mine.id)
    log.message('assistant', 'to them', { usage: { input: 2, output: 0 } }, theirs.id)
    expect(usage.view(fold(usage, log.events)).turns).toMatchObject([
      { turn: mine.id, input: 1 },
      { turn: theirs.id, input: 2 },
    ])
  })
})

describe('tree', () => {
  it('has nodes with labels and a line of text; head and leaves are no head events', () => {
    const log = begun()
    const prompt = log.message('user', 'hello\n  world')
    const reply = log.message('assistant', null, { toolCalls: [{ id: 'c', name: 'bash', arguments: '' }] })
    log.write('label', { target: prompt.id, label: 'old' })
    log.write('label', { target: prompt.id, label: 'start' })
    log.write('label', { target: reply.id, label: 'x' })
    log.write('label', { target: reply.id, label: null })
    const undo = log.move('undo', prompt.id)
    const shown = tree.view(fold(tree, log.events))
    expect(shown).toMatchObject({
      head: prompt.id,
      root: log.events[0]?.id,
      branches: [{ name: 'main', leaf: reply.id, events: 3, updatedAt: reply.at, diverged: false }],
    })
    expect(shown.nodes.slice(1)).toMatchObject([
      { id: prompt.id, label: 'start', role: 'user', text: 'hello world' },
      { id: reply.id, label: null, calls: ['bash'], text: '' },
      { id: undo.id, parent: prompt.id, type: 'head', reason: 'undo', from: reply.id },
    ])
  })

  it('an empty log has an empty tree', () => {
    expect(tree.view(tree.initial)).toEqual({ head: null, root: null, branches: [], nodes: [] })
  })
})

describe('state hash', () => {
  it('does not depend on the order of members, and sorts by code unit', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true, '\ud83d\ude00': 1, '\uff5e': 2 })).toBe(
      '{"a":true,"b":[1,{"c":"x","d":null}],"\ud83d\ude00":1,"\uff5e":2}',
    )
    expect(stateHash({ a: 1, b: 2 })).toBe(stateHash({ b: 2, a: 1 }))
    expect(stateHash({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  })

  it('writes what JSON writes of what JSON cannot hold', () => {
    expect(canonicalJson({ a: undefined, b: [undefined, Number.NaN], c: -0 })).toBe('{"b":[null,null],"c":0}')
  })
})

it('every projection goes by its own name', () => {
  for (const [name, projection] of Object.entries(projections)) expect(projection.name).toBe(name)
})
