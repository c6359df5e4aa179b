import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { claude } from '../../src/formats/claude/format.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { eventsOf, idFor, itemsOf, payloadOf, problemsOf } from './check-items.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-claude-'))
afterAll(() => rmSync(root, { recursive: true }))

const session = '99999999-9999-4999-8999-999999999999'
let clock = 0
type Members = Record<string, unknown>

const line = (uuid: string, parentUuid: string | null, members: Members): Members => ({
  uuid,
  parentUuid,
  isSidechain: false,
  cwd: '/home/u/proj',
  sessionId: session,
  version: '2.1.197',
  timestamp: new Date(Date.UTC(2026, 11, 1, 9) + clock++ * 1000).toISOString(),
  ...members,
})
const user = (uuid: string, parent: string | null, content: unknown, members: Members = {}): Members =>
  line(uuid, parent, { type: 'user', message: { role: 'user', content }, ...members })
const says = (
  uuid: string,
  parent: string | null,
  block: Members | string,
  members: Members = {},
): Members => {
  const content = [typeof block === 'string' ? { type: 'text', text: block } : block]
  const { id = uuid, ...rest } = members
  return line(uuid, parent, {
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content,
      stop_reason: null,
      stop_sequence: null,
    },
    ...rest,
  })
}
const call = (id: string, input: unknown = {}): Members => ({ type: 'tool_use', id, name: 'Bash', input })
const result = (id: string, content: unknown = 'done', members: Members = {}): Members => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...members,
})

const write = (lines: readonly (Members | string)[], path = `${session}.jsonl`): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''))
  return file
}
const read = async (...lines: (Members | string)[]): Promise<Item[]> => {
  const items = await itemsOf(claude, write(lines))
  expect(problemsOf(items)).toEqual([])
  return items
}
const links = (items: readonly Item[]): string[] =>
  eventsOf(items).map(({ key, parent }) => `${parent ?? '·'} ${key}`)
const event = (items: readonly Item[], key: string): EventItem =>
  eventsOf(items).find((item) => item.key === key) as EventItem
const remarks = (items: readonly Item[]): string[] =>
  items.flatMap((item) => (item.kind === 'remark' ? [`${item.count} ${item.text}`] : []))

