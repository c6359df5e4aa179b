import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { EventItem, Item } from '../../src/formats/format.js'
import { zettcode } from '../../src/formats/zettcode/format.js'
import { workspaceOf } from '../../src/formats/zettcode/workspace-key.js'
import { eventsOf, idFor, itemsOf, linesOf, payloadOf, plain, problemsOf } from './check-items.js'

const root = fileURLToPath(new URL('../fixtures/zettcode/sessions', import.meta.url))
const api = join(root, 'L2hvbWUvdS9wcm9qZWN0cy9hcGk')
const base = '0199b3c2-7a10-7c3e-8b1d-2f6a90c4e511'
const copies = mkdtempSync(join(tmpdir(), 'coppice-zettcode-'))
afterAll(() => rmSync(copies, { recursive: true }))

const read = async (name: string): Promise<Item[]> => {
  const items = await itemsOf(zettcode, join(api, name, 'data.jsonl'))
  expect(problemsOf(items)).toEqual([])
  return items
}
const links = (items: readonly Item[]): string[] =>
  eventsOf(items)
    .filter(({ type }) => type !== 'title')
    .map(({ key, parent, type }) => `${parent ?? '·'} ${key}${type === 'message' ? '' : ` ${type}`}`)
const event = (items: readonly Item[], key: string): EventItem =>
  eventsOf(items).find((item) => item.key === key) as EventItem
const remarks = (items: readonly Item[]): string =>
  items.flatMap((item) => (item.kind === 'remark' ? [item.text] : [])).join('; ')

describe('a workspace’s key', () => {
  it.each([
    ['L2hvbWUvdS9wcm9qZWN0cy9hcGk', '/home/u/projects/api'],
    ['L3RtcC_pobnnm64', '/tmp/项目'],
    [`${'L'.repeat(107)}-f60727538c5c`, null],
    ['not a key', null],
    ['bm9wYXRo', null],
  ])('%s is %s', (key, path) => expect(workspaceOf(key)).toBe(path))
})

describe('messages', () => {
  it('carry calls, results, reasoning, opaque blocks, usage and milliseconds', async () => {
    const items = await read(base)
    expect(items[0]).toMatchObject({
      kind: 'session',
      session: base,
      at: '2026-10-05T10:00:00.123Z',
      workspace: '/home/u/projects/api',
    })
    expect(payloadOf(event(items, 'n2'))).toEqual({
      role: 'assistant',
      content: 'Reading.',
      reasoning: 'look first',
      toolCalls: [{ id: 'c1', name: 'read_file', arguments: '{"path":"app.py"}' }],
      provider: 'openai',
      model: 'm',
      replay: [{ type: 'reasoning', encrypted: 'x' }],
      usage: { input: 1000, output: 100, cacheRead: 800, cacheWrite: 0, reasoning: 0 },
      timing: {
        startedAt: '2026-10-05T10:00:02.200Z',
        completedAt: '2026-10-05T10:00:02.200Z',
        durationMs: 2000.000001,
      },
    })
    expect(payloadOf(event(items, 'n3'))).toMatchObject({ role: 'tool', toolCallId: 'c1', ok: false })
    expect(payloadOf(event(items, 'n1')).content).toEqual([
      { type: 'text', text: 'fix it' },
      { type: 'image', media: 'image/png', data: 'iVBORw0KGgo=', detail: 'auto', alt_text: null },
    ])
  })

  it('keep exact times and all that has no place in extra, and nothing twice', async () => {
    const extra = event(await read(base), 'n3').extra as Record<string, unknown>
    expect(extra).toMatchObject({
      created_at: '2026-10-05T10:00:03.200001Z',
      request_id: 'r1',
      message: { data: { name: 'read_file' } },
      timing: { duration_ns: 0 },
    })
    expect(JSON.stringify(extra)).not.toContain('import os')
  })

  it('of the side are asides, stored instructions stay out of the context', async () => {
    const items = await read(base)
    expect(payloadOf(event(items, 'b1'))).toMatchObject({ aside: true, context: false })
    expect(payloadOf(event(items, 'n0'))).toMatchObject({ role: 'system', visible: false, context: false })
    expect(payloadOf(event(items, 'n5'))).toMatchObject({ role: 'user', visible: false })
  })

  it('take the last title of a metadata file that a torn line runs through', async () => {
    const title = eventsOf(await read(base)).find(({ type }) => type === 'title') as EventItem
    expect(payloadOf(title)).toEqual({ title: '修复 users 分页', by: 'import' })
    expect(eventsOf(await read('cycle')).some(({ type }) => type === 'title')).toBe(false)
  })

  it('of a sub-agent belong to a session of its own', async () => {
    expect((await read('sub-agent'))[0]).toMatchObject({
      session: 'sub-agent',
      startedBy: { session: base, event: null },
    })
  })
})

