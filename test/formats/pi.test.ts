import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { EventItem, Item } from '../../src/formats/format.js'
import { pi } from '../../src/formats/pi/format.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, idFor, itemsOf, payloadOf, problemsOf } from './check-items.js'

const sessions = fileURLToPath(new URL('../fixtures/pi/sessions', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coppice-pi-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [v3 = '', v1 = '', v2 = ''] = await pi.find(sessions)
const tree = await itemsOf(pi, v3)
const by = (items: readonly Item[], key: string): EventItem => {
  const found = eventsOf(items).find((item) => item.key === key)
  if (found === undefined) throw new Error(`no event ${key}`)
  return found
}
const payload = (key: string, items = tree): Record<string, unknown> => payloadOf(by(items, key))
const remarks = (items: readonly Item[]): string[] =>
  items.flatMap((item) => (item.kind === 'remark' ? [item.text] : []))

let made = 0
const read = async (...lines: readonly (object | string)[]): Promise<Item[]> => {
  const file = join(folder, `${made++}.jsonl`)
  writeFileSync(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return itemsOf(pi, file)
}
const header = { type: 'session', version: 3, id: 's', timestamp: '2026-12-01T09:00:00.000Z', cwd: '/w' }
const entry = (id: string, parentId: string | null, text: string): object => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-12-01T09:00:01.000Z',
  message: { role: 'user', content: text, timestamp: 1796115601000 },
})

describe('a Pi session of version 3', () => {
  it('is a session with its folder, and a tree by parentId', () => {
    expect(problemsOf(tree)).toEqual([])
    expect(tree[0]).toMatchObject({
      kind: 'session',
      workspace: '/home/u/tea',
      agent: { name: 'pi', format: 3 },
    })
    expect(by(tree, 'a000000b').parent).toBe('a0000007')
    expect(by(tree, 'a0000009').parent).toBe('a0000007')
  })

  it('gives replies with reasoning, signature, calls, usage with cost, and how long they took', () => {
    expect(payload('a0000004')).toEqual({
      role: 'assistant',
      content: 'Looking.',
      reasoning: [{ text: 'Look first.', signature: 'sig-1' }],
      toolCalls: [
        { id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' },
        { id: 'call_2', name: 'bash', arguments: '{"command":"cat none"}' },
      ],
      model: 'some-model',
      provider: 'anthropic',
      usage: { input: 102, output: 5, cacheRead: 90, cacheWrite: 2, costUsd: 0.02 },
      timing: {
        startedAt: '2026-12-01T09:00:02.000Z',
        completedAt: '2026-12-01T09:00:03.000Z',
        durationMs: 1000,
      },
      stop: 'toolUse',
    })
    expect(payload('a0000006')).toMatchObject({ role: 'tool', toolCallId: 'call_2', ok: false })
    expect(payload('a0000009').content).toContainEqual({
      type: 'image',
      media: 'image/png',
      data: 'iVBORw0KGgo=',
    })
  })

  it('leaves a reply that broke off out of the context, and says that the session failed', () => {
    expect(payload('a000000d')).toMatchObject({ stop: 'error', context: false })
    expect(payload('a000000d#status')).toEqual({ status: 'failed', reason: '529 overloaded' })
  })

  it('cuts at the event before the first that is kept', () => {
    expect(payload('a0000010')).toEqual({
      summary: 'A timer was written.',
      tokensBefore: 120000,
      through: idFor('a000000d'),
    })
  })

  it('makes edits of context edits, notes of labels, names and costs', () => {
    expect(payload('a0000011')).toEqual({
      target: idFor('a000000f'),
      replacement: [{ type: 'text', text: 'Written, in short.' }],
    })
    expect(payload('a0000012')).toEqual({ target: idFor('a000000e'), replacement: null })
    expect(payload('a0000008')).toEqual({ target: idFor('a0000003'), label: 'the beginning' })
    expect(payload('a0000017')).toEqual({ title: 'tea timer', by: 'import' })
    expect(payload('a0000016')).toMatchObject({
      for: 'title',
      model: 'small-model',
      usage: { costUsd: 0.001 },
    })
    expect(by(tree, 'a0000018').parent).toBe('a0000015')
  })

  it('tells the model what a summary of a branch, a command and an extension say', () => {
    expect(payload('a000000b')).toMatchObject({
      name: 'pi:branch_summary',
      content: 'Looked at a picture of a kettle.',
    })
    expect(payload('a0000013').content).toContain('npm test')
    expect(payload('a0000015')).toMatchObject({ name: 'pi:custom_message', content: 'mind the gap' })
    expect(payload('a0000014')).toEqual({
      name: 'pi:custom',
      data: { customType: 'todo', data: { open: 1 } },
    })
  })

  it('moves the head to where a last label hangs, as Pi does', () => {
    const moves = tree.filter(({ kind }) => kind === 'move')
    expect(moves).toMatchObject([{ to: 'a000000a', reason: 'checkout', line: 26 }])
  })

  it('shows the context that Pi shows at its leaf', async () => {
    const store = await openStore(join(folder, 'store'))
    try {
      await importSources(store, [{ format: pi, path: v3 }], { workspace: folder })
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const said = await reader.context({ format: 'openai' })
      expect(said.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
        'assistant',
        'user',
        'assistant',
      ])
      expect(row).toMatchObject({ title: 'tea timer', diverged: [] })
    } finally {
      await store.close()
    }
  })
})

describe('older Pi sessions', () => {
  it('of version 1 are a chain; the first kept entry is named by its place in the file', async () => {
    const items = await itemsOf(pi, v1)
    const events = eventsOf(items).filter(({ type }) => type !== 'status')
    expect(problemsOf(items)).toEqual([])
    expect(events.map(({ parent }) => parent)).toEqual([null, ...events.slice(0, -1).map(({ key }) => key)])
    const cut = events.find(({ type }) => type === 'compaction')
    expect(cut === undefined ? null : payloadOf(cut)).toMatchObject({ through: idFor(events[1]?.key ?? '') })
    expect(items[0]).toMatchObject({ forkedFrom: { session: '019d0000-0000-7000-8000-0000000000a1' } })
  })

  it('of version 2 have hook messages, which the model reads', async () => {
    const items = await itemsOf(pi, v2)
    expect(payload('b0000002', items)).toMatchObject({
      name: 'pi:message:hookMessage',
      content: [{ type: 'text', text: 'from a hook' }],
    })
    expect(items[0]).toMatchObject({
      workspace: 'C:\\tea',
      forkedFrom: { session: '019d0000-0000-7000-8000-0000000000a1' },
    })
  })
})

describe('a Pi file that is not as it should be', () => {
  it('bridges parents that are missing, come later, or are the entry itself, and says so', async () => {
    const items = await read(header, entry('a', 'b', '1'), entry('b', 'b', '2'), entry('c', 'zz', '3'))
    expect(problemsOf(items)).toEqual([])
    expect(eventsOf(items).map(({ parent }) => parent)).toEqual([null, 'a', 'b'])
    expect(remarks(items)).toEqual([
      'entry names a parent that does not stand before it: hung on the one before',
      'entry stands after one that names it as its parent',
      'entry names itself as its parent: hung on the one before',
    ])
  })

  it('hangs a second root on the session itself', async () => {
    const items = await read(header, entry('a', null, '1'), entry('b', 'a', '2'), entry('c', null, '3'))
    expect(by(items, 'c').parent).toBeNull()
  })

  it('takes the last of two entries with one id as an edit of the first', async () => {
    const items = await read(header, entry('a', null, '1'), entry('a', null, '2'), entry('a', null, '2'))
    expect(problemsOf(items)).toEqual([])
    expect(eventsOf(items).map(({ type }) => type)).toEqual(['message', 'edit'])
    expect(remarks(items)).toContain('entry stands in the file again, unchanged: left out')
  })

  it('reads on without its header, and keeps a second one that says something else', async () => {
    const items = await read(entry('a', null, '1'), header, header, { ...header, cwd: '/other' })
    expect(items[0]).toMatchObject({ kind: 'session', session: `${made - 1}`, workspace: null })
    expect(eventsOf(items).map((item) => payloadOf(item).name)).toEqual([
      undefined,
      'pi:session',
      'pi:repeated:session',
    ])
  })

  it('names what it cannot read by its line, and takes the entries around it', async () => {
    const whole = JSON.stringify(entry('b', 'a', '2'))
    const items = await read(
      header,
      `{"type":"mess${JSON.stringify(entry('a', null, '1'))}${whole}`,
      '[1]',
      '{"type":"me',
    )
    expect(eventsOf(items).map(({ key }) => key)).toEqual(['a', 'b'])
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([
      { line: 2 },
      { line: 3 },
      { line: 4 },
    ])
  })

  it('keeps a compaction that covers nothing as words that the model reads', async () => {
    const cut = {
      type: 'compaction',
      id: 'c',
      parentId: 'a',
      timestamp: '2026-12-01T09:00:02.000Z',
      summary: 'short',
      firstKeptEntryId: 'a',
    }
    const items = await read(header, entry('a', null, '1'), cut)
    expect(payload('c', items)).toMatchObject({ name: 'pi:compaction', content: 'short' })
  })

  it('covers everything where the first kept entry is on another branch', async () => {
    const cut = {
      type: 'compaction',
      id: 'c',
      parentId: 'b',
      timestamp: 'x',
      summary: 's',
      firstKeptEntryId: 'z',
    }
    const items = await read(header, entry('a', null, '1'), entry('b', 'a', '2'), cut)
    expect(payload('c', items)).toEqual({ summary: 's', through: idFor('b') })
    expect(remarks(items)).toContain(
      'compaction whose first kept entry is not on its branch: nothing before it is kept',
    )
  })
})

it('looks where Pi keeps its sessions', () => {
  const at = (env: Record<string, string>): readonly string[] => pi.folders({ home: '/home/u', env })
  expect(at({})).toEqual(['/home/u/.pi/agent/sessions'])
  expect(at({ PI_CODING_AGENT_SESSION_DIR: '~/s' })).toEqual(['/home/u/s'])
  expect(at({ PI_CODING_AGENT_DIR: '/a' })).toEqual(['/a/sessions'])
})