describe('the chain', () => {
  it('makes a branch where a prompt was rewound', async () => {
    const items = await read(
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
      user('u2', 'a1', 'two'),
      user('u3', 'a1', 'other'),
    )
    expect(links(items)).toEqual(['· u1', 'u1 a1', 'a1 u2', 'a1 u3'])
  })

  it('keeps parallel calls, their results and hook progress on one line', async () => {
    const items = await read(
      user('u1', null, 'go'),
      says('a1', 'u1', call('t1'), { id: 'm' }),
      says('a2', 'a1', call('t2'), { id: 'm' }),
      line('p', 'a2', { type: 'progress', data: {} }),
      user('r1', 'a1', [result('t1')]),
      user('r2', 'a2', [result('t2')]),
      says('a3', 'r1', 'both done'),
    )
    expect(links(items)).toEqual(['· u1', 'u1 a1', 'a1 a2', 'a2 p', 'p r1', 'r1 r2', 'r2 a3'])
    expect(payloadOf(event(items, 'a2')).group).toBe('m')
    expect((event(items, 'r1').extra as Members).parentUuid).toBe('a1')
  })

  it('branches where the model answered twice', async () => {
    expect(links(await read(user('u1', null, 'go'), says('a1', 'u1', 'x'), says('a2', 'u1', 'y')))).toEqual([
      '· u1',
      'u1 a1',
      'u1 a2',
    ])
  })

  it.each([
    ['a missing parent', [user('u1', null, 'a'), user('u2', 'gone', 'b')], 'does not stand before it'],
    ['a self-parent', [user('u1', null, 'a'), user('u2', 'u2', 'b')], 'names itself'],
    ['a parent further down, and a cycle', [user('u1', 'u2', 'a'), user('u2', 'u1', 'b')], ''],
  ])('bridges %s', async (_name, lines, remark) => {
    const items = await read(...lines)
    expect(links(items)).toEqual(['· u1', 'u1 u2'])
    expect(remarks(items).join()).toContain(remark)
  })

  it('says which record stood after the one that names it', async () => {
    const items = await read(user('u0', null, 'z'), user('u1', 'u2', 'a'), user('u2', 'u1', 'b'))
    expect(remarks(items)).toEqual([
      '1 record names a parent that does not stand before it: hung on the one before',
      '1 record stands after one that names it as its parent',
    ])
  })

  it('begins anew at a second root, but not after snapshots and hooks alone', async () => {
    const snapshot = {
      type: 'file-history-snapshot',
      messageId: 'u1',
      snapshot: { timestamp: '2026-12-01T09:00:00.000Z' },
    }
    const items = await read(
      snapshot,
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
      user('u2', null, 'two'),
    )
    expect(links(items).map((link) => link.replace(/file-history-snapshot#\w+/, 'snapshot'))).toEqual([
      '· snapshot',
      'snapshot u1',
      'u1 a1',
      '· u2',
    ])
  })

  it('leaves out a record that stands twice, and says its line', async () => {
    const one = user('u1', null, 'a')
    const items = await read(one, one)
    expect(links(items)).toEqual(['· u1'])
    expect(items.find(({ kind }) => kind === 'remark')).toMatchObject({ count: 1, lines: [2] })
  })

  it('makes a uuid with another content an edit of the first', async () => {
    const items = await read(user('u1', null, 'a'), says('a1', 'u1', 'x'), user('u1', null, 'b'))
    const edit = eventsOf(items).find(({ type }) => type === 'edit') as EventItem
    expect(payloadOf(edit)).toEqual({ target: idFor('u1'), replacement: 'b' })
    expect(edit.parent).toBe('a1')
  })

  it('follows the leaf of last-prompt where it stands on another branch', async () => {
    const items = await read(
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
      says('a2', 'u1', '2'),
      { type: 'last-prompt', lastPrompt: 'one', leafUuid: 'a1', sessionId: session },
      user('u3', 'a1', 'more'),
    )
    expect(items.find(({ kind }) => kind === 'move')).toMatchObject({ to: 'a1', line: 4 })
    expect(event(items, 'u3').parent).toMatch(/^last-prompt#/)
  })

  it('stays where last-prompt names a leaf above the end', async () => {
    const items = await read(user('u1', null, 'one'), says('a1', 'u1', '1'), {
      type: 'last-prompt',
      leafUuid: 'u1',
      sessionId: session,
    })
    expect(items.filter(({ kind }) => kind === 'move')).toEqual([])
  })
})

describe('messages', () => {
  it('map thinking, its signature, redacted thinking, text, calls, usage and stop', async () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'a', n: 1 } },
    ]
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 2,
      output_tokens: 3,
      service_tier: 'standard',
    }
    const message = {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    }
    const items = await read(
      user('u1', null, 'go'),
      line('a1', 'u1', { type: 'assistant', message, requestId: 'r' }),
    )
    expect(payloadOf(event(items, 'a1'))).toEqual({
      role: 'assistant',
      content: 'Reading.',
      reasoning: [{ text: 'hm', signature: 'sig' }],
      replay: [{ type: 'redacted_thinking', data: 'xyz' }],
      toolCalls: [{ id: 't1', name: 'Read', arguments: '{"path":"a","n":1}' }],
      group: 'm1',
      model: 'some-model',
      stop: 'tool_use',
      usage: { input: 17, output: 3, cacheRead: 5, cacheWrite: 2 },
    })
    expect(event(items, 'a1').extra).toEqual({
      requestId: 'r',
      message: { usage: { service_tier: 'standard' } },
    })
  })

  it('make each result of a line a message of its own, and the rest of it the user’s', async () => {
    const blocks = [
      result('t1', 'one'),
      result('t2', [{ type: 'text', text: 'two' }], { is_error: true }),
      { type: 'text', text: 'and now?' },
    ]
    const items = await read(
      user('u1', null, 'go'),
      says('a1', 'u1', call('t1'), { id: 'm' }),
      says('a2', 'a1', call('t2'), { id: 'm' }),
      user('u2', 'a2', blocks),
      says('a3', 'u2', 'ok'),
    )
    expect(links(items).slice(3)).toEqual(['a2 u2#t1', 'u2#t1 u2#t2', 'u2#t2 u2', 'u2 a3'])
    expect(payloadOf(event(items, 'u2#t2'))).toEqual({
      role: 'tool',
      toolCallId: 't2',
      content: [{ type: 'text', text: 'two' }],
      ok: false,
    })
    expect(payloadOf(event(items, 'u2'))).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'and now?' }],
    })
  })

  it('hang what follows a line of several results on the last of them', async () => {
    const items = await read(
      says('a1', null, call('t1')),
      user('u2', 'a1', [result('t1'), result('t2')]),
      says('a3', 'u2', 'ok'),
    )
    expect(links(items)).toEqual(['· a1', 'a1 u2#t1', 'u2#t1 u2#t2', 'u2#t2 a3'])
  })

  it('carry images inline and by address, and blocks nobody knows', async () => {
    const blocks = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
      { type: 'tool_reference', tool_name: 'x' },
    ]
    expect(payloadOf(event(await read(user('u1', null, blocks)), 'u1')).content).toEqual([
      { type: 'image', media: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'image', url: 'https://example.org/a.png' },
      { type: 'tool_reference', tool_name: 'x' },
    ])
  })

  it('are hidden where the line is meta', async () => {
    const items = await read(
      user('u1', null, 'caveat', { isMeta: true }),
      user('u2', 'u1', 'x', { isVisibleInTranscriptOnly: true }),
    )
    expect([payloadOf(event(items, 'u1')).visible, payloadOf(event(items, 'u2')).visible]).toEqual([
      false,
      false,
    ])
  })

  it('that report an API error stay out of the context and set the status', async () => {
    const items = await read(
      user('u1', null, 'go'),
      says('a1', 'u1', 'API Error: 529', { isApiErrorMessage: true }),
    )
    expect(payloadOf(event(items, 'a1')).context).toBe(false)
    expect(payloadOf(event(items, 'a1#status'))).toEqual({ status: 'failed', reason: 'API Error: 529' })
  })

  it('keep the line where a number or a key would not survive', async () => {
    const text = JSON.stringify(says('a1', null, call('t1', { n: 1 }))).replace(
      '"n":1',
      '"n":12345678901234567890',
    )
    expect(event(await read(text), 'a1').raw).toBe(text)
  })

  it.each([
    ['2026-12-01T10:00:00+01:00', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T09:00:00.123456Z', '2026-12-01T09:00:00.123Z'],
    [null, '2026-12-01T08:00:00.000Z'],
    ['yesterday', '2026-12-01T08:00:00.000Z'],
  ])('take the time %s as %s', async (timestamp, at) => {
    const items = await read(
      user('u1', null, 'a', { timestamp: '2026-12-01T08:00:00.000Z' }),
      user('u2', 'u1', 'b', { timestamp }),
    )
    expect(event(items, 'u2').at).toBe(at)
    expect((event(items, 'u2').extra as Members).timestamp).toBe(timestamp)
  })
})

