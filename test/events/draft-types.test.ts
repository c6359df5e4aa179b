import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { decodeDraft } from '../../src/events/draft.js'

const reasonsOf = (draft: object): readonly string[] => {
  const result = decodeDraft(draft)
  return E.isLeft(result) ? result.left.reasons : []
}

const id = 'a1'.repeat(16)
const point = { session: id, event: id }
const blob = { $blob: 'b0'.repeat(32), bytes: 3, as: 'json' }

/** What a member takes (each of these), and what stands in the message where it is something else. */
interface Member {
  readonly takes: readonly unknown[]
  readonly words: string
  /** What it does not take, beside what no member takes. */
  readonly not?: readonly unknown[]
  /** The member of it that is wrong, where it is an object. */
  readonly within?: string
}

const text: Member = { takes: ['', 'x'], words: 'a string', not: [5, null] }
const number: Member = { takes: [0, -1.5], words: 'a finite number', not: [Number.NaN, Infinity, '5', null] }
const flag: Member = { takes: [true, false], words: 'true or false', not: [0, 'true', null] }
const event: Member = {
  takes: [id],
  words: 'an event id (32 hex)',
  not: [`${id}0`, id.slice(1), 'g'.repeat(32), id.toUpperCase(), `x${id}`, null, 5],
}
const words: Member = { takes: ['', 'x'], words: 'text', not: [5, null, { $blob: 5 }] }
const content: Member = {
  takes: ['x', [], [{ type: 'text', text: 'x' }], [{ type: 'image', url: 'x' }], [{ type: 'sticker' }]],
  words: 'text or parts',
  not: [5, null],
}
const list: Member = { takes: [[]], words: 'a list', not: ['x', {}] }
const anything: Member = { takes: [null, 5, 'x', [1], { a: 1 }], words: '' }
const object: Member = { takes: [{}, { a: 1 }], words: 'an object', not: ['x', 5] }
const orNull = (member: Member, name = member.words): Member => ({
  takes: [...member.takes, null],
  words: `${name} or null`,
  not: (member.not ?? []).filter((value) => value !== null),
})
const oneOf = (...values: string[]): Member => ({
  takes: values,
  words: `one of ${values.join(', ')}`,
  not: ['other', '', null, 5],
})
const origin: Member = {
  takes: [
    { format: 'pi', id: '1' },
    { format: 'pi', id: '1', extra: 5, raw: 'x' },
  ],
  words: 'an object',
  not: ['x', 5],
}
const usage: Member = {
  takes: [
    { input: 1, output: 2 },
    { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, costUsd: 0.1 },
  ],
  words: 'an object',
  not: ['x', 5],
}
const pointer: Member = { takes: [point], words: 'an object', not: ['x', 5] }
const name: Member = {
  takes: ['main', 'a b', '@'.padStart(2, 'x'), 'x'.repeat(200), '😀'.repeat(200), 'deadbeefs', 'xdead'],
  words: 'a branch name (1 to 200 characters, not all hex, not beginning with @)',
  not: ['', ' ', 'x'.repeat(201), 'deadbeef', 'DEAD', '@main', 5],
}
const title: Member = {
  takes: ['T', 'x'.repeat(200)],
  words: 'a title (1 to 200 characters, trimmed)',
  not: ['', ' T', 'T ', 'x'.repeat(201), 5],
}
const label: Member = {
  takes: ['L', ' L ', 'x'.repeat(200), null],
  words: 'a label (1 to 200 characters) or null',
  not: ['', ' ', 'x'.repeat(201), 5],
}
const files: Member = {
  takes: [[], [{ path: 'a' }, { path: 'b', action: 'written' }]],
  words: 'a list',
  not: ['x'],
}

interface Type {
  readonly needs: Readonly<Record<string, Member>>
  readonly may: Readonly<Record<string, Member>>
  readonly isNote?: true
}

