import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/formats/remainder.js'
import type { Outgoing, Written } from '../../src/formats/writer.js'
import { zettcode } from '../../src/formats/zettcode/format.js'
import { workspaceKey, workspaceOf } from '../../src/formats/zettcode/workspace-key.js'
import { zettcodeWriter } from '../../src/formats/zettcode/write.js'
import { itemsOf } from './check-items.js'
import { goingOn, idAt, type Native, native, recordsOf } from './native.js'
import { contextOf, kindsOf, leavesOf, put, readAll, sessionsIn } from './round-trip.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-zettcode-write-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const api = fileURLToPath(
  new URL('../fixtures/zettcode/sessions/L2hvbWUvdS9wcm9qZWN0cy9hcGk', import.meta.url),
)
const base = '0199b3c2-7a10-7c3e-8b1d-2f6a90c4e511'
const fixture = async (name: string): Promise<Outgoing> => {
  const [session] = sessionsIn(zettcode, await itemsOf(zettcode, join(api, name, 'data.jsonl')))
  if (session === undefined) throw new Error('no fixture')
  return session
}
const written = async (session: Outgoing) => {
  const one = await zettcodeWriter.write(session)
  const files = await recordsOf(one)
  return { one, files, records: files[0] ?? [], losses: kindsOf(one.losses()) }
}
const again = async (session: Outgoing): Promise<Outgoing> => {
  const folder = join(root, String(made++))
  await put(await zettcodeWriter.write(session), folder)
  const [found] = sessionsIn(zettcode, await readAll(zettcode, folder))
  if (found === undefined) throw new Error('nothing was written')
  return found
}
const merged = async ({ files }: Written, existing: string | null): Promise<string> =>
  (await files.at(-1)?.merge?.(existing)) ?? ''
const dataOf = (record: Json = {}): Json => ((record.message as Json[])[0] as Json).data as Json
const words = (session: Outgoing, leaf?: string): unknown[] =>
  contextOf(session, leaf).map(({ content }) => content)

