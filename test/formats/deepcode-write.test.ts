import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { deepcode } from '../../src/formats/deepcode/format.js'
import { deepcodeWriter } from '../../src/formats/deepcode/write.js'
import type { Json } from '../../src/formats/remainder.js'
import type { Outgoing, Written } from '../../src/formats/writer.js'
import { itemsOf } from './check-items.js'
import { goingOn, idAt, type Native, native, recordsOf } from './native.js'
import { contextOf, kindsOf, put, readAll, sessionsIn } from './round-trip.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-deepcode-write-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const api = fileURLToPath(new URL('../fixtures/deepcode/projects/-home-u-projects-api', import.meta.url))
const base = '3f0b7a52-6c1e-4d0a-9a77-0f5d2f7c1b10'
const fixture = async (name: string): Promise<Outgoing> => {
  const [session] = sessionsIn(deepcode, await itemsOf(deepcode, join(api, `${name}.jsonl`)))
  if (session === undefined) throw new Error('no fixture')
  return session
}
const written = async (session: Outgoing) => {
  const one = await deepcodeWriter.write(session)
  const files = await recordsOf(one)
  return { one, files, records: files[0] ?? [], losses: kindsOf(one.losses()) }
}
const again = async (session: Outgoing): Promise<readonly Outgoing[]> => {
  const folder = join(root, String(made++))
  await put(await deepcodeWriter.write(session), folder)
  return sessionsIn(deepcode, await readAll(deepcode, folder))
}
const indexOf = async ({ files }: Written, existing: string | null = null) => {
  const text = await files.at(-1)?.merge?.(existing)
  return JSON.parse(text ?? '') as { entries: Json[]; originalPath: string; version: number }
}
const shape = (records: readonly Json[]): string[] =>
  records.map(({ role, compacted, meta }) => {
    const kind = (meta as Json | undefined)?.isSummary === true ? 'summary' : String(role)
    return compacted === true ? `(${kind})` : kind
  })

