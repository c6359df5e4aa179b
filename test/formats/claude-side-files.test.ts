import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { claude } from '../../src/formats/claude/format.js'
import type { Item } from '../../src/formats/format.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, itemsOf, payloadOf, problemsOf } from './check-items.js'
import { put, sessionsIn } from './round-trip.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-claude-side-'))
afterAll(() => rmSync(root, { recursive: true }))

const session = '99999999-9999-4999-8999-999999999999'
const project = join(root, 'projects', '-home-u-proj')
const outputs = join(project, session, 'tool-results')
const history = join(root, 'file-history', session)
mkdirSync(outputs, { recursive: true })
mkdirSync(history, { recursive: true })

const binary = Buffer.from([0xff, 0xfe, 0x00, 0x41])
writeFileSync(join(outputs, 'call_1.txt'), 'the whole output, é\n')
writeFileSync(join(outputs, 'call_2.bin'), binary)
writeFileSync(join(outputs, 'unnamed.txt'), 'nobody says so')
writeFileSync(join(root, 'secret'), 'elsewhere')
symlinkSync(join(root, 'secret'), join(outputs, 'link.txt'))
writeFileSync(join(history, 'abc@v1'), 'before the edit')

let clock = 0
const line = (uuid: string, parentUuid: string | null, members: object): object => ({
  parentUuid,
  isSidechain: false,
  cwd: '/home/u/proj',
  sessionId: session,
  version: '2.1.197',
  timestamp: new Date(Date.UTC(2026, 11, 1, 9) + clock++ * 1000).toISOString(),
  uuid,
  ...members,
})
const persisted = (name: string): string =>
  `<persisted-output>\nOutput too large. Full output saved to: ${outputs}/${name}\n\nPreview:\nthe whole\n</persisted-output>`
const result = (uuid: string, parent: string, id: string, name: string): object =>
  line(uuid, parent, {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: persisted(name) }] },
  })
const call = (uuid: string, parent: string, id: string): object =>
  line(uuid, parent, {
    type: 'assistant',
    message: {
      id: `m-${uuid}`,
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [{ type: 'tool_use', id, name: 'Bash', input: {} }],
    },
  })
const lines = [
  line('u1', null, { type: 'user', message: { role: 'user', content: 'list it' } }),
  {
    type: 'file-history-snapshot',
    messageId: 'u1',
    snapshot: {
      messageId: 'u1',
      trackedFileBackups: {
        'a.ts': { backupFileName: 'abc@v1', version: 1, backupTime: '2026-12-01T09:00:00.000Z' },
        'b.ts': { backupFileName: '../../secret', version: 1 },
        'c.ts': { backupFileName: null, version: 1 },
      },
      timestamp: '2026-12-01T09:00:00.500Z',
    },
    isSnapshotUpdate: false,
  },
  call('a1', 'u1', 'call_1'),
  result('r1', 'a1', 'call_1', 'call_1.txt'),
  call('a2', 'r1', 'call_2'),
  result('r2', 'a2', 'call_2', 'call_2.bin'),
  call('a3', 'r2', 'call_3'),
  result('r3', 'a3', 'call_3', 'link.txt'),
  call('a4', 'r3', 'call_4'),
  result('r4', 'a4', 'call_4', 'gone.txt'),
]
const source = join(project, `${session}.jsonl`)
writeFileSync(source, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))

const items = await itemsOf(claude, source)
const told = (key: string): Record<string, unknown> => {
  const found = eventsOf(items).find((item) => item.key === key)
  if (found === undefined) throw new Error(`no event ${key}`)
  return payloadOf(found)
}
const remarks = (among: readonly Item[]): string[] =>
  among.flatMap((item) => (item.kind === 'remark' ? [`${item.count} ${item.text}`] : []))

describe('files that Claude Code keeps beside a transcript', () => {
  it('give a result its whole output, beside what the model saw of it', () => {
    expect(problemsOf(items)).toEqual([])
    expect(told('r1')).toMatchObject({
      role: 'tool',
      content: persisted('call_1.txt'),
      meta: { fullOutput: { file: 'call_1.txt', text: 'the whole output, é\n' } },
    })
    expect(told('r2').meta).toEqual({
      fullOutput: { file: 'call_2.bin', base64: binary.toString('base64') },
    })
  })

  it('are neither followed out of their folder nor made up', () => {
    expect(told('r3')).not.toHaveProperty('meta')
    expect(told('r4')).not.toHaveProperty('meta')
    expect(JSON.stringify(eventsOf(items).map(payloadOf))).not.toContain('elsewhere')
  })

  it('hold what files were before an edit', () => {
    const copies = eventsOf(items).filter(({ key }) => key.includes('#backup:'))
    expect(copies.map(payloadOf)).toEqual([
      { name: 'claude:file-history', data: { path: 'a.ts', file: 'abc@v1', text: 'before the edit' } },
    ])
  })

  it('are told where no line names them', () => {
    expect(remarks(items)).toContain(
      '2 file in tool-results that no line of the transcript names is not carried',
    )
  })

  it('are found by a search', async () => {
    const store = await openStore(join(root, 'store'))
    await importSources(store, [{ format: claude, path: source }], { workspace: root })
    const hits = []
    for await (const hit of store.search({ text: 'the whole output, É' })) hits.push(hit.role)
    expect(hits).toEqual(['tool'])
  })

  it('are written beside the transcript again', async () => {
    const [outgoing] = sessionsIn(claude, items)
    if (outgoing === undefined || claude.writer === undefined) throw new Error('nothing to write')
    const files = await put(await claude.writer.write(outgoing), join(root, 'written'))
    expect([...files.keys()]).toEqual([
      `${session}.jsonl`,
      `${session}/tool-results/call_1.txt`,
      `${session}/tool-results/call_2.bin`,
    ])
    const again = files.get(`${session}.jsonl`)?.toString().trimEnd().split('\n') ?? []
    expect(again.map((one) => JSON.parse(one) as unknown)).toEqual(lines)
    for (const name of ['call_1.txt', 'call_2.bin'])
      expect(files.get(`${session}/tool-results/${name}`)).toEqual(readFileSync(join(outputs, name)))
  })
})
