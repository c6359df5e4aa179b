import { expect, it } from 'vitest'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { replay } from '../../src/projections/replay.js'
import { stateHash } from '../../src/projections/state-hash.js'
import { LogWriter } from '../../src/testing/log-writer.js'

/** A log with every type of format 1 in it. Never changed: the hashes below stand for what format 1 shows. */
const logOfEveryType = (): LogWriter => {
  const log = new LogWriter()
  log.root({ origin: { format: 'claude', id: 'o', extra: { x: 1 } } })
  log.message('system', 'rules')
  const prompt = log.message('user', [{ type: 'text', text: 'fix  the\nbug' }])
  log.write('checkpoint', { reason: 'prompt', commit: 'c1', files: [] })
  log.write('request', { model: 'm', provider: 'p', params: {} })
  const calls = [1, 2].map((n) => ({ id: `call_${n}`, name: 'bash', arguments: `{"n":${n}}` }))
  const usage = { input: 100, output: 20, cacheRead: 50, costUsd: 0.125 }
  const caller = log.message('assistant', 'looking', {
    group: 'g',
    model: 'm',
    usage,
    toolCalls: calls,
    reasoning: [{ text: 'why', signature: 's' }],
  })
  log.write('tool', { toolCallId: 'call_2', state: 'started' }, { parent: caller.id })
  log.message('tool', 'done', { toolCallId: 'call_1', ok: true })
  log.message('assistant', [{ type: 'text', text: 'more' }], {
    group: 'g',
    model: 'm',
    usage: { ...usage, output: 30 },
  })
  log.message('user', 'by the way', { aside: true })
  log.write('process', {
    pid: 7,
    startedAt: '2026-12-01T09:00:00.000Z',
    command: 'npm start',
    state: 'started',
  })
  log.write('status', { status: 'waiting_for_user', reason: 'which one?' })
  const end = log.head ?? ''
  log.move('undo', prompt.parent ?? '')
  log.move('redo', end)
  log.write('compaction', {
    summary: 'so far',
    through: prompt.id,
    trigger: 'manual',
    model: 'm',
    tokensBefore: 10,
    tokensAfter: 5,
    usage: { input: 9, output: 1 },
  })
  log.write('branch', { name: 'second try', summary: 'why' })
  log.write('edit', { target: caller.id, replacement: 'looked' })
  log.write('custom', { name: 'plan', data: [1], content: 'the plan' })
  log.write('restore', { checkpoint: prompt.id, safety: null, files: [] })
  log.write('future.type', { content: 'x' })
  log.write('title', { title: 'A title', by: 'auto' })
  log.write('label', { target: prompt.id, label: 'start' })
  log.write('usage', { for: 'title', model: 'n', usage: { input: 3, output: 1 } })
  log.write('recovered', { gaps: [] })
  log.write('redaction', { ids: [], reason: 'r' })
  log.write('repaired', { ids: [], reason: 'r' })
  log.message('user', 'stale writer', {}, prompt.id)
  return log
}

it('what format 1 shows of a log has these hashes, on every machine and in every version', () => {
  const log = logOfEveryType()
  const leaf = log.events.findLast(({ type }) => type === 'future.type')?.id
  const hashes = (Object.keys(projections) as ProjectionName[]).map((name) => {
    const projection = projectionNamed(name)
    return [name, stateHash(projection.view(replay(projection, log.events, leaf)))]
  })
  expect(Object.fromEntries(hashes)).toMatchInlineSnapshot(`
    {
      "codeState": "ed75fce144cb34f69790975870a07e69c4891bacad88d8b43f426b39280c8637",
      "compactions": "ce28272c2f36b1e2108d0cf0045bb81575b5179fc172f3f1ceb3fc897eb49181",
      "context": "32e95f85b52f7c0bad3db387141919ee5331004e892b7b0ba66cc044c5ce162c",
      "messages": "cc9a98ebb8b4eb6ce2354cfd956804c40748bf0098c3393b3fd1a3b7c0215b7e",
      "redoTargets": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
      "sessionIndex": "ce9ba008075e4a88dd2df5dca600aea7972a3e8acb4d549e38559b3426612122",
      "tree": "1fd0f2a08305af219717b2800ceb7895245247bdee711ef601bdac803ada9dad",
      "undoTargets": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
      "usage": "5d6f56f5f3f45ce751513dc44c4dd84a1adb334465cd6c9bc4c50adc75717d60",
    }
  `)
})
