import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { acp } from '../../src/formats/acp/format.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, itemsOf, linesOf, payloadOf, problemsOf } from './check-items.js'

const fixtures = fileURLToPath(new URL('../fixtures/acp', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coppice-acp-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [bare = '', live = '', loaded = ''] = await acp.find(fixtures)
const items = await itemsOf(acp, live)
const messages = (among: readonly Item[]): Record<string, unknown>[] =>
  eventsOf(among)
    .filter(({ type }) => type === 'message')
    .map(payloadOf)
const at = (line: number): EventItem[] => eventsOf(items).filter((item) => item.line === line)
const remarks = (among: readonly Item[]): string[] =>
  among.flatMap((item) => (item.kind === 'remark' ? [`${item.count} × ${item.text}`] : []))

let made = 0
const read = async (text: string): Promise<Item[]> => {
  const file = join(folder, `${made++}.jsonl`)
  writeFileSync(file, text)
  return itemsOf(acp, file)
}

describe('a trace of the Agent Client Protocol', () => {
  it('begins with the session that its client asked for, named by its agent', () => {
    expect(problemsOf(items)).toEqual([])
    expect(items[0]).toMatchObject({
      kind: 'session',
      session: 'sess-1',
      workspace: '/home/u/tea',
      agent: { name: 'tea-agent', version: '1.2.3' },
    })
    expect(linesOf(items).size).toBe(readFileSync(live, 'utf8').trim().split('\n').length)
  })

  it('joins chunks into messages, and takes what is said until a result as one reply', () => {
    const [prompt, thought, spoken, call] = messages(items)
    expect(prompt?.content).toEqual([
      { type: 'text', text: '钟什么时候响？' },
      { type: 'image', media: 'image/png', data: 'iVBORw0KGgo=' },
    ])
    expect(thought).toMatchObject({ reasoning: [{ text: 'Look first.' }] })
    expect(spoken).toMatchObject({ content: 'Looking.' })
    expect(new Set([thought, spoken, call].map((one) => one?.group)).size).toBe(1)
    expect(remarks(items)).toContain('2 × chunk joined with the one before it')
  })

  it('takes the updates of a call as the call and its result', () => {
    const [, , , call, result, second, failed] = messages(items)
    expect(call?.toolCalls).toEqual([{ id: 'c1', name: 'edit', arguments: '{"path":"k.ts"}' }])
    expect(result).toMatchObject({ toolCallId: 'c1', ok: true, content: [{ type: 'diff', newText: 'x' }] })
    expect(second?.toolCalls).toMatchObject([{ id: 'c2', name: 'execute' }])
    expect(failed).toMatchObject({ toolCallId: 'c2', ok: false, content: '{"exitCode":1}' })
  })

  it('tells how far a call came: asked, allowed, started, denied', () => {
    const notes = eventsOf(items).filter(({ type }) => type === 'tool')
    expect(notes.map(payloadOf)).toEqual([
      { toolCallId: 'c1', state: 'asked' },
      { toolCallId: 'c1', state: 'allowed', by: 'user' },
      { toolCallId: 'c1', state: 'started' },
      { toolCallId: 'c3', state: 'asked' },
      { toolCallId: 'c3', state: 'denied', by: 'user' },
    ])
    expect(notes[0]?.parent).toBe('call:c1')
  })

  it('keeps what client and agent ask each other beside the conversation', () => {
    expect(at(16).map((item) => payloadOf(item).name)).toEqual(['acp:fs/write_text_file'])
    expect(at(17).map((item) => payloadOf(item).name)).toEqual(['acp:fs/write_text_file:response'])
    expect(at(3).map((item) => payloadOf(item).name)).toEqual(['acp:session/new'])
  })

  it('tells how each turn ended, and what it cost', () => {
    const statuses = eventsOf(items).flatMap((item) => (item.type === 'status' ? [payloadOf(item)] : []))
    expect(statuses).toEqual([
      { status: 'ask_permission' },
      { status: 'processing' },
      { status: 'completed' },
      { status: 'ask_permission' },
      { status: 'processing' },
      { status: 'interrupted', reason: 'cancelled' },
      { status: 'failed', reason: 'overloaded' },
    ])
    expect(messages(items).find(({ usage }) => usage !== undefined)?.usage).toEqual({
      input: 100,
      output: 5,
      cacheRead: 90,
    })
  })

  it('says a prompt once, also where its agent repeats it, and nothing again that a load tells again', () => {
    const words = messages(items).flatMap(({ role, content }) => (role === 'user' ? [content] : []))
    expect(words.slice(1)).toEqual(['again', 'once more'])
    expect(remarks(items)).toEqual(
      expect.arrayContaining([
        '1 × prompt that the agent repeats: left out',
        '10 × update that a load tells again: left out',
      ]),
    )
  })

  it('that begins with a load continues the session that an earlier trace told', async () => {
    const store = await openStore(join(folder, 'store'))
    try {
      const sources = [live, loaded].map((path) => ({ format: acp, path }))
      const first = await importSources(store, sources, { workspace: folder })
      expect(first.failed).toEqual([])
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const said = await reader.context({ format: 'openai' })
      expect(said.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).slice(1)).toEqual([
        'again',
        'and now?',
      ])
      expect(row).toMatchObject({ title: 'Tea clock', diverged: [] })
      const again = await importSources(store, sources.slice(1), { workspace: folder })
      expect(again.imported.every(({ new: added }) => added === 0)).toBe(true)
    } finally {
      await store.close()
    }
  })

  it('may be bare updates, with ids for their messages and times in seconds', async () => {
    const updates = await itemsOf(acp, bare)
    expect(problemsOf(updates)).toEqual([])
    expect(eventsOf(updates).map(({ key }) => key.split('#')[0])).toEqual([
      'user:m1',
      'agent:m2',
      'agent:m3',
      'update:from_the_future',
    ])
    expect(eventsOf(updates)[0]).toMatchObject({ at: '2026-12-01T09:00:00.000Z' })
  })

  it('names its damage by line, and what belongs to no session', async () => {
    const lines = readFileSync(live, 'utf8').split('\n')
    const broken = await read(['{"torn', '{"x":1}', ...lines.slice(0, 2)].join('\n'))
    expect(broken.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 1 }, { line: 2 }])
    expect(remarks(broken)).toEqual(['2 × frame of no session: left out'])
    expect(linesOf(broken)).toEqual(new Set([1, 2, 3, 4]))
  })

  it('stands in the folder that its path names, as Grok keeps it', async () => {
    const session = join(folder, 'sessions', encodeURIComponent('/home/u/tea'), 's-2')
    mkdirSync(session, { recursive: true })
    writeFileSync(join(session, 'updates.jsonl'), readFileSync(bare))
    const [source = ''] = await acp.find(join(folder, 'sessions'))
    expect((await itemsOf(acp, source))[0]).toMatchObject({ workspace: '/home/u/tea' })
    expect(acp.folders({ home: '/home/u', env: {} })).toEqual(['/home/u/.grok/sessions'])
  })
})