describe('compaction', () => {
  const boundary = (parent: string, meta: Members = {}): Members =>
    line('b', null, {
      type: 'system',
      subtype: 'compact_boundary',
      logicalParentUuid: parent,
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'manual', preTokens: 1200, ...meta },
    })
  const summary = (parent = 'b'): Members =>
    user('s', parent, 'Summary: …', { isCompactSummary: true, isVisibleInTranscriptOnly: true })

  it('covers what stood before its boundary', async () => {
    const items = await read(
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
      boundary('a1'),
      summary(),
      user('u2', 's', 'two'),
    )
    expect(links(items)).toEqual(['· u1', 'u1 a1', 'a1 b', 'b s', 's u2'])
    expect(payloadOf(event(items, 's'))).toEqual({
      summary: 'Summary: …',
      through: idFor('b'),
      trigger: 'manual',
      tokensBefore: 1200,
    })
  })

  it('does not cover a call that still waits for its result', async () => {
    const items = await read(
      user('u1', null, 'one'),
      says('a1', 'u1', 'first', { id: 'm' }),
      says('a2', 'a1', call('t1'), { id: 'm' }),
      boundary('a2'),
      summary(),
    )
    expect(payloadOf(event(items, 's')).through).toBe(idFor('u1'))
  })

  it.each([
    ['preservedMessages', { preservedMessages: { anchorUuid: 's', uuids: ['u2', 'a2'] } }],
    ['preserved_messages', { preserved_messages: { anchor_uuid: 's', uuids: ['u2', 'a2'] } }],
    ['preservedSegment', { preservedSegment: { headUuid: 'u2', anchorUuid: 's', tailUuid: 'a2' } }],
  ])('keeps the messages of %s, and goes on after the summary from them', async (_name, meta) => {
    const items = await read(
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
      user('u2', 'a1', 'two'),
      says('a2', 'u2', '2'),
      boundary('a2', meta),
      summary(),
      user('u3', 'a2', 'three'),
    )
    expect(payloadOf(event(items, 's')).through).toBe(idFor('a1'))
    expect(event(items, 'u3').parent).toBe('s')
  })

  it('whose messages are gone is a hidden message', async () => {
    const items = await read(summary('gone'), user('u2', 's', 'two'))
    expect(payloadOf(event(items, 's'))).toMatchObject({ role: 'user', visible: false })
    expect(remarks(items).join()).toContain('not in the file')
  })

  it('of single results is an edit of each', async () => {
    const items = await read(
      says('a1', null, call('t1')),
      user('r1', 'a1', [result('t1', 'long')]),
      line('mc', 'r1', {
        type: 'system',
        subtype: 'microcompact_boundary',
        microcompactMetadata: { compactedToolIds: ['t1', 'gone'] },
      }),
    )
    expect(payloadOf(event(items, 'mc#t1'))).toEqual({
      target: idFor('r1'),
      replacement: '[Old tool result content cleared]',
    })
  })
})

