import { describe, expect, test } from 'vitest'
import {
  Ambiguous,
  type Damage,
  Damaged,
  type DamageKind,
  hasTag,
  InvalidDraft,
  Locked,
  LocksUnsupported,
  LogLostTail,
  Moved,
  NewerFormat,
  NotFound,
  placeOf,
  Refused,
  StaleTail,
  StoreUnusable,
  SyncFailed,
  WriteFailed,
} from '../../src/events/errors/index.js'

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

/** What failed, where, what to do: what a person reads who has nothing else. Made in the test, as a mutant is on only there. */
const messages: readonly (readonly [() => Error & { readonly tag: string }, string, string])[] = [
  [
    () => new Ambiguous('event', 'ab', ['ab1', 'ab2']),
    'Ambiguous',
    'event ab is ambiguous: ab1, ab2: give more characters of the id',
  ],
  [
    () => new InvalidDraft(['role should be text', 'note should be true or absent']),
    'InvalidDraft',
    'not an event: role should be text; note should be true or absent: see docs/FORMAT.md for the members of each type',
  ],
  [
    () => new Locked('/s/data.jsonl', 4711, 10_000),
    'Locked',
    'locked by process 4711 for more than 10000 ms: /s/data.jsonl: wait until it is done, or stop it, and try again',
  ],
  [
    () => new Locked('/s/data.jsonl', null, 5),
    'Locked',
    'locked by another process for more than 5 ms: /s/data.jsonl: wait until it is done, or stop it, and try again',
  ],
  [
    () => new LocksUnsupported('/s/data.jsonl', full),
    'LocksUnsupported',
    'this file system has no file locks: /s/data.jsonl: keep the store on a local disk (see --store)',
  ],
  [
    () => new LogLostTail('5e55', 'e1'),
    'LogLostTail',
    'log-lost-tail: the last known event e1 is no longer in the log: 5e55: look for the missing end in a backup; else accept the log as it stands with `coppice repair`, or with `coppice reindex` where it is whole',
  ],
  [
    () => new Moved('/s/data.jsonl'),
    'Moved',
    'the log is no longer there: /s/data.jsonl: it was archived, deleted or moved: look for it with `coppice list --all`',
  ],
  [
    () => new NewerFormat('/s/data.jsonl', 'format 2'),
    'NewerFormat',
    'written by a newer version: needs format 2: /s/data.jsonl: update coppice to read it',
  ],
  [
    () => new NotFound('session', 'ab', '/store', 'list them with `coppice list`'),
    'NotFound',
    'no session ab: /store: list them with `coppice list`',
  ],
  [
    () => new Refused('nothing to undo', '5e55', 'say something first'),
    'Refused',
    'nothing to undo: 5e55: say something first',
  ],
  [
    () => new StaleTail('5e55', 'e1', 'e2'),
    'StaleTail',
    'the log ends in e2, not in e1: 5e55: read what came between and decide again',
  ],
  [
    () => new StaleTail('5e55', null, null),
    'StaleTail',
    'the log ends in nothing, not in nothing: 5e55: read what came between and decide again',
  ],
  [
    () => new StoreUnusable('no store', '/x', 'make one with `coppice new`'),
    'StoreUnusable',
    'no store: /x: make one with `coppice new`',
  ],
  [
    () => new SyncFailed('/s/data.jsonl', full),
    'SyncFailed',
    'the disk did not take the write (ENOSPC): /s/data.jsonl: check the disk, then try again',
  ],
  [
    () => new WriteFailed('/s/data.jsonl', full),
    'WriteFailed',
    'not written (ENOSPC): /s/data.jsonl: free some space or check the permissions, then try again',
  ],
]