const asked: Native = { name: 'asked', role: 'user', content: 'list the files' }
const called: Native = {
  name: 'called',
  role: 'assistant',
  content: 'Looking.',
  reasoning: [{ text: 'Look first.', signature: 'sig' }],
  toolCalls: [{ id: 'call_1', name: 'bash', arguments: 'ls -l' }],
  model: 'claude-x',
  usage: { input: 100, output: 5, cacheRead: 90, costUsd: 0.5 },
  stop: 'tool_use',
}
const found: Native = { name: 'found', role: 'tool', toolCallId: 'call_1', content: 'README.md', ok: false }
const told: Native = { name: 'told', role: 'assistant', content: 'One.', usage: { input: 110, output: 2 } }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('a session of another agent, written for Deep Code', () => {
  it('is a list of whole messages, in the file and the folder where Deep Code looks', async () => {
    const { one, records, losses } = await written(native([asked, called, found, told]))
    expect(one.session).toMatch(uuid)
    expect(one.files.map(({ name }) => name)).toEqual([`${one.session}.jsonl`, 'sessions-index.json'])
    expect(shape(records)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    for (const record of records) {
      expect(record).toMatchObject({ sessionId: one.session, contentParams: null, compacted: false })
      expect(record.id).toMatch(uuid)
    }
    expect(records[1]).toMatchObject({
      content: 'Looking.',
      messageParams: {
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: 'ls -l' } }],
        reasoning_content: 'Look first.',
      },
      visible: true,
    })
    expect(JSON.parse(String(records[2]?.content))).toEqual({ ok: false, name: 'bash', error: 'README.md' })
    expect(records[2]?.messageParams).toEqual({ tool_call_id: 'call_1' })
    expect(losses).toEqual(['costs', 'models', 'signatures', 'stops', 'usage by message'])
    const place = { home: '/home/u', env: {} }
    expect(deepcodeWriter.folder(place, '/home/u/tea')).toBe('/home/u/.deepcode/projects/-home-u-tea')
    expect(deepcodeWriter.resume(one.session, '/home/u/tea')).toEqual(['deepcode', '--resume', one.session])
  })

  it('gives results back as the other tool gave them', async () => {
    const [session] = await again(native([asked, called, found, told]))
    expect(contextOf(session as Outgoing)[2]).toMatchObject({ role: 'tool', content: 'README.md', ok: false })
  })

  it('keeps the order of texts and images, and names what it cannot hold', async () => {
    const content = [
      { type: 'text', text: 'before' },
      { type: 'image', media: 'image/png', data: 'AAAA', alt: 'a cup' },
      { type: 'text', text: 'after' },
      { type: 'document', alt: 'a.pdf' },
    ]
    const session = native([{ name: 'image', role: 'user', content }])
    const { records, losses } = await written(session)
    expect(records[0]).toMatchObject({
      content: 'before',
      contentParams: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'after\n\n[document: a.pdf]' },
      ],
    })
    expect(losses).toEqual(['documents', 'image details'])
    const [read] = await again(session)
    expect(contextOf(read as Outgoing)[0]?.content).toMatchObject([
      { type: 'text', text: 'before' },
      { type: 'image', data: 'AAAA' },
      { type: 'text' },
    ])
  })

  it('marks what a compaction covers, an older summary too, and leaves system messages standing', async () => {
    const system: Native = { name: 'system', role: 'system', content: 'Be brief.' }
    const compact = (name: string, through: string): Native => ({
      name,
      type: 'compaction',
      summary: `about ${through}`,
      through: idAt(through),
    })
    const more: Native = { name: 'more', role: 'user', content: 'more' }
    const last: Native = { name: 'last', role: 'user', content: 'last' }
    const session = native([
      system,
      asked,
      told,
      compact('first', 'asked'),
      more,
      compact('second', 'told'),
      last,
    ])
    const { records } = await written(session)
    expect(shape(records)).toEqual([
      'system',
      '(user)',
      '(summary)',
      '(assistant)',
      'summary',
      'user',
      'user',
    ])
    const [read] = await again(session)
    expect(contextOf(read as Outgoing).map(({ content }) => content)).toEqual([
      'Be brief.',
      'about told',
      'more',
      'last',
    ])
  })

  it('writes a line for what a compaction covers where nothing of it is said', async () => {
    const aside: Native = { name: 'aside', role: 'user', content: 'by the way', aside: true }
    const compaction: Native = {
      name: 'compaction',
      type: 'compaction',
      summary: 'nothing yet',
      through: idAt('aside'),
    }
    const session = native([aside, compaction, asked])
    const { records, losses } = await written(session)
    expect(shape(records)).toEqual(['(user)', 'summary', 'user'])
    expect(losses).toEqual(['asides'])
    const [read] = await again(session)
    expect(contextOf(read as Outgoing).map(({ content }) => content)).toEqual([
      'nothing yet',
      'list the files',
    ])
  })

  it('makes a session of each further branch, which names where it left', async () => {
    const other: Native = { name: 'other', on: 'asked', role: 'assistant', content: 'Two.' }
    const session = native([asked, told, other])
    const { one, files, losses } = await written(session)
    expect(files.map((records) => records.map(({ content }) => content))).toEqual([
      ['list the files', 'Two.'],
      ['list the files', 'One.'],
    ])
    expect(losses).toContain('forks')
    const { entries } = await indexOf(one)
    const fork = files[1]?.[0]?.sessionId
    expect(entries.map(({ id }) => id)).toEqual([one.session, fork])
    expect(entries[1]).toMatchObject({ forkedFrom: { sessionId: one.session, messageId: files[0]?.[0]?.id } })
    expect(entries[0]).not.toHaveProperty('forkedFrom')
    const { files: alone } = await written({ ...session, only: true })
    expect(alone).toHaveLength(1)
  })

  it('answers every call, so that Deep Code runs none of them again', async () => {
    const { records, losses } = await written(native([asked, called]))
    expect(shape(records)).toEqual(['user', 'assistant', 'tool'])
    expect(JSON.parse(String(records[2]?.content))).toMatchObject({ ok: false, name: 'bash' })
    expect(losses).toContain('interrupted calls')
  })
})