/** docs/FORMAT.md, "Types". */
const types: Readonly<Record<string, Type>> = {
  session: {
    needs: { format: { takes: [1], words: '1', not: [2, '1', null] }, nonce: text },
    may: {
      workspace: text,
      cwd: text,
      repo: {
        takes: [{}, { firstCommit: 'a', remote: 'b', inside: 'c' }],
        words: 'an object',
        not: ['x', 5],
      },
      agent: anything,
      forkedFrom: pointer,
      startedBy: pointer,
      track: oneOf('edits', 'workspace'),
      origin,
    },
  },
  message: {
    needs: {
      role: oneOf('system', 'user', 'assistant', 'tool'),
      content: { ...orNull(content), words: 'text, parts or null' },
    },
    may: {
      toolCalls: { ...list, takes: [[], [{ id: 'c', name: 'n', arguments: '{}' }]] },
      toolCallId: text,
      ok: flag,
      reasoning: {
        takes: ['x', [], [{ text: 'x' }, { text: 'y', signature: 's' }]],
        words: 'text or a list of {text, signature}',
        not: [5, null],
      },
      replay: anything,
      refusal: words,
      model: text,
      provider: text,
      usage,
      timing: {
        takes: [{}, { startedAt: 'a', completedAt: 'b', durationMs: 1, firstTokenMs: 2, reasoningMs: 3 }],
        words: 'an object',
        not: ['x', 5],
      },
      stop: text,
      group: text,
      visible: flag,
      context: flag,
      aside: flag,
      meta: anything,
      origin,
    },
  },
  compaction: {
    needs: { summary: content, through: event },
    may: {
      keep: { ...list, takes: [[], [{ id, message: { role: 'user' } }]] },
      trigger: text,
      model: text,
      prompt: words,
      tokensBefore: number,
      tokensAfter: number,
      usage,
      origin,
    },
  },
  branch: { needs: { name }, may: { summary: content, origin } },
  head: {
    needs: { to: event, from: event, reason: oneOf('undo', 'redo', 'checkout', 'branch'), row: object },
    may: {
      restore: {
        takes: [
          { checkpoint: id, safety: null, files: [] },
          { checkpoint: null, safety: id, files: [{ path: 'a' }] },
        ],
        words: 'an object',
        not: ['x', 5],
      },
      origin,
    },
  },
  edit: {
    needs: { target: event, replacement: { ...orNull(content), words: 'text, parts or null' } },
    may: { origin },
  },
  checkpoint: {
    needs: { reason: oneOf('prompt', 'before-tool', 'after-tool', 'safety', 'manual') },
    may: { commit: text, files: anything, scan: anything, failed: text, toolCallId: text, origin },
  },
  restore: {
    needs: {
      checkpoint: { ...orNull(event), words: 'an event id (32 hex) or null' },
      safety: { ...orNull(event), words: 'an event id (32 hex) or null' },
      files,
    },
    may: { origin },
  },
  custom: { needs: { name: text, data: anything }, may: { content, origin } },
  title: { needs: { title, by: oneOf('user', 'auto', 'import') }, may: { origin }, isNote: true },
  status: {
    needs: {
      status: oneOf(
        'pending',
        'processing',
        'completed',
        'failed',
        'interrupted',
        'ask_permission',
        'waiting_for_user',
        'permission_denied',
      ),
    },
    may: { reason: orNull(text), asks: anything, origin },
    isNote: true,
  },
  tool: {
    needs: { toolCallId: text, state: oneOf('started', 'asked', 'allowed', 'denied') },
    may: { by: text, origin },
    isNote: true,
  },
  process: {
    needs: { pid: number, startedAt: text, command: text, state: oneOf('started', 'exited', 'killed') },
    may: { code: orNull(number), deadline: text, origin },
    isNote: true,
  },
  label: { needs: { target: event, label }, may: { origin }, isNote: true },
  request: {
    needs: { model: text },
    may: { provider: text, params: anything, tools: anything, instructions: anything, origin },
    isNote: true,
  },
  usage: {
    needs: { for: oneOf('title', 'compaction', 'aside'), usage },
    may: { request: text, model: text, origin },
    isNote: true,
  },
  recovered: {
    needs: { gaps: { ...list, takes: [[], [{ back: 1, bytes: 2, sha256: 'x' }]] } },
    may: { orphans: { ...list, takes: [[], [id]] } },
    isNote: true,
  },
  redaction: { needs: { ids: { ...list, takes: [[], [id]] }, reason: text }, may: {}, isNote: true },
  repaired: { needs: { ids: { ...list, takes: [[], [id]] }, reason: text }, may: {}, isNote: true },
}