describe('an error', () => {
  test.each(messages)('says what failed, where, and what to do: %s', (make, tag, message) => {
    const error = make()
    expect([error.tag, error.message]).toEqual([tag, message])
    expect(error).toBeInstanceOf(Error)
  })

  test('is narrowed by its tag, and by no look-alike', () => {
    const moved: unknown = new Moved('/x')
    expect([hasTag(moved, 'Moved'), hasTag(moved, 'Locked')]).toEqual([true, false])
    expect(hasTag({ tag: 'Moved' }, 'Moved')).toBe(false)
    expect(hasTag(Object.assign(new Error('x'), { tag: 'Moved' }), 'Moved')).toBe(false)
    expect(hasTag(null, 'Moved')).toBe(false)
  })

  test('is for machines its tag, its message and what its kind adds, and nothing of the wording or the cause', () => {
    const json = (error: Error) => JSON.parse(JSON.stringify(error))
    expect(json(new StaleTail('5e55', 'e1', null))).toEqual({
      tag: 'StaleTail',
      message: 'the log ends in nothing, not in e1: 5e55: read what came between and decide again',
      expected: 'e1',
      actual: null,
    })
    expect(Object.keys(json(new WriteFailed('/x', full))).sort()).toEqual(['message', 'path', 'tag'])
    expect(json(new Refused('r', 'w', 'h'))).toMatchObject({ reason: 'r', conflict: false })
    expect(json(new Refused('r', 'w', 'h', true))).toMatchObject({ conflict: true })
  })

  test('keeps the error that it comes from', () => {
    for (const error of [
      new WriteFailed('/x', full),
      new SyncFailed('/x', full),
      new LocksUnsupported('/x', full),
      new StoreUnusable('w', '/x', 'h', full),
    ])
      expect(error.cause).toBe(full)
  })

  test('of a disk names the code, or what there is where there is none', () => {
    const about = (cause: unknown): string => new WriteFailed('/x', cause).message.split(':')[0] as string
    expect(about(new Error('short'))).toBe('not written (short)')
    expect(about('torn')).toBe('not written (torn)')
    expect(about(undefined)).toBe('not written (undefined)')
    expect(about(null)).toBe('not written (null)')
  })
})

describe('damage', () => {
  const damage = (kind: DamageKind, more: Partial<Damage> = {}): Damage => ({
    kind,
    line: 3,
    offset: 200,
    bytes: 10,
    detail: 'what is wrong',
    ...more,
  })
  const repair = 'read past it with --salvage, or make it usable with `coppice repair`'
  const backup = 'read what there is with --salvage, and take the log from a backup'

  test.each<[Damage, string]>([
    [damage('undecodable'), `/x, line 3, byte 200: ${repair}`],
    [damage('torn-tail'), `/x, line 3, byte 200: ${repair}`],
    [damage('payload', { line: 0 }), `/x, byte 200: ${repair}`],
    [damage('no-root'), `/x, line 3, byte 200: ${backup}`],
    [damage('no-root', { bytes: 0 }), '/x, line 3, byte 200: take the log from a backup'],
    [damage('second-root'), `/x, line 3, byte 200: ${backup}`],
    [damage('second-root', { bytes: 0 }), `/x, line 3, byte 200: ${backup}`],
    [
      damage('gap'),
      '/x, line 3, byte 200: keep what hangs on what was lost with `coppice repair`, or read it with --salvage; an append would leave it out',
    ],
    [damage('blob'), '/x: copy it from a backup, or read past it with --salvage'],
  ])('says its kind, its place and what helps: %j', (one, rest) => {
    const error = new Damaged('/x', one)
    expect(error.message).toBe(`damaged log (${one.kind}): what is wrong: ${rest}`)
    expect(error.damage).toBe(one)
  })

  test('of a blob has no place in the log; where nobody counts lines the byte is enough', () => {
    expect(placeOf(damage('blob'))).toBe('')
    expect(placeOf(damage('gap', { line: 0 }))).toBe('byte 200')
    expect(placeOf(damage('gap', { line: 1, offset: 0 }))).toBe('line 1, byte 0')
  })
})