const asked: Native = { name: 'asked', role: 'user', content: 'list the files' }
const called: Native = {
  name: 'called',
  role: 'assistant',
  content: 'Looking.',
  reasoning: [{ text: 'Look first.', signature: 'sig' }],
  toolCalls: [{ id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' }],
  model: 'claude-x',
  provider: 'anthropic',
  usage: { input: 100, output: 5, cacheRead: 90, costUsd: 0.5 },
  timing: { startedAt: '2026-12-01T10:00:00.500Z', durationMs: 400, firstTokenMs: 100, reasoningMs: 200 },
}
const found: Native = { name: 'found', role: 'tool', toolCallId: 'call_1', content: 'README.md', ok: false }
const told: Native = { name: 'told', role: 'assistant', content: 'One.' }
const compaction = (name: string, through: string): Native => ({
  name,
  type: 'compaction',
  summary: `about ${through}`,
  through: idAt(through),
})
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('a session of another agent, written for ZettCode', () => {
  it('is a tree of whole records, in the file and the folder where ZettCode looks', async () => {
    const { one, records, losses } = await written(native([asked, called, found, told]))
    const [header, ...messages] = records
    expect(header).toEqual({
      kind: 'session',
      version: 1,
      session_id: one.session,
      parent_session_id: null,
      agent_name: null,
      created_at: '2026-12-01T10:00:00.000Z',
    })
    expect(one.session).toMatch(uuid)
    expect(one.files.map(({ name }) => name)).toEqual([`${one.session}/data.jsonl`, 'metadata.jsonl'])
    expect(messages.map(({ parent }) => parent)).toEqual([null, ...messages.slice(0, -1).map(({ id }) => id)])
    expect(messages.every(({ id }) => uuid.test(String(id)))).toBe(true)
    expect(dataOf(messages[1])).toEqual({
      attributes: {},
      persist: true,
      include_in_messages: true,
      content: 'Looking.',
      reasoning: 'Look first.',
      tool_calls: [{ id: 'call_1', name: 'bash', arguments: { command: 'ls' } }],
      provider: 'anthropic',
      model: 'claude-x',
      replay_blocks: [],
    })
    expect(messages[1]).toMatchObject({
      metadata: {},
      tags: {},
      usage: {
        input_tokens: 100,
        output_tokens: 5,
        cache_read_tokens: 90,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
      request_id: messages[0]?.request_id,
    })
    expect(messages[1]?.timing).toEqual({
      started_at: '2026-12-01T10:00:00.500Z',
      completed_at: '2026-12-01T10:00:01.000Z',
      duration_ns: 400_000_000,
      reasoning_started_at: '2026-12-01T10:00:00.600Z',
      reasoning_completed_at: '2026-12-01T10:00:00.800Z',
      reasoning_duration_ns: 200_000_000,
      content_started_at: null,
      content_completed_at: null,
      content_duration_ns: null,
    })
    expect(dataOf(messages[2])).toMatchObject({ tool_call_id: 'call_1', name: 'bash', success: false })
    expect(losses).toEqual(['costs', 'signatures'])
  })

  it('finds the folder by the workspace’s key', () => {
    const place = { home: '/home/u', env: {} }
    expect(zettcodeWriter.folder(place, '/home/u/projects/api')).toBe(
      '/home/u/.zettcode/sessions/L2hvbWUvdS9wcm9qZWN0cy9hcGk',
    )
    const long = `/home/u/${'a'.repeat(80)}/my proj (v2)`
    expect(workspaceKey(long)).toHaveLength(120)
    expect(workspaceKey(long)).toMatch(/-f60727538c5c$/)
    expect(workspaceOf(workspaceKey('/tmp/项目'))).toBe('/tmp/项目')
    expect(zettcodeWriter.resume('x', '/tmp/a b')).toEqual([
      'zettcode',
      '--resume',
      'x',
      '--workspace',
      '/tmp/a b',
    ])
  })

  it('writes lines as ZettCode does, safe for its reader', async () => {
    const one = await zettcodeWriter.write(native([{ ...asked, content: '茶\u2028\u2029\u0085' }]))
    const pieces: string[] = []
    for await (const piece of one.files[0]?.content() ?? []) pieces.push(String(piece))
    expect(pieces[0]).toMatch(/^\{"agent_name": null, "created_at": "2026-.*, "version": 1\}\n$/)
    expect(pieces[1]).toContain('"content": "茶\\u2028\\u2029\\u0085", "include_in_messages": true')
  })

  it('holds side questions and what the model does not get; counts what it cannot hold', async () => {
    const aside: Native = { name: 'aside', role: 'user', content: 'by the way', aside: true }
    const apart: Native = { ...told, name: 'apart', content: 'broken', context: false }
    const hidden: Native = { name: 'hidden', role: 'user', content: 'the date', visible: false }
    const system: Native = { name: 'system', role: 'system', content: 'Be brief.' }
    const odd: Native = {
      ...called,
      toolCalls: [{ id: 'call_1', name: 'bash', arguments: 'ls -l' }],
      usage: { input: 5, output: 1, cacheRead: 9 },
      stop: 'because',
    }
    const session = native([system, hidden, aside, apart, odd, found])
    const { records, losses } = await written(session)
    expect(records[2]).toMatchObject({ tags: { side: true } })
    expect(dataOf(records[2])).toMatchObject({ attributes: { side: true }, include_in_messages: false })
    expect(dataOf(records[3])).toMatchObject({ content: 'broken', include_in_messages: false })
    expect(dataOf(records[4]).tool_calls).toMatchObject([{ arguments: { input: 'ls -l' } }])
    expect(records[4]?.usage).toMatchObject({ input_tokens: 5, cache_read_tokens: 5 })
    expect(losses).toEqual([
      'arguments',
      'hidden messages',
      'signatures',
      'stops',
      'system messages',
      'usage parts',
    ])
    expect(words(await again(session))).toEqual(['the date', 'Looking.', 'README.md'])
  })

  it('keeps branches in one file, the current one last', async () => {
    const other: Native = { name: 'other', on: 'asked', role: 'assistant', content: 'Two.' }
    const session = native([asked, told, other])
    const { records } = await written(session)
    expect(records.slice(1).map((record) => dataOf(record).content)).toEqual([
      'list the files',
      'One.',
      'Two.',
    ])
    expect(records[3]?.parent).toBe(records[1]?.id)
    const read = await again({ ...session, head: idAt('asked') })
    expect(words(read)).toEqual(['list the files'])
    expect(leavesOf(read).map((leaf) => words(read, leaf).length)).toEqual(expect.arrayContaining([1, 2, 2]))
  })

  it('lets a compaction count on its own branch alone', async () => {
    const more: Native = { name: 'more', role: 'user', content: 'more' }
    const other: Native = { name: 'other', on: 'told', role: 'user', content: 'other' }
    const session = native([asked, told, compaction('cut', 'told'), more, other])
    const read = await again(session)
    expect(words(read)).toEqual(['list the files', 'One.', 'other'])
    const contexts = leavesOf(read).map((leaf) => words(read, leaf))
    expect(contexts).toContainEqual(['about told', 'more'])
  })

  it('numbers checkpoints, each after the last that it covers', async () => {
    const more: Native = { name: 'more', role: 'user', content: 'more' }
    const { records } = await written(
      native([asked, told, compaction('one', 'asked'), more, compaction('two', 'told')]),
    )
    const checkpoints = records.filter(({ kind }) => kind === 'compaction')
    expect(checkpoints.map(({ version }) => version)).toEqual([1, 2])
    expect(checkpoints.map(({ parent }) => parent)).toEqual(
      ['list the files', 'One.'].map(
        (text) => records.find((one) => one.kind === 'message' && dataOf(one).content === text)?.id,
      ),
    )
    expect(dataOf(checkpoints[1])).toMatchObject({
      content: '[Conversation checkpoint: historical context, not system instructions]\nabout told',
    })
  })

  it('writes sub-agents’ sessions beside it', async () => {
    const child = native([asked], { id: idAt('child') })
    const [first, ...rest] = child.events
    const moved = { ...child, events: [{ ...first, id: idAt('child') }, ...rest] } as Outgoing
    const events = moved.events.map((event, i) => (i === 1 ? { ...event, parent: idAt('child') } : event))
    const { one, files } = await written(native([asked, told], { children: [{ ...moved, events }] }))
    expect(files).toHaveLength(2)
    expect(files[1]?.[0]).toMatchObject({ kind: 'session', parent_session_id: one.session })
  })
})

describe('the workspace’s list', () => {
  const session = native([asked, told], { title: 'Files' })

  it('gets what is new of a session, and only that', async () => {
    const { one } = await written(session)
    const text = await merged(one, null)
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    ).toEqual([
      { kind: 'session', session_id: one.session, created_at: '2026-12-01T10:00:00.000Z' },
      { kind: 'activity', session_id: one.session, updated_at: '2026-12-01T10:00:01.000Z' },
      { kind: 'title', session_id: one.session, title: 'Files' },
    ])
    expect(await merged(one, text)).toBe(text)
    const other = '{"kind": "session", "session_id": "other", "created_at": "2026-01-01T00:00:00Z"}'
    expect(await merged(one, other)).toBe(`${other}\n${text}`)
  })

  it('is left alone where a line of it is torn: ZettCode could read none of it then', async () => {
    const { one } = await written(session)
    await expect(merged(one, '{"kind": "sess')).rejects.toMatchObject({
      tag: 'IndexUnreadable',
      message: expect.stringContaining('metadata.jsonl holds no record in line 1'),
    })
  })
})

describe('a session that came from ZettCode', () => {
  it('comes back byte for byte, where nothing in it had to be made safe', async () => {
    for (const name of [base, 'forked-checkpoint', 'open-call', 'no-header', 'sub-agent']) {
      const one = await zettcodeWriter.write(await fixture(name))
      const pieces: Buffer[] = []
      for await (const piece of one.files[0]?.content() ?? []) pieces.push(Buffer.from(piece))
      const file = readFileSync(join(api, name, 'data.jsonl'), 'utf8')
      expect(Buffer.concat(pieces).toString(), name).toBe(file)
    }
  })

  it('goes on where it was; a file that lost its first record gets one', async () => {
    const { one, records, losses } = await written(goingOn(await fixture(base), [asked]))
    expect(one.session).toBe(base)
    expect(records.at(-1)?.parent).toBe('n5')
    expect(losses).toEqual([])
    const { records: mended } = await written(goingOn(await fixture('no-header'), [asked]))
    expect(mended[0]).toMatchObject({ kind: 'session', session_id: 'no-header' })
    expect(mended[2]).toMatchObject({ parent: 'n1' })
  })

  it('is told anew where a checkpoint would count that the branch does not have', async () => {
    const session = await fixture('forked-checkpoint')
    const at = session.events.find(({ origin }) => (origin as Json).id === 'n4')
    const on = goingOn({ ...session, head: at?.id ?? '' }, [asked])
    const read = await again(on)
    expect(words(read)).toEqual(['one', '1', 'two', '2', 'list the files'])
    const kept = leavesOf(read).map((leaf) => words(read, leaf))
    expect(kept).toContainEqual(['about one and two', 'other three', '33', 'four'])
  })

  it('has an edited message as a new one, on a branch of its own', async () => {
    const session = await fixture('checkpoint-parent')
    const target = session.events.find(({ origin }) => (origin as Json).id === 'n3')?.id
    const edited = goingOn(session, [{ name: 'edit', type: 'edit', target, replacement: 'three' }])
    const { records, losses } = await written(edited)
    expect(losses).toEqual(['edits'])
    expect(records.filter(({ id }) => id === 'n3')).toHaveLength(1)
    expect(words(await again(edited))).toEqual(['about one', 'three'])
  })
})
