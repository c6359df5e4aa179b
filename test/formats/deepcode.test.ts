import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { deepcode } from '../../src/formats/deepcode/format.js'
import { projectCode } from '../../src/formats/deepcode/project-code.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { eventsOf, idFor, itemsOf, linesOf, payloadOf, plain, problemsOf } from './check-items.js'

const projects = fileURLToPath(new URL('../fixtures/deepcode/projects', import.meta.url))
const api = join(projects, '-home-u-projects-api')
const base = '3f0b7a52-6c1e-4d0a-9a77-0f5d2f7c1b10'
const copies = mkdtempSync(join(tmpdir(), 'coppice-deepcode-'))
afterAll(() => rmSync(copies, { recursive: true }))

const read = async (name: string, folder = api): Promise<Item[]> => {
  const items = await itemsOf(deepcode, join(folder, `${name}.jsonl`))
  expect(problemsOf(items)).toEqual([])
  return items
}
const links = (items: readonly Item[]): string[] =>
  eventsOf(items)
    .filter(({ type }) => type !== 'status')
    .map(({ key, parent, type }) => `${parent ?? '·'} ${key}${type === 'message' ? '' : ` ${type}`}`)
const event = (items: readonly Item[], key: string): EventItem =>
  eventsOf(items).find((item) => item.key === key) as EventItem
const ofType = (items: readonly Item[], type: string): EventItem[] =>
  eventsOf(items).filter((item) => item.type === type)
const remarks = (items: readonly Item[]): string =>
  items.flatMap((item) => (item.kind === 'remark' ? [item.text] : [])).join('; ')

describe('a project’s code', () => {
  it.each([
    ['/home/u/projects/api', '-home-u-projects-api'],
    ['/tmp/项目', '-tmp-项目'],
    [`/home/u/${'a'.repeat(80)}/my proj (v2)`, 'my-proj-v2-8af4a515ad30c746'],
    [`/home/user/very/long/${'nested/'.repeat(12)}api`, 'api-38ed1f2c03a66199'],
    ['/a/b-c', '-a-b-c'],
    ['/a-b/c', '-a-b-c'],
    ['C:\\work\\api', 'C-work-api'],
  ])('%s is %s', (path, code) => expect(projectCode(path)).toBe(code))

  it('tells the workspace where the index names a path that fits, hashed or not', async () => {
    expect((await read(base))[0]).toMatchObject({
      kind: 'session',
      session: base,
      workspace: '/home/u/projects/api',
    })
    expect((await read('long', join(projects, 'my-proj-v2-8af4a515ad30c746')))[0]).toMatchObject({
      workspace: `/home/u/${'a'.repeat(80)}/my proj (v2)`,
    })
  })
})

