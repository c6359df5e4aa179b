import { expect, test } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { codeState, codeStateOf } from '../../src/projections/code-state.js'
import { fold } from '../../src/projections/replay.js'

let ids = 0
const event = (type: string, payload: object): Event => ({
  id: `${++ids}`.padStart(32, '0'),
  parent: null,
  at: `2026-12-01T09:00:00.00${ids % 10}Z`,
  type,
  ...payload,
})
const file = (path: string, oid: string) => ({ path, kind: 'file', mode: 0o644, oid, bytes: 1 })
const checkpoint = (commit: string, ...files: object[]): Event =>
  event('checkpoint', { commit, reason: 'after-tool', files })

test('of each path the last record counts, and what it was first is kept', () => {
  const path = [
    checkpoint('c1', { path: 'workspace/a', kind: 'absent' }),
    checkpoint('c2', file('workspace/a', '1')),
    checkpoint('c3', file('workspace/a', '2'), file('workspace/b', '3')),
  ]
  const { commit, files } = codeStateOf(path)
  expect(commit).toBe('c3')
  expect(files.get('workspace/a')).toMatchObject({ last: { oid: '2' }, first: { kind: 'absent' } })
  expect(files.get('workspace/b')).toMatchObject({ last: { oid: '3' }, first: { oid: '3' } })
})

test('what a search found newly was absent before', () => {
  const { files } = codeStateOf([checkpoint('c1', { ...file('workspace/a', '1'), new: true })])
  expect(files.get('workspace/a')?.first).toEqual({ path: 'workspace/a', kind: 'absent' })
})

test('a restore is recorded since the commit, until the next checkpoint', () => {
  const restored = event('restore', {
    checkpoint: 'x',
    safety: null,
    files: [{ ...file('workspace/a', '1'), action: 'change' }],
  })
  const path = [checkpoint('c1', file('workspace/a', '2')), restored]
  expect(codeStateOf(path)).toMatchObject({ commit: 'c1', since: [{ path: 'workspace/a', oid: '1' }] })
  expect(codeStateOf(path).files.get('workspace/a')?.last).toEqual(file('workspace/a', '1'))
  expect(codeStateOf([...path, checkpoint('c2', file('workspace/b', '3'))]).since).toEqual([])
})

test('a file of a restore that has no record (it is forgotten, or was not read) changes nothing', () => {
  const head = event('head', {
    to: 'x',
    from: 'y',
    reason: 'undo',
    row: {},
    restore: { files: [{ path: 'workspace/a', action: 'keep' }] },
  })
  expect(
    codeStateOf([checkpoint('c1', file('workspace/a', '2')), head]).files.get('workspace/a')?.last.oid,
  ).toBe('2')
})

test('what a restore kept, or a checkpoint met, of others is known as theirs', () => {
  const kept = { ...file('workspace/a', '3'), action: 'keep', by: 'someone' }
  const restored = event('restore', { checkpoint: 'x', safety: null, files: [kept] })
  const path = [checkpoint('c1', { ...file('workspace/a', '2'), by: 'other' }), restored]
  expect(codeStateOf(path).files.get('workspace/a')).toMatchObject({
    last: { oid: '3' },
    others: [
      { event: path[0]?.id, by: 'other' },
      { event: path[1]?.id, by: 'someone' },
    ],
  })
})

test('a checkpoint that failed, one that was redacted, and payloads of any shape are passed over', () => {
  const odd = [
    event('checkpoint', { reason: 'prompt', failed: 'the disk is full' }),
    event('checkpoint', { redacted: true, body: 'x' }),
    event('checkpoint', { commit: 5, files: [file('workspace/a', '1')] }),
    checkpoint('c1', null as never, 5 as never, { path: 5, kind: 'file' }, { path: 'x', kind: 'file' }),
    event('restore', { files: 'x' }),
    event('head', { restore: 5 }),
  ]
  expect(codeStateOf(odd)).toMatchObject({ commit: 'c1', since: [] })
  expect(codeStateOf(odd).files.size).toBe(0)
})

test('lists of files that stand in blobs are named', () => {
  const blob = { $blob: 'f'.repeat(64), bytes: 5, as: 'json' as const }
  const big = event('checkpoint', { commit: 'c1', reason: 'prompt', files: blob })
  const head = event('head', { to: 'x', from: 'y', reason: 'undo', row: {}, restore: blob })
  expect(codeStateOf([big, head]).unresolved).toEqual([
    { event: big.id, blob },
    { event: head.id, blob },
  ])
})

test('the projection shows the records by path', () => {
  const path = [checkpoint('c1', file('workspace/b', '1')), checkpoint('c2', file('workspace/a', '2'))]
  expect(codeState.view(fold(codeState, path))).toEqual({
    checkpoint: path[1]?.id,
    commit: 'c2',
    files: [file('workspace/a', '2'), file('workspace/b', '1')],
    unresolved: [],
  })
})