const firsts = (members: Readonly<Record<string, Member>>): object =>
  Object.fromEntries(Object.entries(members).map(([key, { takes }]) => [key, takes[0]]))

describe.each(Object.entries(types))('a draft of the type %s', (type, { needs, may, isNote }) => {
  const least = { type, ...firsts(needs) }
  const members = Object.entries({ ...needs, ...may })

  test('wants no more than it must have, and is a note or not', () => {
    expect(decodeDraft(least)).toEqual(E.right(isNote ? { ...least, note: true } : least))
    expect(reasonsOf({ ...least, note: true })).toEqual(isNote ? [] : [`a ${type} is no note`])
  })

  test('takes each member with each value that it may have, and members that nobody knows', () => {
    for (const [key, { takes }] of members)
      for (const value of takes)
        expect([key, value, reasonsOf({ ...least, [key]: value })]).toEqual([key, value, []])
    expect(reasonsOf({ ...least, ...firsts(may), 'x-unknown': { any: ['thing'] } })).toEqual([])
  })

  test('is refused without each member that it must have, in words that name it and say what it should be', () => {
    for (const [key, { words }] of Object.entries(needs)) {
      const { [key as keyof typeof least]: _, ...rest } = least
      if (words !== '') expect(reasonsOf(rest)).toEqual([`${key} should be ${words}`])
    }
  })

  test('is refused with anything else in a member, in the same words', () => {
    for (const [key, { words, not = [] }] of members)
      for (const value of not)
        expect([key, value, reasonsOf({ ...least, [key]: value })]).toEqual([
          key,
          value,
          [`${key} should be ${words}`],
        ])
  })
})

const message = { type: 'message', role: 'user', content: 'x' }
const saying = (part: object) => ({ ...message, content: [part] })

