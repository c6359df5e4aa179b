import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sqlite from 'node-sqlite3-wasm'
import { afterAll, describe, expect, it } from 'vitest'
import type { EventItem, Item } from '../../src/formats/format.js'
import { opencode } from '../../src/formats/opencode/format.js'
import { detectFormat } from '../../src/formats/registry.js'
import type { Json } from '../../src/formats/remainder.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, idFor, itemsOf, payloadOf, plain, problemsOf } from './check-items.js'
import { corpusFolder } from './corpus.js'
import { opencodeRecords } from './opencode-records.js'

const fixtures = fileURLToPath(new URL('../fixtures/opencode', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coppice-opencode-test-'))
afterAll(() => rmSync(root, { recursive: true }))

const [child = '', main = ''] = await opencode.find(join(fixtures, 'storage'))
const items = await itemsOf(opencode, main)
const by = (key: string, among: readonly Item[] = items): EventItem => {
  const found = eventsOf(among).find((item) => item.key === key)
  if (found === undefined) throw new Error(`no event ${key}`)
  return found
}
const payload = (key: string): Record<string, unknown> => payloadOf(by(key))
const remarks = (among: readonly Item[]): string[] =>
  among.flatMap((item) => (item.kind === 'remark' ? [item.text] : []))
const json = (path: string): Json => JSON.parse(readFileSync(path, 'utf8')) as Json

/** Every message and part below a session file's storage, as its own file has it. */
const storedOf = (source: string): Map<string, Json> => {
  const session = String(json(source).id)
  const storage = dirname(dirname(dirname(source)))
  const records = new Map<string, Json>()
  for (const name of readdirSync(join(storage, 'message', session))) {
    const message = json(join(storage, 'message', session, name))
    records.set(String(message.id), message)
    for (const part of readdirSync(join(storage, 'part', String(message.id)))) {
      const value = json(join(storage, 'part', String(message.id), part))
      records.set(`${String(message.id)}/${String(value.id)}`, value)
    }
  }
  return records
}

const corpus = await opencode.find(corpusFolder('opencode'))

describe('OpenCode sessions in files', () => {
  it.each([main, child, ...corpus])(
    '%s: payload and extra give each message and part back',
    async (source) => {
      const read = await itemsOf(opencode, source)
      expect(problemsOf(read)).toEqual([])
      const records = opencodeRecords(read)
      for (const [key, record] of storedOf(source)) expect(records.get(key), key).toEqual(record)
    },
  )

  it.skipIf(corpus.length === 0)(
    'of the corpus are told as such, and a second import adds nothing',
    async () => {
      for (const path of corpus) expect((await detectFormat(path))?.name, path).toBe('opencode')
      const store = await openStore(join(root, 'corpus'))
      try {
        const sources = corpus.map((path) => ({ format: opencode, path }))
        const first = await importSources(store, sources, { workspace: root })
        expect(first).toMatchObject({ failed: [] })
        expect(first.imported).toHaveLength(3)
        const again = await importSources(store, sources, { workspace: root })
        expect(again.imported.filter(({ new: added }) => added > 0)).toEqual([])
      } finally {
        await store.close()
      }
    },
  )

  it('show each step of a reply as a message of its own, with what it cost', () => {
    expect(payload('msg_2/prt_msg_2_1')).toMatchObject({
      reasoning: [{ text: 'Look first.', signature: 'sig-1' }],
      group: 'msg_2',
    })
    expect(payload('msg_2/prt_msg_2_3#result')).toMatchObject({
      toolCallId: 'c1',
      ok: true,
      content: [{ type: 'text', text: 'kettle.ts' }, { type: 'image' }],
      timing: { durationMs: 1000 },
    })
    expect(payload('msg_2/prt_msg_2_4#result')).toMatchObject({
      toolCallId: 'c2',
      ok: false,
      content: 'no such file',
    })
    expect(payload('msg_2/prt_msg_2_5')).toMatchObject({
      usage: { input: 102, output: 6, cacheRead: 90, cacheWrite: 2, reasoning: 1, costUsd: 0.01 },
      group: 'msg_2',
    })
    expect(payload('msg_2/prt_msg_2_7').group).toBe('msg_2#2')
    expect(payload('msg_2').usage).toBeUndefined()
    expect(payload('msg_4').usage).toMatchObject({ costUsd: 0.03 })
  })

  it('show what is cleared, hidden, still written, or a file', () => {
    expect(payload('msg_2/prt_msg_2_3#cleared')).toMatchObject({ target: idFor('msg_2/prt_msg_2_3#result') })
    expect(payload('msg_7')).toMatchObject({ visible: false })
    expect(payload('msg_a#unfinished').name).toBe('opencode:unfinished')
    expect(payload('msg_a/prt_a_0#pending').name).toBe('opencode:part:tool')
    expect(payload('msg_1').content).toContainEqual({
      type: 'image',
      media: 'image/png',
      data: 'iVBORw0KGgo=',
      alt: 'k.png',
    })
  })

  it('are cut before the tail that a compaction keeps', () => {
    expect(payload('msg_6')).toMatchObject({
      summary: 'A file was found.',
      trigger: 'auto',
      through: idFor('msg_2'),
    })
  })

  it('stand before what was undone, while the undo is not final', async () => {
    const store = await openStore(join(root, 'store'))
    try {
      await importSources(store, [{ format: opencode, path: main }], { workspace: root })
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const said = await reader.context({ format: 'openai' })
      expect(said.map(({ content }) => content)).toEqual([
        expect.stringContaining('A file was found.'),
        'write a timer',
        'Written.',
        'Continue',
        'partly',
      ])
      expect(row).toMatchObject({ title: 'Tea timer', diverged: [] })
    } finally {
      await store.close()
    }
  })

  it('that were being written when they were imported gain what came since, and no edits', async () => {
    const storage = join(root, 'growing')
    cpSync(join(fixtures, 'storage'), storage, { recursive: true })
    const [, source = ''] = await opencode.find(storage)
    const store = await openStore(join(root, 'growing-store'))
    try {
      const sources = [{ format: opencode, path: source }]
      await importSources(store, sources, { workspace: root })
      const message = join(storage, 'message/ses_tea1/msg_a.json')
      writeFileSync(message, JSON.stringify({ ...json(message), finish: 'stop' }))
      const part = join(storage, 'part/msg_a/prt_a_1.json')
      const state = {
        status: 'completed',
        input: { command: 'sleep 1' },
        output: 'slept',
        time: { start: 1, end: 2 },
      }
      writeFileSync(part, JSON.stringify({ ...json(part), state }))
      const session = json(source)
      writeFileSync(source, JSON.stringify({ ...session, revert: undefined }))
      const again = await importSources(store, sources, { workspace: root })
      expect(again.imported[0]?.notes.filter((note) => note.includes('changed'))).toEqual([])
      const [row] = await store.list({})
      const reader = await store.reader(row?.session ?? '')
      const said = await reader.context({ format: 'openai' })
      expect(said.at(-1)?.content).toBe('slept')
      expect(row?.diverged).toEqual([])
    } finally {
      await store.close()
    }
  })

  it('of a sub-agent name the session that started them, and have no title yet', async () => {
    const spawned = await itemsOf(opencode, child)
    expect(spawned[0]).toMatchObject({ startedBy: { session: 'ses_tea1', event: null } })
    expect(eventsOf(spawned).some(({ type }) => type === 'title')).toBe(false)
  })

  it('give what can be read where files are broken or missing, and name each', async () => {
    const storage = join(root, 'broken')
    cpSync(join(fixtures, 'storage'), storage, { recursive: true })
    writeFileSync(join(storage, 'message/ses_tea1/msg_3.json'), '{"id":')
    writeFileSync(join(storage, 'part/msg_4/prt_msg_4_0.json'), '')
    rmSync(join(storage, 'part/msg_8'), { recursive: true })
    const [, broken = ''] = await opencode.find(storage)
    const read = await itemsOf(opencode, broken)
    expect(problemsOf(read)).toEqual([])
    expect(read.filter(({ kind }) => kind === 'failed')).toMatchObject([
      { reason: expect.stringContaining('message/ses_tea1/msg_3.json') },
      { reason: expect.stringContaining('part/msg_4/prt_msg_4_0.json') },
    ])
    expect(remarks(read)).toContain('compaction whose tail is not in the session: nothing before it is kept')
  })

  it('of the oldest layout are read too', async () => {
    const old = join(root, 'old/session')
    for (const kind of ['info', 'message/ses_x', 'part/ses_x/msg_x'])
      mkdirSync(join(old, kind), { recursive: true })
    writeFileSync(
      join(old, 'info/ses_x.json'),
      JSON.stringify({ id: 'ses_x', title: 'x', time: { created: 1 } }),
    )
    writeFileSync(
      join(old, 'message/ses_x/msg_x.json'),
      JSON.stringify({ id: 'msg_x', role: 'user', sessionID: 'ses_x', time: { created: 2 } }),
    )
    const part = { id: 'p', sessionID: 'ses_x', messageID: 'msg_x', type: 'text', text: 'hi' }
    writeFileSync(join(old, 'part/ses_x/msg_x/p.json'), JSON.stringify(part))
    const [source = ''] = await opencode.find(join(root, 'old'))
    expect(payloadOf(by('msg_x', await itemsOf(opencode, source)))).toEqual({ role: 'user', content: 'hi' })
  })
})

describe('an OpenCode export', () => {
  it('gives the same events as the files', async () => {
    const exported = await itemsOf(opencode, join(fixtures, 'export.json'))
    const told = (read: readonly Item[]): unknown[] =>
      eventsOf(read).map((item) => ({ ...(plain(item) as object), line: undefined }))
    expect(told(exported)).toEqual(told(items))
    expect((await detectFormat(join(fixtures, 'export.json')))?.name).toBe('opencode')
  })

  it('that is cut short gives the messages before the cut', async () => {
    const text = readFileSync(join(fixtures, 'export.json'), 'utf8')
    const path = join(root, 'cut.json')
    writeFileSync(path, text.slice(0, text.indexOf('"write a timer"')))
    const cut = await itemsOf(opencode, path)
    expect(by('msg_2', cut)).toBeDefined()
    expect(cut.filter(({ kind }) => kind === 'failed')).toHaveLength(1)
  })
})

describe("OpenCode's database", () => {
  const path = join(root, 'opencode.db')
  const database = new sqlite.Database(path)
  database.exec(`create table session(id text primary key, project_id text, parent_id text, slug text, directory text,
    title text, version text, share_url text, summary_additions integer, summary_deletions integer,
    summary_files integer, cost real, revert text, permission text, time_created integer, time_updated integer);
    create table message(id text primary key, session_id text, time_created integer, time_updated integer, data text);
    create table part(id text primary key, message_id text, session_id text, time_created integer, data text);
    create table session_message(id text primary key, session_id text, type text, data text)`)
  const { info, messages } = json(join(fixtures, 'export.json')) as {
    info: Json
    messages: { info: Json; parts: Json[] }[]
  }
  const time = (value: Json): number => (value.time as { created: number }).created
  database.run(
    `insert into session(id, project_id, slug, directory, title, version, revert, time_created) values (?,?,?,?,?,?,?,?)`,
    [
      ...['id', 'projectID', 'slug', 'directory', 'title', 'version'].map((name) => String(info[name])),
      JSON.stringify(info.revert),
      time(info),
    ],
  )
  database.run(
    `insert into session(id, directory, title, version, time_created) values ('ses_new', '/w', 'n', '2', 1)`,
  )
  database.run(`insert into session_message values ('e', 'ses_new', 'user', '{}')`)
  for (const { info: message, parts } of messages) {
    const { id, sessionID: _, ...data } = message
    database.run('insert into message values (?,?,?,?,?)', [
      String(id),
      'ses_tea1',
      time(message),
      0,
      JSON.stringify(data),
    ])
    for (const { id: part, sessionID: __, messageID, ...rest } of parts)
      database.run('insert into part values (?,?,?,?,?)', [
        String(part),
        String(messageID),
        'ses_tea1',
        0,
        JSON.stringify(rest),
      ])
  }
  database.run(`insert into message values ('msg_z', 'ses_tea1', 9e15, 0, 'torn')`)
  database.close()

  it('gives the same events as the files, and says what it cannot read', async () => {
    const read = await itemsOf(opencode, path)
    expect(problemsOf(read)).toEqual([])
    const keys = (among: readonly Item[]): unknown[] =>
      eventsOf(among).flatMap((item) => (item.session === 'ses_tea1' ? [[item.key, payloadOf(item)]] : []))
    expect(keys(read)).toEqual(keys(items))
    expect(remarks(read)).toContain('row msg_z holds no JSON object: left out')
    expect(remarks(read).join()).toContain('tables of a newer version')
    expect(readdirSync(root).filter((name) => name.startsWith('opencode.db'))).toEqual(['opencode.db'])
  })

  it('is found beside the files, and a file that only looks like it is named', async () => {
    const folder = join(root, 'share')
    mkdirSync(folder)
    cpSync(path, join(folder, 'opencode.db'))
    expect(await opencode.find(folder)).toEqual([join(folder, 'opencode.db')])
    const broken = join(folder, 'opencode-broken.db')
    writeFileSync(broken, `SQLite format 3\0${'x'.repeat(5000)}`)
    expect(await itemsOf(opencode, broken)).toMatchObject([{ kind: 'failed', line: null }])
  })
})

it('looks where OpenCode keeps its data, and takes only sessions there', async () => {
  expect(opencode.folders({ home: '/home/u', env: {} })).toEqual(['/home/u/.local/share/opencode'])
  expect(opencode.folders({ home: '/home/u', env: { XDG_DATA_HOME: '/d' } })).toEqual(['/d/opencode'])
  const found = await opencode.find(fixtures)
  expect(found.map((path) => basename(path))).toEqual(['export.json', 'ses_tea0.json', 'ses_tea1.json'])
})
