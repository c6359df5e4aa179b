import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as zlib from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { codex } from '../../src/formats/codex/format.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, itemsOf, payloadOf, problemsOf } from './check-items.js'

const home = fileURLToPath(new URL('../fixtures/codex', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coppice-codex-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [main = '', bare = '', child = ''] = await codex.find(home)
const items = await itemsOf(codex, main)
const atLine = (line: number, among: readonly Item[] = items): EventItem => {
  const found = eventsOf(among).find((item) => item.line === line && !item.key.endsWith('#status'))
  if (found === undefined) throw new Error(`nothing from line ${line}`)
  return found
}
const told = (line: number, among: readonly Item[] = items): Record<string, unknown> =>
  payloadOf(atLine(line, among))
const remarks = (among: readonly Item[]): string[] =>
  among.flatMap((item) => (item.kind === 'remark' ? [item.text] : []))

let made = 0
const read = async (...lines: readonly (object | string)[]): Promise<Item[]> => {
  const file = join(folder, `${made++}.jsonl`)
  writeFileSync(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return itemsOf(codex, file)
}
const line = (type: string, payload: object): object => ({
  timestamp: '2026-12-01T09:00:01.000Z',
  type,
  payload,
})
const meta = line('session_meta', { id: 's', cwd: '/w' })
const said = (role: string, text: string): object =>
  line('response_item', {
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  })

describe('a Codex rollout', () => {
  it('is named by what the user asked, not by what an editor put before it', async () => {
    const context =
      '# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nfix the clock\n'
    const asked = await read(meta, said('user', context), said('assistant', 'done'))
    const titles = eventsOf(asked).filter(({ type }) => type === 'title')
    expect(titles.map(payloadOf)).toEqual([{ title: 'fix the clock', by: 'auto' }])
    expect(eventsOf(await read(meta, said('user', 'fix it'))).filter(({ type }) => type === 'title')).toEqual(
      [],
    )
  })

  it('is a chain in a session of its folder, with the name that the index gives it', () => {
    expect(problemsOf(items)).toEqual([])
    expect(items[0]).toMatchObject({
      kind: 'session',
      workspace: '/home/u/tea',
      agent: { version: '0.171.0' },
    })
    const titles = eventsOf(items).filter(({ type }) => type === 'title')
    expect(titles.map(payloadOf)).toEqual([{ title: 'tea clock', by: 'import' }])
  })

  it('tells what Codex injects as hidden messages, and images as bytes', () => {
    expect(told(3)).toMatchObject({ role: 'system', visible: false })
    expect(told(4)).toMatchObject({ role: 'user', visible: false })
    expect(told(6).content).toEqual([
      { type: 'text', text: '钟什么时候响？ list the files' },
      { type: 'image', media: 'image/png', data: 'iVBORw0KGgo=', detail: 'auto' },
    ])
  })

  it('says nothing twice: what an event repeats of an item is kept beside it', () => {
    for (const mirrored of [7, 8, 10]) expect(atLine(mirrored).type).toBe('custom')
    expect(remarks(items)).toContain(
      'event_msg:agent_message record kept as a custom event: a response item says the same',
    )
  })

  it('keeps sealed reasoning to be sent back, under the words that can be read', () => {
    expect(told(9)).toMatchObject({
      reasoning: [{ text: 'Look first.' }],
      replay: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA-sealed' }],
    })
    expect(told(20)).toMatchObject({ content: null, replay: [{ type: 'web_search_call' }] })
  })

  it('takes the items of one reply as one message, with what it cost', () => {
    const groups = [9, 11, 12, 13, 16].map((at) => told(at).group)
    expect(new Set(groups).size).toBe(1)
    expect(told(16)).toMatchObject({ usage: { input: 1000, output: 50, cacheRead: 900, reasoning: 1 } })
    expect(atLine(19).type).toBe('custom')
    expect(told(21).group).not.toBe(groups[0])
  })

  it('knows how each call went from the event beside its output', () => {
    expect(told(17)).toMatchObject({ toolCallId: 'call_1', ok: true, timing: { durationMs: 250 } })
    expect(told(18)).toMatchObject({ toolCallId: 'call_2', ok: false, timing: { durationMs: 1000 } })
  })

  it('undoes the turns that were rolled back by moving the head to before them', () => {
    const move = items.find(({ kind }) => kind === 'move')
    expect(move).toMatchObject({ reason: 'undo', to: atLine(23).key, line: 32 })
    expect(atLine(32).parent).toBe(atLine(23).key)
  })

  it('keeps through a compaction what its new history holds of before', () => {
    const cut = told(41)
    expect(cut).toMatchObject({ summary: 'A clock was written.' })
    expect(cut.keep).toMatchObject([{ message: { role: 'user', content: 'write a clock' } }])
  })

  it('keeps every line that it does not know', () => {
    const kept = [44, 45, 46, 47].map((at) => told(at).name)
    expect(kept).toEqual([
      'codex:world_state',
      'codex:ghost_snapshot',
      'codex:response_item:from_the_future',
      'codex:later_type',
    ])
  })

  it('shows the context that Codex would send', async () => {
    const store = await openStore(join(folder, 'store'))
    try {
      await importSources(store, [{ format: codex, path: main }], { workspace: folder })
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const context = await reader.context({ format: 'openai' })
      expect(context.map(({ content }) => content)).toEqual([
        'write a clock',
        expect.stringContaining('A clock was written.'),
      ])
      expect(row).toMatchObject({ title: 'tea clock', status: 'completed', diverged: [] })
    } finally {
      await store.close()
    }
  })
})

describe('older and stranger rollouts', () => {
  it('without envelopes are read all the same', async () => {
    const old = await itemsOf(codex, bare)
    expect(problemsOf(old)).toEqual([])
    expect(old[0]).toMatchObject({
      session: '019d0000-0000-7000-8000-00000000c0b1',
      agent: { records: 'bare' },
    })
    expect(told(3, old)).toMatchObject({ role: 'user', content: 'first' })
    expect(told(6, old)).toMatchObject({ toolCallId: 'call_1', ok: false, timing: { durationMs: 1500 } })
    expect(told(7, old).toolCalls).toEqual([
      { id: 'call_1', name: 'local_shell', arguments: '{"type":"exec","command":["ls"]}' },
    ])
    expect(told(7, old).group).not.toBe(told(5, old).group)
  })

  it('name the thread that spawned them and the one they were forked from', async () => {
    const spawned = await itemsOf(codex, child)
    expect(spawned[0]).toMatchObject({
      startedBy: { session: '019d0000-0000-7000-8000-00000000c0a1', event: null },
      forkedFrom: { session: '019d0000-0000-7000-8000-00000000c0a1', event: null },
    })
    expect(told(2, spawned).name).toBe('codex:session_meta')
  })

  it('may tell the user’s words in an event alone', async () => {
    const spawned = await itemsOf(codex, child)
    expect(told(3, spawned)).toEqual({ role: 'user', content: 'look around' })
    expect(told(5, spawned).content).toHaveLength(2)
    expect(told(7, spawned)).toMatchObject({ summary: 'Looked around.' })
  })

  it('may use a call id twice: each call is a message of its own', async () => {
    const call = (name: string): object =>
      line('response_item', { type: 'function_call', name, call_id: 'c' })
    const twice = await read(meta, call('a'), call('b'))
    expect(problemsOf(twice)).toEqual([])
    expect(told(2, twice).group).not.toBe(told(3, twice).group)
  })

  it('may be rolled back further than they go, or to their beginning', async () => {
    const back = (count: number): object =>
      line('event_msg', { type: 'thread_rolled_back', num_turns: count })
    const rolled = await read(
      meta,
      said('user', 'a'),
      said('assistant', 'b'),
      back(5),
      back(1),
      said('user', 'c'),
    )
    expect(problemsOf(rolled)).toEqual([])
    expect(atLine(4, rolled).parent).toBeNull()
    expect(atLine(6, rolled).parent).toBe(atLine(5, rolled).key)
  })

  it('may be compacted before anything was said: the model reads the summary', async () => {
    const cut = await read(meta, line('compacted', { message: 'short' }))
    expect(told(2, cut)).toMatchObject({ name: 'codex:compacted', content: 'short' })
  })

  it('may be compacted right after a rollback, which Codex itself would lose', async () => {
    const cut = await read(
      meta,
      said('user', 'a'),
      said('user', 'b'),
      line('event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
      line('compacted', { message: 'short' }),
    )
    expect(told(5, cut)).toMatchObject({ summary: 'short' })
  })

  it('name their damage by line, and lack their head', async () => {
    const broken = await read(
      'not json',
      said('user', 'a'),
      '{"timestamp":"x","type":"resp',
      said('user', 'b'),
    )
    expect(broken.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 1 }, { line: 3 }])
    expect(eventsOf(broken)).toHaveLength(2)
    expect(remarks(broken)).toContain('file does not begin with its session_meta: Codex would not open it')
  })
})

describe('a compressed rollout', () => {
  const file = join(folder, 'rollout-2026-12-01T09-00-00-019d0000-0000-7000-8000-00000000c0d1.jsonl.zst')
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }
  const text = Buffer.from(`${JSON.stringify(meta)}\n${JSON.stringify(said('user', 'a'))}\n`)

  it('is found, and read where Node can; else its failure says what to do', async () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, zstdCompressSync?.(text) ?? text)
    expect(await codex.find(folder)).toContain(file)
    const found = await itemsOf(codex, file)
    if (zstdCompressSync !== undefined) expect(eventsOf(found)).toHaveLength(1)
    else
      expect(found).toMatchObject([
        { kind: 'failed', line: null, reason: expect.stringContaining('zstd -d') },
      ])
  })
})

it('looks where Codex keeps its rollouts, and takes no other file there', async () => {
  expect(codex.folders({ home: '/home/u', env: {} })).toEqual([
    '/home/u/.codex/sessions',
    '/home/u/.codex/archived_sessions',
  ])
  expect(codex.folders({ home: '/home/u', env: { CODEX_HOME: '/c' } })[0]).toBe('/c/sessions')
  expect(await codex.find(home)).toHaveLength(3)
})