describe('titles and other marks', () => {
  it('come by import where the user gave them, by themselves where the model did', async () => {
    const items = await read(
      user('u1', null, 'one'),
      { type: 'ai-title', aiTitle: 'A', sessionId: session },
      { type: 'custom-title', customTitle: ' 标题 ', sessionId: session },
    )
    expect(
      eventsOf(items)
        .filter(({ type }) => type === 'title')
        .map(payloadOf),
    ).toEqual([
      { title: 'A', by: 'auto' },
      { title: '标题', by: 'import' },
    ])
  })

  it('is named by what was asked first, not by a command of the tool', async () => {
    const clear = '<command-name>/clear</command-name>\n<command-message>clear</command-message>'
    const items = await read(
      user('u1', null, clear),
      user('u2', 'u1', '<local-command-stdout></local-command-stdout>'),
      user('u3', 'u2', 'fix the clock'),
    )
    const titles = eventsOf(items).filter(({ type }) => type === 'title')
    expect(titles.map(payloadOf)).toEqual([
      { title: '/clear', by: 'auto' },
      { title: 'fix the clock', by: 'auto' },
    ])
    expect(problemsOf(items)).toEqual([])
  })

  it('of older versions title the session of their leaf only, once it comes', async () => {
    const items = await read(
      { type: 'summary', summary: 'Mine', leafUuid: 'a1' },
      { type: 'summary', summary: 'Another', leafUuid: 'elsewhere' },
      user('u1', null, 'one'),
      says('a1', 'u1', '1'),
    )
    expect(
      eventsOf(items)
        .filter(({ type }) => type === 'title')
        .map((item) => [payloadOf(item).title, item.parent]),
    ).toEqual([['Mine', 'a1']])
    expect(remarks(items)).toContain('2 summary record kept as a custom event')
  })

  it('that repeat word for word have keys of their own', async () => {
    const mode = { type: 'mode', mode: 'plan', sessionId: session }
    const items = await read(user('u1', null, 'one'), mode, mode)
    expect(eventsOf(items).slice(1).map(payloadOf)).toEqual([
      { name: 'claude:mode', data: { mode: 'plan' } },
      { name: 'claude:mode', data: { mode: 'plan' } },
    ])
  })

  it('make no session of themselves', async () => {
    const items = await read({ type: 'mode', mode: 'plan', sessionId: session })
    expect(items).toEqual([
      {
        kind: 'remark',
        session: null,
        text: 'record without a conversation: left out',
        count: 1,
        lines: [1],
      },
    ])
  })
})