describe('messages', () => {
  it('chain in file order, each checkpoint before its prompt', async () => {
    const checkpoint = 'a2#checkpoint:8235e054c01f2beed90d959c122a6a1f306ae17f'
    expect(links(await read(base)).slice(0, 8)).toEqual([
      '· a1',
      `a1 ${checkpoint} checkpoint`,
      `${checkpoint} a2`,
      'a2 a3',
      'a3 a4',
      'a4 a5',
      'a5 a6',
      'a6 a7',
    ])
  })

  it('keep calls word for word, reasoning, results and whether they went well', async () => {
    const items = await read(base)
    expect(payloadOf(event(items, 'a3'))).toMatchObject({
      toolCalls: [{ id: 'call_1', name: 'read', arguments: '{"file_path":"/home/u/projects/api/app.py"}' }],
      reasoning: 'look first',
    })
    expect(payloadOf(event(items, 'a5'))).toMatchObject({
      content: null,
      toolCalls: [{ arguments: '{"command": "pytest"' }],
    })
    expect(payloadOf(event(items, 'a4'))).toMatchObject({ role: 'tool', toolCallId: 'call_1', ok: true })
    expect(payloadOf(event(items, 'a6'))).toMatchObject({ toolCallId: 'call_2', ok: false, visible: false })
    expect(payloadOf(event(items, 'a1'))).toMatchObject({ role: 'system', visible: false })
    expect(payloadOf(event(items, 'a7')).content).toEqual([
      { type: 'text', text: '像这样' },
      { type: 'image', media: 'image/png', data: 'iVBORw0KGgo=' },
    ])
  })

  it('keep what every read computes anew in extra alone', async () => {
    const result = event(await read(base), 'a4')
    expect(payloadOf(result).meta).toBeUndefined()
    expect(result.extra).toEqual({
      meta: { function: expect.anything(), paramsMd: 'app.py', resultMd: '1\timport os' },
    })
  })

  it('take the index’s title, status, waits, processes and source', async () => {
    const items = await read(base)
    expect(ofType(items, 'title').map(payloadOf)).toEqual([
      { title: 'Fix the users pagination', by: 'import' },
    ])
    expect(ofType(items, 'status').map(payloadOf)).toMatchObject([
      { status: 'ask_permission', asks: [{ toolCallId: 'call_2' }] },
    ])
    expect(ofType(items, 'status')[0]?.extra).toMatchObject({
      usagePerModel: { 'deepseek-v4-flash': { total_reqs: 2 } },
      planMode: false,
      activeTokens: 1190,
    })
    expect(ofType(items, 'process').map(payloadOf)).toMatchObject([
      { pid: 77, command: 'Running process...' },
      { pid: 48213, command: 'npm run dev', deadline: '2026-10-05T10:11:00.000Z' },
    ])
    expect(items[0]).toMatchObject({ forkedFrom: { session: 'compacted', event: 'm1' } })
  })

  it('have no title where the index’s is the derived one', async () => {
    expect(ofType(await read('compacted'), 'title')).toEqual([])
  })

  it('that fail say why', async () => {
    expect(ofType(await read('two-summaries'), 'status').map(payloadOf)).toMatchObject([
      { status: 'failed', reason: 'API key not found' },
    ])
  })
})

describe('compaction', () => {
  it('stands after the messages that were there when it was made', async () => {
    const items = await read('compacted')
    expect(links(items)).toEqual([
      '· s',
      's m0',
      'm0 m1',
      'm1 m2',
      'm2 m3',
      'm3 m4',
      'm4 m5',
      'm5 S1 compaction',
      'S1 m6',
      'm6 m7',
    ])
    expect(payloadOf(event(items, 'S1'))).toEqual({ summary: 'first summary', through: idFor('m3') })
  })

  it('adds only itself, and what came after it, to a session that was read before', async () => {
    const before = join(copies, 'compacted.jsonl')
    writeFileSync(before, readFileSync(join(api, 'compacted.before.txt')))
    const first = eventsOf(await itemsOf(deepcode, before)).map(plain)
    const second = eventsOf(await read('compacted')).filter(({ type }) => type !== 'status')
    const known = new Map(first.map((item) => [(item as EventItem).key, item]))
    expect(second.filter(({ key }) => !known.has(key)).map(({ key }) => key)).toEqual(['S1', 'm6', 'm7'])
    for (const item of second)
      if (known.has(item.key))
        expect({ ...(plain(item) as object), line: 0 }).toEqual({
          ...(known.get(item.key) as object),
          line: 0,
        })
  })

  it('keeps earlier summaries in the context of a later one', async () => {
    const items = await read('two-summaries')
    expect(payloadOf(event(items, 'S2'))).toEqual({
      summary: 'second summary',
      through: idFor('m7'),
      keep: [
        { id: idFor('s'), message: { role: 'system', content: 'prompt' } },
        {
          id: idFor('S1'),
          message: {
            role: 'system',
            content: 'There are earlier parts of the conversation. Here is a summary: \n\nfirst summary',
          },
        },
      ],
    })
  })

  it('whose messages a second pass deleted still speaks to the model, after a later one too', async () => {
    const items = await read('second-compaction')
    expect(event(items, 'S1').type).toBe('custom')
    expect(payloadOf(event(items, 'S1')).content).toContain('first summary')
    expect(payloadOf(event(items, 'S2'))).toMatchObject({
      summary: 'second summary',
      through: idFor('m7'),
      keep: [{ id: idFor('s') }, { id: idFor('S1'), message: { role: 'system' } }],
    })
    expect(remarks(items)).toContain('no longer in the file')
  })

  it('without a summary hides its messages from the model', async () => {
    expect(ofType(await read('no-summary'), 'edit').map(payloadOf)).toEqual([
      { target: idFor('m0'), replacement: null },
      { target: idFor('m1'), replacement: null },
    ])
  })
})

