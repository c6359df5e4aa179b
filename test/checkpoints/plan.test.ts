import { expect, test } from 'vitest'
import type { Seen } from '../../src/checkpoints/look.js'
import { planRestore } from '../../src/checkpoints/plan.js'
import type { Choice } from '../../src/checkpoints/plan-entry.js'
import { wantedAt } from '../../src/checkpoints/wanted.js'
import { absent, type CodeFile, type CodeState, type FileRecord } from '../../src/events/file-record.js'

const file = (path: string, oid: string): FileRecord => ({ path, kind: 'file', mode: 0o644, oid, bytes: 1 })
const at = (path: string, oid: string | null): FileRecord => (oid === null ? absent(path) : file(path, oid))

/** A code state: of each path its last content and its first (null: absent). */
const state = (files: Record<string, readonly [last: string | null, first: string | null]>): CodeState => ({
  checkpoint: 'c',
  commit: 'c',
  since: [],
  rules: new Map(),
  scan: null,
  unresolved: [],
  files: new Map(
    Object.entries(files).map(([path, [last, first]]): [string, CodeFile] => [
      path,
      {
        last: at(path, last),
        first: at(path, first),
        event: 'e',
        reason: 'after-tool',
        doubt: null,
        others: [],
      },
    ]),
  ),
})

const seen = (path: string, oid: string | null, more: Partial<Seen> = {}): readonly [string, Seen] => [
  path,
  {
    record: at(path, oid),
    there: oid === null ? 'nothing' : 'file',
    blockedBy: null,
    holds: [],
    fixed: null,
    unreadable: null,
    ...more,
  },
]

const plan = (
  current: CodeState,
  target: CodeState,
  disk: readonly (readonly [string, Seen])[],
  choice: Choice = {},
  foldsCase = false,
) => {
  const wanted = wantedAt(current, target)
  const { entries } = planRestore({ current, target, wanted, disk: new Map(disk), foldsCase, choice })
  return entries.map(({ path, action, why }) => [path, action, why])
}

const a = 'workspace/a'
const now = state({ [a]: ['2', '1'] })
const then = state({ [a]: ['1', '1'] })
const never = state({})

test('what is as last recorded is created, changed, deleted; what is there already is kept', () => {
  expect(plan(now, then, [seen(a, '2')])).toEqual([[a, 'change', null]])
  expect(plan(now, then, [seen(a, '1')])).toEqual([[a, 'keep', null]])
  expect(plan(state({ [a]: [null, '1'] }), then, [seen(a, null)])).toEqual([[a, 'create', null]])
  expect(plan(state({ [a]: ['2', null] }), never, [seen(a, '2')])).toEqual([[a, 'delete', null]])
})

test('a path that only the present branch knows goes to what it was before it was first', () => {
  expect(plan(now, never, [seen(a, '2')])).toEqual([[a, 'change', null]])
})

test('what is not as last recorded is a conflict, unless it is gone: that loses nothing', () => {
  const why = 'changed since its last checkpoint'
  expect(plan(now, then, [seen(a, '3')])).toEqual([[a, 'conflict', why]])
  expect(plan(now, then, [seen(a, '3')], { force: true })).toEqual([[a, 'change', why]])
  expect(plan(now, then, [seen(a, '3')], { keep: true })).toEqual([[a, 'keep', why]])
  expect(plan(now, then, [seen(a, null)])).toEqual([[a, 'create', 'was deleted']])
})

test('what is not tracked on this branch is a conflict, unless it is as the other branch met it', () => {
  const other = state({ [a]: ['2', '1'] })
  expect(plan(never, other, [seen(a, '3')])).toEqual([[a, 'conflict', 'not tracked on this branch']])
  expect(plan(never, other, [seen(a, '1')])).toEqual([[a, 'change', null]])
  expect(plan(never, other, [seen(a, null)])).toEqual([[a, 'create', null]])
})

test('what others changed and the target would not change back is left, unless forced', () => {
  const why = 'changed by someone else, and not by what is taken back'
  expect(plan(then, then, [seen(a, '3')])).toEqual([[a, 'keep', why]])
  expect(plan(then, then, [seen(a, '3')], { force: true })).toEqual([
    [a, 'change', 'changed since its last checkpoint'],
  ])
})

test('what cannot be read is a conflict that no word but `keep` settles', () => {
  const disk = [seen(a, null, { there: 'file', unreadable: 'EACCES' })]
  const why = 'cannot be read (EACCES)'
  expect(plan(now, then, disk, { force: true })).toEqual([[a, 'conflict', why]])
  expect(plan(now, then, disk, { keep: true })).toEqual([[a, 'keep', why]])
})

test('what stands in a folder that cannot be changed is a conflict that no word but `keep` settles', () => {
  const why = 'its folder cannot be changed (EACCES)'
  for (const [current, target, oid] of [
    [now, then, '2'],
    [state({ [a]: ['2', null] }), never, '2'],
    [state({ [a]: [null, '1'] }), then, null],
  ] as const) {
    expect(plan(current, target, [seen(a, oid, { fixed: 'EACCES' })], { force: true })).toEqual([
      [a, 'conflict', why],
    ])
    expect(plan(current, target, [seen(a, oid, { fixed: 'EACCES' })], { keep: true })).toEqual([
      [a, 'keep', why],
    ])
  }
  expect(plan(now, then, [seen(a, '1', { fixed: 'EACCES' })])).toEqual([[a, 'keep', null]])
})

test('outside of the workspace nothing changes without its word', () => {
  const path = 'outside/etc/hosts'
  const [current, target] = [state({ [path]: ['2', '1'] }), state({ [path]: ['1', '1'] })]
  expect(plan(current, target, [seen(path, '2')])[0]?.[1]).toBe('keep')
  expect(plan(current, target, [seen(path, '2')], { force: true })[0]?.[1]).toBe('keep')
  expect(plan(current, target, [seen(path, '2')], { outside: true })[0]?.[1]).toBe('change')
})

test('a folder in the way of a file goes only if all in it goes', () => {
  const inner = 'workspace/a/x'
  const current = state({ [a]: [null, '1'], [inner]: ['2', null] })
  const holds = [{ path: inner, isFolder: false }]
  const folder = seen(a, null, { there: 'folder', holds })
  expect(plan(current, never, [folder, seen(inner, '2')])).toEqual([
    [a, 'create', null],
    [inner, 'delete', null],
  ])
  const others = [...holds, { path: 'workspace/a/mine', isFolder: false }]
  expect(
    plan(current, never, [seen(a, null, { there: 'folder', holds: others }), seen(inner, '2')], {
      force: true,
    }),
  ).toEqual([
    [a, 'conflict', 'a folder stands there, and a/mine in it'],
    [inner, 'delete', null],
  ])
})

test('where names that differ only by case are one, neither of two is made', () => {
  const [upper, lower] = ['workspace/README', 'workspace/readme']
  const both = state({ [upper]: ['1', '1'], [lower]: ['2', '2'] })
  const disk = [seen(upper, null), seen(lower, null)]
  expect(plan(never, both, disk, {}, true).map(([, action]) => action)).toEqual(['conflict', 'conflict'])
  expect(plan(never, both, disk).map(([, action]) => action)).toEqual(['create', 'create'])
})