describe('sessions', () => {
  it('of sub-agents in the same file are their own, tied to the call that gave their prompt', async () => {
    const items = await read(
      user('u1', null, 'go'),
      says('a1', 'u1', { type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'look around' } }),
      user('x1', null, 'look around', { isSidechain: true }),
      says('x2', 'x1', 'seen', { isSidechain: true }),
      user('r1', 'a1', [result('t1')]),
    )
    const child = `${session}/sidechain-x1`
    expect(items.filter(({ kind }) => kind === 'session')).toMatchObject([
      { session, workspace: '/home/u/proj' },
      { session: child, startedBy: { session, event: 'a1' } },
    ])
    expect(
      eventsOf(items).map(
        (item) => `${item.session === child ? 'child' : 'main'} ${item.parent} ${item.key}`,
      ),
    ).toEqual(['main null u1', 'main u1 a1', 'child null x1', 'child x1 x2', 'main a1 r1'])
  })

  it('of sub-agents in files of their own name the session they work for', async () => {
    const file = write(
      [user('x1', null, 'look', { isSidechain: true, agentId: 'abc' })],
      `${session}/subagents/agent-abc.jsonl`,
    )
    expect((await itemsOf(claude, file))[0]).toMatchObject({
      session: `${session}/agent-abc`,
      startedBy: { session, event: null },
    })
  })

  it('that were forked name their source', async () => {
    const items = await read(user('u1', null, 'go', { forkedFrom: { sessionId: 'other', messageUuid: 'm' } }))
    expect(items[0]).toMatchObject({ kind: 'session', forkedFrom: { session: 'other', event: 'm' } })
  })

  it('keep their file’s name where lines carry another id', async () => {
    const items = await read(user('u1', null, 'a', { sessionId: 'older' }), user('u2', 'u1', 'b'))
    expect(items[0]).toMatchObject({ session })
    expect((event(items, 'u2').extra as Members).sessionId).toBe(session)
    expect(remarks(items).join()).toContain(`session ${session}`)
  })
})

describe('finding', () => {
  it('goes through a folder once, links or not, and takes transcripts only', async () => {
    const base = 'projects/-home-u-proj'
    const main = write([user('u1', null, 'a')], `${base}/${session}.jsonl`)
    const agent = write(
      [user('x1', null, 'b', { isSidechain: true, agentId: 'q' })],
      `${base}/${session}/subagents/agent-q.jsonl`,
    )
    write([{ display: 'a', project: '/x' }], 'projects/history.jsonl')
    symlinkSync(join(root, 'projects'), join(root, base, 'loop'))
    expect(await claude.find(join(root, 'projects'))).toEqual([main, agent])
  })

  it('looks where CLAUDE_CONFIG_DIR says', () => {
    expect(claude.folders({ home: '/h', env: { CLAUDE_CONFIG_DIR: '/c' } })).toEqual(['/c/projects'])
    expect(claude.folders({ home: '/h', env: {} })).toContain('/h/.claude/projects')
  })

  it('tells a file that is not there as a failure', async () => {
    expect(await itemsOf(claude, join(root, 'gone.jsonl'))).toMatchObject([{ kind: 'failed', line: null }])
  })
})