describe('what changes in place', () => {
  it('a later checkpoint of a prompt is one more event, and changes no other', async () => {
    const folder = join(copies, '-home-u-projects-api')
    cpSync(api, folder, { recursive: true })
    const file = join(folder, `${base}.jsonl`)
    const before = eventsOf(await itemsOf(deepcode, file))
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace('8235e054', 'ffffffff')
        .replace('"updateTime":"2026-10-05T10:03', '"updateTime":"2026-10-05T10:09'),
    )
    const after = eventsOf(await itemsOf(deepcode, file))
    const keys = new Set(before.map(({ key }) => key))
    expect(after.filter(({ key }) => !keys.has(key)).map(({ type }) => type)).toEqual(['checkpoint'])
    for (const item of after.filter(({ key }) => keys.has(key))) {
      const old = event(before, item.key)
      expect([payloadOf(item), item.extra]).toEqual([payloadOf(old), old.extra])
    }
  })
})

describe('damage', () => {
  it('a lost or torn index takes no message with it', async () => {
    const items = await read('kept', join(projects, '-tmp-lost'))
    expect(links(items)).toEqual(['· m0', 'm0 m1'])
    expect(items[0]).toMatchObject({ workspace: null })
    expect(remarks(items)).toContain('cannot be read')
  })

  it('a message glued to a torn one is read', async () => {
    const items = await read('glued-tail')
    expect(links(items)).toEqual(['· m0', 'm0 m1', 'm1 m3'])
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 3 }])
  })

  it('a tail torn inside a character is one failure', async () => {
    const items = await read('torn-tail')
    expect(links(items)).toEqual(['· m0', 'm0 m1'])
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([
      { line: 3, reason: expect.stringContaining('cut short') },
    ])
  })

  it('bad lines are told, repeated ids kept', async () => {
    const items = await read('bad-middle')
    expect(links(items).map((link) => link.replace(/#\w+/g, '#'))).toEqual([
      '· m0',
      'm0 m1',
      'm1 m1#',
      'm1# m2',
    ])
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 2 }, { line: 3 }])
    expect([...linesOf(items)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('reading up to any message gives the first items of the whole', async () => {
    for (const name of [base, 'glued-tail', 'bad-middle']) {
      const lines = readFileSync(join(api, `${name}.jsonl`), 'utf8').split('\n')
      const whole = await readCopy(lines.join('\n'))
      for (let cut = 1; cut < lines.length; cut++) {
        const part = await readCopy(`${lines.slice(0, cut).join('\n')}\n`)
        expect(part).toEqual(whole.slice(0, part.length))
      }
    }
  })

  const readCopy = async (text: string): Promise<unknown[]> => {
    const file = join(copies, 'prefix', 'x.jsonl')
    cpSync(join(api, 'torn-tail.jsonl'), file, { recursive: true })
    writeFileSync(file, text)
    return (await itemsOf(deepcode, file)).filter(({ kind }) => kind !== 'remark').map(plain)
  }
})

describe('finding', () => {
  it('gives each session of each project', async () => {
    const found = await deepcode.find(dirname(projects))
    expect(found).toHaveLength(10)
    expect(deepcode.folders({ home: '/h', env: {} })).toEqual(['/h/.deepcode/projects'])
  })
})