describe('checkpoints', () => {
  it('cover up to their boundary, on every branch that holds it', async () => {
    const items = await read('forked-checkpoint')
    expect(links(items)).toEqual([
      '· n1',
      'n1 n2',
      'n2 n3',
      'n3 n4',
      'n4 k1 compaction',
      'k1 n5',
      'n5 n6',
      'n4 k1@n4 compaction',
      'k1@n4 x5',
      'x5 x6',
      'x6 k2 compaction',
      'k2 x7',
    ])
    expect(payloadOf(event(items, 'k1'))).toEqual({ summary: 'about one', through: idFor('n2') })
    expect(payloadOf(event(items, 'k1@n4'))).toEqual({ summary: 'about one', through: idFor('n2') })
    expect(payloadOf(event(items, 'k2'))).toEqual({ summary: 'about one and two', through: idFor('n4') })
  })

  it('that a message names as its parent cut nothing off', async () => {
    const items = await read('checkpoint-parent')
    expect(links(items)).toEqual(['· n1', 'n1 n2', 'n2 k1 compaction', 'k1 n3'])
    expect(remarks(items)).toContain('names a checkpoint as its parent')
  })

  it('do not cover a call without its result; what is unknown is kept', async () => {
    const items = await read('open-call')
    expect(payloadOf(event(items, 'k1')).through).toBe(idFor('n1'))
    expect(payloadOf(event(items, 'q'))).toMatchObject({ name: 'zettcode:novelty', data: { x: 1 } })
  })
})

describe('damage', () => {
  it('line separators inside a text split nothing', async () => {
    const items = await read('line-separators')
    expect(payloadOf(event(items, 'n1')).content).toBe('a\u2028b\u2029c\u0085d')
    expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
  })

  it('a record glued to a torn one is read, and the next', async () => {
    const items = await read('two-glued')
    expect(links(items)).toEqual(['· n1', 'n1 n3', 'n3 n4'])
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 3 }])
  })

  it('a tail torn inside a character is one failure', async () => {
    expect((await read('torn-multibyte')).filter(({ kind }) => kind === 'failed')).toMatchObject([
      { line: 3, reason: expect.stringContaining('cut short') },
    ])
  })

  it('cycles, self-parents and unknown parents are bridged to the record before', async () => {
    const items = await read('cycle')
    expect(links(items)).toEqual(['· n1', 'n1 n2', 'n2 n3', 'n3 n4'])
    expect(remarks(items)).toContain('names itself as its parent')
    expect(remarks(items)).toContain('stands after one that names it')
  })

  it('an id that stands twice is left out, or edits the first', async () => {
    const items = await read('duplicate-ids')
    expect(links(items).map((link) => link.replace(/#\w+/g, '#'))).toEqual(['· n1', 'n1 n1# edit', 'n1# n2'])
    expect([...linesOf(items)].sort()).toEqual([1, 2, 3, 4, 5])
  })

  it('a missing header is said', async () => {
    const items = await read('no-header')
    expect(items[0]).toMatchObject({ kind: 'session', session: 'no-header' })
    expect(remarks(items)).toContain('does not begin with its session record')
  })
})

describe('any session', () => {
  const names = readdirSync(api).filter((name) => !name.endsWith('.jsonl'))

  it.each(names)('%s: every line is in an item, a failure or a remark', async (name) => {
    const lines = readFileSync(join(api, name, 'data.jsonl'), 'utf8').split('\n')
    const accounted = linesOf(await read(name))
    expect(lines.flatMap((line, i) => (line === '' || accounted.has(i + 1) ? [] : [i + 1]))).toEqual([])
  })

  it.each(names)('%s: reading up to any record gives the first items of the whole', async (name) => {
    const lines = readFileSync(join(api, name, 'data.jsonl'), 'utf8').split('\n')
    const whole = await readCopy(name, lines.join('\n'))
    for (let cut = 1; cut < lines.length; cut++) {
      const part = await readCopy(name, `${lines.slice(0, cut).join('\n')}\n`)
      expect(part).toEqual(whole.slice(0, part.length))
    }
  })

  const readCopy = async (name: string, text: string): Promise<unknown[]> => {
    const file = join(copies, name, 'data.jsonl')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return (await itemsOf(zettcode, file)).filter(({ kind }) => kind !== 'remark').map(plain)
  }

  it('is found, the index is not taken for one', async () => {
    expect(await zettcode.find(dirname(root))).toHaveLength(names.length + 1)
    expect(zettcode.folders({ home: '/h', env: {} })).toEqual(['/h/.zettcode/sessions'])
  })
})