describe('the index', () => {
  const session = native([asked, called, found, told])

  it('tells what Deep Code lists: title, newest reply, tokens in all and by model', async () => {
    const { one } = await written(session)
    expect(await indexOf(one)).toEqual({
      version: 1,
      originalPath: '/home/u/tea',
      entries: [
        {
          id: one.session,
          summary: 'list the files',
          assistantReply: 'One.',
          assistantThinking: null,
          assistantRefusal: null,
          toolCalls: null,
          status: 'completed',
          failReason: null,
          usage: {
            prompt_tokens: 210,
            completion_tokens: 7,
            total_tokens: 217,
            prompt_tokens_details: { cached_tokens: 90 },
          },
          usagePerModel: {
            'claude-x': {
              prompt_tokens: 100,
              completion_tokens: 5,
              total_tokens: 105,
              prompt_tokens_details: { cached_tokens: 90 },
              total_reqs: 1,
            },
            unknown: { prompt_tokens: 110, completion_tokens: 2, total_tokens: 112, total_reqs: 1 },
          },
          activeTokens: 112,
          createTime: '2026-12-01T10:00:00.000Z',
          updateTime: '2026-12-01T10:00:03.000Z',
          processes: null,
          planMode: false,
        },
      ],
    })
    const { one: named } = await written({ ...session, title: 'Files' })
    expect((await indexOf(named)).entries[0]).toMatchObject({ summary: 'Files' })
  })

  it('keeps all that it held, replaces the session’s own entry, and refuses what it cannot read', async () => {
    const { one } = await written(session)
    const held = {
      version: 1,
      entries: [
        { id: 'other', odd: 1 },
        { id: one.session, odd: 2 },
      ],
      more: true,
    }
    const index = await indexOf(one, JSON.stringify(held))
    expect(index).toMatchObject({
      more: true,
      entries: [
        { id: 'other', odd: 1 },
        { id: one.session, odd: 2, assistantReply: 'One.' },
      ],
    })
    await expect(indexOf(one, '{"entries": [')).rejects.toMatchObject({
      tag: 'IndexUnreadable',
      message: expect.stringMatching(/sessions-index\.json is no JSON object.*mend it or move it away/),
    })
    await expect(indexOf(one, '{"entries": {}}')).rejects.toMatchObject({ tag: 'IndexUnreadable' })
  })

  it('that is full counts the session as new, so that the next one does not end it', async () => {
    const { one } = await written(session)
    const entries = Array.from({ length: 50 }, (_, i) => ({
      id: `s${i}`,
      updateTime: `2027-01-${String((i % 28) + 1).padStart(2, '0')}T00:00:00.000Z`,
    }))
    const index = await indexOf(one, JSON.stringify({ version: 1, entries }))
    expect(index.entries).toHaveLength(51)
    expect(index.entries[50]).toMatchObject({ id: one.session, updateTime: '2027-01-28T00:00:00.000Z' })
  })

  it('of a session that came from there says what it said, but for processes, which Deep Code would kill', async () => {
    const { one } = await written(await fixture(base))
    expect((await indexOf(one)).entries[0]).toMatchObject({
      id: base,
      summary: 'Fix the users pagination',
      status: 'ask_permission',
      askPermissions: [{ toolCallId: 'call_2' }],
      usagePerModel: { 'deepseek-v4-flash': { total_reqs: 2 } },
      activeTokens: 1190,
      processes: null,
      forkedFrom: { sessionId: 'compacted', messageId: 'm1' },
    })
  })
})

describe('a session that came from Deep Code', () => {
  it('goes on where it was, under its id, its own lines as they were', async () => {
    const { records: before } = await written(await fixture('compacted'))
    const { one, records, losses } = await written(goingOn(await fixture('compacted'), [asked, told]))
    expect(one.session).toBe('compacted')
    expect(records.slice(0, -2)).toEqual(before)
    expect(records.slice(-2).map(({ content }) => content)).toEqual(['list the files', 'One.'])
    expect(losses).toEqual(['usage by message'])
  })

  it('is marked in place by a compaction of ours, its messages under their ids', async () => {
    const compaction: Native = {
      name: 'compaction',
      type: 'compaction',
      summary: 'all of it',
      through: (await fixture('compacted')).head,
    }
    const session = goingOn(await fixture('compacted'), [compaction, asked])
    const { records } = await written(session)
    expect(records.map(({ id }) => id).slice(0, 10)).toEqual([
      's',
      'm0',
      'm1',
      'm2',
      'm3',
      'S1',
      'm4',
      'm5',
      'm6',
      'm7',
    ])
    expect(shape(records).slice(5)).toEqual([
      '(summary)',
      '(user)',
      '(assistant)',
      '(user)',
      '(assistant)',
      'summary',
      'user',
    ])
    const [read] = await again(session)
    expect(contextOf(read as Outgoing).map(({ content }) => content)).toEqual([
      'prompt',
      'all of it',
      'list the files',
    ])
  })

  it('says no more what an edit took out of it', async () => {
    const session = await fixture('compacted')
    const target = session.events.find(({ origin }) => (origin as Json).id === 'm6')?.id
    const edited = goingOn(session, [{ name: 'edit', type: 'edit', target, replacement: 'other words' }])
    const { records, losses } = await written(edited)
    expect(records.map(({ content }) => content)).toContain('other words')
    expect(JSON.stringify(records)).not.toContain('message 6')
    expect(losses).toEqual(['edits'])
  })
})