describe('what stands inside a member', () => {
  test.each<[object, string]>([
    [{ ...message, usage: { input: 1 } }, 'usage.output should be a finite number'],
    [{ ...message, usage: { output: 1 } }, 'usage.input should be a finite number'],
    ...['cacheRead', 'cacheWrite', 'reasoning', 'costUsd'].map((key): [object, string] => [
      { ...message, usage: { input: 1, output: 1, [key]: 'x' } },
      `usage.${key} should be a finite number`,
    ]),
    ...['durationMs', 'firstTokenMs', 'reasoningMs'].map((key): [object, string] => [
      { ...message, timing: { [key]: 'x' } },
      `timing.${key} should be a finite number`,
    ]),
    ...['startedAt', 'completedAt'].map((key): [object, string] => [
      { ...message, timing: { [key]: 5 } },
      `timing.${key} should be a string`,
    ]),
    [{ ...message, origin: { id: '1' } }, 'origin.format should be a string'],
    [{ ...message, origin: { format: 'pi' } }, 'origin.id should be a string'],
    [{ ...message, origin: { format: 'pi', id: '1', raw: 5 } }, 'origin.raw should be text'],
    [saying({ type: 'image', media: 5 }), 'content.0.media should be a string'],
    [saying({ type: 'audio', data: 5 }), 'content.0.data should be text'],
    [saying({ type: 'document', url: 5 }), 'content.0.url should be a string'],
    [saying({ type: 'image', alt: 5 }), 'content.0.alt should be a string'],
    [saying({ type: 'text', text: 5 }), 'content.0.text should be text'],
    [{ ...message, toolCalls: [{ name: 'n', arguments: '' }] }, 'toolCalls.0.id should be a string'],
    [{ ...message, reasoning: [{ signature: 's' }] }, 'reasoning.0.text should be text'],
    [{ ...message, reasoning: [{ text: 'x', signature: 5 }] }, 'reasoning.0.signature should be a string'],
    [
      { type: 'session', format: 1, nonce: '', repo: { firstCommit: 5 } },
      'repo.firstCommit should be a string',
    ],
    [{ type: 'session', format: 1, nonce: '', repo: { remote: 5 } }, 'repo.remote should be a string'],
    [{ type: 'session', format: 1, nonce: '', repo: { inside: 5 } }, 'repo.inside should be a string'],
    [
      { type: 'session', format: 1, nonce: '', forkedFrom: { session: id } },
      'forkedFrom.event should be an event id (32 hex)',
    ],
    [
      { type: 'session', format: 1, nonce: '', startedBy: { event: id } },
      'startedBy.session should be an event id (32 hex)',
    ],
    [
      { type: 'compaction', summary: '', through: id, keep: [{ id: 'x', message: {} }] },
      'keep.0.id should be an event id (32 hex)',
    ],
    [
      { type: 'compaction', summary: '', through: id, keep: [{ id, message: 'x' }] },
      'keep.0.message should be an object',
    ],
    [
      { type: 'restore', checkpoint: null, safety: null, files: [{ action: 'x' }] },
      'files.0.path should be a string',
    ],
    [
      { type: 'restore', checkpoint: null, safety: null, files: [{ path: 'a', action: 5 }] },
      'files.0.action should be a string',
    ],
    [
      { type: 'head', to: id, from: id, reason: 'undo', row: {}, restore: { safety: null, files: [] } },
      'restore.checkpoint should be an event id (32 hex) or null',
    ],
    [
      { type: 'head', to: id, from: id, reason: 'undo', row: {}, restore: { checkpoint: null, files: [] } },
      'restore.safety should be an event id (32 hex) or null',
    ],
    [
      {
        type: 'head',
        to: id,
        from: id,
        reason: 'undo',
        row: {},
        restore: { checkpoint: null, safety: null },
      },
      'restore.files should be a list',
    ],
    [{ type: 'recovered', gaps: [{ bytes: 1, sha256: '' }] }, 'gaps.0.back should be a finite number'],
    [{ type: 'recovered', gaps: [{ back: 1, sha256: '' }] }, 'gaps.0.bytes should be a finite number'],
    [{ type: 'recovered', gaps: [{ back: 1, bytes: 1 }] }, 'gaps.0.sha256 should be a string'],
    [{ type: 'recovered', gaps: [], orphans: ['x'] }, 'orphans.0 should be an event id (32 hex)'],
    [{ type: 'redaction', ids: ['x'], reason: '' }, 'ids.0 should be an event id (32 hex)'],
  ])('is checked as well: %j', (draft, reason) => {
    expect(reasonsOf(draft)).toEqual([reason])
  })

  test('a part that format 1 names holds what it must; one of another kind is let through', () => {
    for (const type of ['image', 'audio', 'document']) expect(reasonsOf(saying({ type }))).toEqual([])
    expect(reasonsOf(saying({ type: 'sticker', text: 5, url: 5 }))).toEqual([])
    expect(reasonsOf(saying({ type: 5 }))).toHaveLength(1)
    expect(reasonsOf(saying({}))).toHaveLength(1)
  })

  test.each([
    ['content', message],
    ['reasoning', message],
    ['refusal', message],
    ['summary', { type: 'compaction', through: id, summary: 'x' }],
    ['prompt', { type: 'compaction', through: id, summary: 'x' }],
    ['replacement', { type: 'edit', target: id, replacement: 'x' }],
    ['summary', { type: 'branch', name: 'side' }],
  ])('a reference to a blob in %s is refused: what goes to a blob is the store’s to say', (key, draft) => {
    expect(reasonsOf({ ...draft, [key]: blob })).toEqual([
      `${key} should hold the value itself, not a reference to a blob`,
    ])
  })

  test('a reference to a blob in the arguments of a call, or in a part, is refused as well', () => {
    const refused = (key: string) => [`${key} should hold the value itself, not a reference to a blob`]
    const toolCalls = [{ id: 'c', name: 'n', arguments: blob }]
    expect(reasonsOf({ ...message, toolCalls })).toEqual(refused('toolCalls'))
    expect(reasonsOf(saying({ type: 'text', text: blob }))).toEqual(refused('content'))
    expect(reasonsOf({ ...message, meta: blob })).toEqual([])
  })
})

test('of very many reasons the first five are told, each once', () => {
  const draft = { type: 'process', pid: 'x', startedAt: 5, command: 5, state: 5, code: 'x', deadline: 5 }
  expect(reasonsOf(draft)).toHaveLength(5)
  expect(reasonsOf({ ...message, toolCalls: [5, 5] })).toEqual([
    'toolCalls.0 should be an object',
    'toolCalls.1 should be an object',
  ])
})
