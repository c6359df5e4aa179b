import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { EventItem, Item } from '../../src/formats/format.js'
import { gemini } from '../../src/formats/gemini/format.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, idFor, itemsOf, payloadOf, problemsOf } from './check-items.js'

const tmp = fileURLToPath(new URL('../fixtures/gemini/tmp', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coppice-gemini-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [child = '', log = '', checkpoint = ''] = await gemini.find(tmp)
const items = await itemsOf(gemini, log)
const by = (key: string, among: readonly Item[] = items): EventItem => {
  const found = eventsOf(among).find((item) => item.key === key)
  if (found === undefined) throw new Error(`no event ${key}`)
  return found
}
const remarks = (among: readonly Item[]): string[] =>
  among.flatMap((item) => (item.kind === 'remark' ? [item.text] : []))

let made = 0
const read = async (text: string, ending = '.json'): Promise<Item[]> => {
  const file = join(folder, `session-${made++}${ending}`)
  writeFileSync(file, text)
  return itemsOf(gemini, file)
}
const failures = (among: readonly Item[]): unknown[] => among.filter(({ kind }) => kind === 'failed')

describe('a Gemini log', () => {
  it('is a session of the folder that its project names', () => {
    expect(problemsOf(items)).toEqual([])
    expect(items[0]).toMatchObject({
      kind: 'session',
      session: 'aaaa0000-0000-4000-8000-00000000e001',
      workspace: '/home/u/tea',
    })
  })

  it('gives thoughts, tokens, and each call and result as an event of the reply', () => {
    expect(payloadOf(by('m2'))).toEqual({
      role: 'assistant',
      content: null,
      reasoning: [
        { text: 'Looking: First the files.', subject: 'Looking', timestamp: '2026-12-01T09:00:02.000Z' },
      ],
      model: 'some-model',
      usage: { input: 100, output: 25, cacheRead: 80, reasoning: 5 },
      group: 'm2',
    })
    expect(payloadOf(by('m2#c1'))).toMatchObject({
      group: 'm2',
      toolCalls: [{ id: 'c1', name: 'run_shell_command', arguments: '{"command":"ls"}' }],
    })
    expect(payloadOf(by('m2#c2#result'))).toEqual({
      role: 'tool',
      content: 'no such file',
      toolCallId: 'c2',
      ok: false,
    })
    expect(payloadOf(by('m1')).content).toContainEqual({
      type: 'image',
      media: 'image/png',
      data: 'iVBORw0KGgo=',
    })
  })

  it('adds to a message that is written again what it says more', () => {
    const calls = eventsOf(items).filter(({ key }) => /^m2#c\d$/.test(key))
    expect(calls.map(({ line }) => line)).toEqual([5, 5])
    expect(by('m2#c1#result').line).toBe(6)
  })

  it('goes back before the message of a rewind, and stays told of the branch that it left', () => {
    const moves = items.filter(({ kind }) => kind === 'move')
    expect(moves[0]).toMatchObject({ reason: 'undo', to: by('m3').key, line: 11 })
    expect(by('m5').parent).toBe('m4')
  })

  it('takes a list with the same messages as edits of what it masks', () => {
    const edit = eventsOf(items).find(({ type }) => type === 'edit')
    expect(edit === undefined ? null : payloadOf(edit)).toEqual({
      target: idFor('m2#c1#result'),
      replacement: '[masked]',
    })
  })

  it('takes a list with other messages as a branch', async () => {
    expect(by('s1').parent).toBeNull()
    const store = await openStore(join(folder, 'store'))
    try {
      await importSources(store, [{ format: gemini, path: log }], { workspace: folder })
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const said = await reader.context({ format: 'openai' })
      expect(said.map(({ content }) => content)).toEqual(['So far: a clock was written.', 'A clock.'])
      expect(row).toMatchObject({ title: 'Tea clock', status: 'failed', diverged: [] })
    } finally {
      await store.close()
    }
  })

  it('keeps what it does not know', () => {
    const names = eventsOf(items).map((item) => payloadOf(item).name)
    expect(names).toEqual(expect.arrayContaining(['gemini:record', 'gemini:warning', 'gemini:$set']))
  })

  it('of a sub-agent names the session that started it; a rewind to nothing drops everything', async () => {
    const spawned = await itemsOf(gemini, child)
    expect(spawned[0]).toMatchObject({
      startedBy: { session: 'aaaa0000-0000-4000-8000-00000000e001', event: null },
    })
    expect(eventsOf(spawned).find((item) => payloadOf(item).name === 'gemini:$rewindTo')?.parent).toBeNull()
    expect(remarks(spawned)).toContain(
      'rewind to a message that does not stand in the chat: all were dropped',
    )
  })
})

describe('a Gemini checkpoint', () => {
  it('reads as one object, its records with their lines', async () => {
    const whole = await itemsOf(gemini, checkpoint)
    expect(problemsOf(whole)).toEqual([])
    expect(by('m1', whole).line).toBe(8)
    expect(payloadOf(eventsOf(whole).at(-1) as EventItem)).toEqual({ title: 'Old tea timer', by: 'auto' })
  })

  it('that is cut short, or broken in a record, gives all the others', async () => {
    const text = readFileSync(checkpoint, 'utf8')
    const cut = await read(text.slice(0, text.indexOf('"One file.') + 4))
    expect(by('m2#c2#result', cut)).toBeDefined()
    expect(failures(cut)).toHaveLength(1)
    const broken = await read(text.replace('"id": "m2"', '"id": m2'))
    expect(eventsOf(broken).flatMap(({ key, type }) => (type === 'title' ? [] : [key]))).toEqual([
      'm1',
      'm3',
      'm3#status',
      'w',
    ])
    expect(failures(broken)).toMatchObject([{ line: expect.any(Number) }])
    const torn = await read(text.replace('{\n      "id": "m3"', '\n      "id": "m3"'))
    expect(eventsOf(torn).map(({ key }) => key)).toContain('w')
    const late = JSON.parse(text) as Record<string, unknown>
    const { sessionId, ...rest } = late
    const ending = JSON.stringify({ ...rest, sessionId }).replace('"id":"m2"', '"id":m2')
    expect((await read(ending))[1]).toMatchObject({ kind: 'session', session: sessionId })
  })

  it('that holds nothing, no object, or one that ends and goes on, says so', async () => {
    expect(await read('')).toEqual([])
    expect(failures(await read('[1]'))).toHaveLength(1)
    const text = readFileSync(checkpoint, 'utf8')
    expect(failures(await read(`\uFEFF${text}{"a":1}`))).toMatchObject([
      { reason: expect.stringContaining('after the end of the object') },
    ])
  })

  it('may be what the CLI exported: a history of parts, times in seconds', async () => {
    const exported = await read(
      JSON.stringify({
        history: [{ role: 'user', parts: [{ text: 'hi' }], ts: 1695000000 }],
        start_time: 'x',
      }),
    )
    expect(eventsOf(exported)).toMatchObject([{ at: '2023-09-18T01:20:00.000Z', type: 'message' }])
  })
})

it('looks where Gemini keeps its chats', () => {
  expect(gemini.folders({ home: '/home/u', env: {} })).toEqual(['/home/u/.gemini/tmp'])
  expect(gemini.folders({ home: '/home/u', env: { GEMINI_CLI_HOME: '/g' } })).toEqual(['/g/.gemini/tmp'])
})
