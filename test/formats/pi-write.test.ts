import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { objectIn } from '../../src/formats/members.js'
import { pi } from '../../src/formats/pi/format.js'
import { piWriter } from '../../src/formats/pi/write.js'
import type { Json } from '../../src/formats/remainder.js'
import type { Outgoing } from '../../src/formats/writer.js'
import { itemsOf } from './check-items.js'
import { goingOn, idAt, type Native, native, recordsOf } from './native.js'
import { contextOf, kindsOf, put, readAll, sessionsIn } from './round-trip.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-pi-write-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const fixtures = await pi.find(fileURLToPath(new URL('../fixtures/pi', import.meta.url)))
const fixture = async (i: number): Promise<Outgoing> => {
  const [session] = sessionsIn(pi, await itemsOf(pi, fixtures[i] ?? ''))
  if (session === undefined) throw new Error('no fixture')
  return session
}

const written = async (session: Outgoing) => {
  const one = await piWriter.write(session)
  const [records = []] = await recordsOf(one)
  return { one, records, losses: kindsOf(one.losses()) }
}
/** What Pi's file says, read again. */
const again = async (session: Outgoing): Promise<Outgoing> => {
  const folder = join(root, String(made++))
  await put(await piWriter.write(session), folder)
  const [found] = sessionsIn(pi, await readAll(pi, folder))
  if (found === undefined) throw new Error('nothing was written')
  return found
}
const wordsOf = (session: Outgoing): unknown[] => contextOf(session).map(({ content }) => plain(content))
const plain = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((part) => (part as Json).text ?? (part as Json).type).join('')
    : content

const asked: Native = { name: 'asked', role: 'user', content: 'list the files' }
const called: Native = {
  name: 'called',
  role: 'assistant',
  content: 'Looking.',
  reasoning: [{ text: 'Look first.', signature: 'sig' }],
  toolCalls: [{ id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' }],
  model: 'claude-x',
  usage: { input: 100, output: 5, cacheRead: 90, costUsd: 0.5 },
  stop: 'tool_use',
}
const found: Native = { name: 'found', role: 'tool', toolCallId: 'call_1', content: 'README.md', ok: false }
const told: Native = { name: 'told', role: 'assistant', content: 'One.', stop: 'end_turn' }

describe('a session of another agent, written for Pi', () => {
  it('is a tree of version 3, in the file and the folder where Pi looks', async () => {
    const { one, records } = await written(native([asked, called, found, told]))
    const [header, ...entries] = records
    expect(header).toMatchObject({ type: 'session', version: 3, id: one.session, cwd: '/home/u/tea' })
    expect(one.session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(one.files.map(({ name }) => name)).toEqual([`2026-12-01T10-00-00-000Z_${one.session}.jsonl`])
    expect(entries.every(({ id }) => /^[0-9a-f]{8}$/.test(String(id)))).toBe(true)
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ])
    const place = { home: '/home/u', env: {} }
    expect(piWriter.folder(place, '/home/u/tea')).toBe('/home/u/.pi/agent/sessions/--home-u-tea--')
    const own = { home: '/home/u', env: { PI_CODING_AGENT_SESSION_DIR: '~/pi' } }
    expect(piWriter.folder(own, '/home/u/tea')).toBe('/home/u/pi')
    expect(piWriter.resume(one.session, '/home/u/tea')).toEqual(['pi', '--session', one.session])
  })

  it('has whole replies: every count, what its model is spoken to with, and calls whose arguments are objects', async () => {
    const { records, losses } = await written(native([asked, called, found, told]))
    const [, , reply, result] = records
    expect(reply?.message).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Look first.' },
        { type: 'text', text: 'Looking.' },
        { type: 'toolCall', id: 'call_1', name: 'bash', arguments: { command: 'ls' } },
      ],
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-x',
      usage: {
        input: 10,
        output: 5,
        cacheRead: 90,
        cacheWrite: 0,
        totalTokens: 105,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
      },
      stopReason: 'toolUse',
      timestamp: Date.parse('2026-12-01T10:00:01.000Z'),
    })
    expect(result?.message).toMatchObject({ role: 'toolResult', toolName: 'bash', isError: true })
    expect(losses).toEqual(['signatures'])
  })

  it('counts what Pi cannot hold, and says the rest in its words', async () => {
    const odd: Native = {
      ...called,
      toolCalls: [{ id: 'call_1', name: 'bash', arguments: 'ls -l' }],
      stop: 'because',
      timing: { firstTokenMs: 3 },
      replay: [{ type: 'reasoning', encrypted_content: 'x' }, { type: 'server_tool_use' }],
      refusal: 'No.',
    }
    const image: Native = {
      name: 'image',
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', media: 'image/png', data: 'AAAA' },
        { type: 'image', url: 'https://example.org/a.png' },
        { type: 'document', alt: 'a.pdf' },
        { type: 'odd', n: 1 },
      ],
    }
    const system: Native = { name: 'system', role: 'system', content: 'Be brief.' }
    const aside: Native = { name: 'aside', role: 'user', content: 'by the way', aside: true }
    const hidden: Native = { name: 'hidden', role: 'user', content: 'the date', visible: false }
    const { records, losses } = await written(native([system, hidden, image, aside, odd, found]))
    expect(records[1]).toMatchObject({ type: 'custom_message', content: 'the date', display: false })
    expect(objectIn(records[2] ?? {}, 'message').content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: '[image: https://example.org/a.png]' },
      { type: 'text', text: '[document: a.pdf]' },
      { type: 'text', text: '{"type":"odd","n":1}' },
    ])
    expect(objectIn(records[3] ?? {}, 'message').content).toContainEqual({
      type: 'toolCall',
      id: 'call_1',
      name: 'bash',
      arguments: { input: 'ls -l' },
    })
    expect(losses).toEqual([
      'arguments',
      'asides',
      'documents',
      'images',
      'other parts',
      'provider blocks',
      'refusals',
      'signatures',
      'stops',
      'system messages',
      'timing',
    ])
  })

  it('keeps from the model what the model does not get: Pi leaves out replies that broke off', async () => {
    const broken: Native = {
      name: 'broken',
      role: 'assistant',
      content: 'half a',
      context: false,
      stop: 'error',
    }
    const { records } = await written(native([asked, broken]))
    expect(records[2]?.message).toMatchObject({ stopReason: 'error' })
    expect(wordsOf(await again(native([asked, broken])))).toEqual(['list the files'])
  })

  it('holds every branch, the wanted one last, and has names of branches as labels', async () => {
    const named = native([
      asked,
      { ...told, name: 'left' },
      { name: 'way', type: 'branch', on: 'asked', branch: 'other way' },
      { ...told, name: 'right', content: 'Two.' },
    ])
    const { records, losses } = await written(named)
    const [, first, left, right, label] = records
    expect([left?.parentId, right?.parentId]).toEqual([first?.id, first?.id])
    expect(objectIn(right ?? {}, 'message').content).toEqual([{ type: 'text', text: 'Two.' }])
    expect(label).toMatchObject({
      type: 'label',
      parentId: right?.id,
      targetId: right?.id,
      label: 'other way',
    })
    expect(losses).toEqual([])
    expect(wordsOf(await again(named))).toEqual(['list the files', 'Two.'])
  })

  it('ends with an entry of its own where the conversation went back: Pi goes on at the last one', async () => {
    const session = native([asked, called, found, told])
    const back = { ...session, head: idAt('asked') }
    const { records } = await written(back)
    expect(records.at(-1)).toMatchObject({ type: 'custom', parentId: records[1]?.id })
    expect(wordsOf(await again(back))).toEqual(['list the files'])
    const only = await written({ ...back, only: true })
    expect(only.records).toHaveLength(2)
  })

  it('compacts from the first entry that is kept on', async () => {
    const compaction: Native = {
      name: 'compaction',
      type: 'compaction',
      summary: 'Files were listed.',
      through: idAt('found'),
      tokensBefore: 900,
    }
    const kept = native([asked, called, found, told, compaction, { ...asked, name: 'more', content: 'more' }])
    const { records } = await written(kept)
    expect(records[5]).toMatchObject({
      type: 'compaction',
      summary: 'Files were listed.',
      firstKeptEntryId: records[4]?.id,
      tokensBefore: 900,
    })
    expect(wordsOf(await again(kept))).toEqual(['Files were listed.', 'One.', 'more'])
    const all = native([asked, told, { ...compaction, through: idAt('told') }, { ...asked, name: 'more' }])
    const none = await written(all)
    expect(none.records[3]?.firstKeptEntryId).toBe(none.records[3]?.id)
    expect(wordsOf(await again(all))).toEqual(['Files were listed.', 'list the files'])
  })

  it('is the same, byte for byte, every time', async () => {
    const session = native([
      asked,
      called,
      found,
      told,
      { name: 'named', type: 'title', title: 'Tea', by: 'user' },
    ])
    const texts = [await written(session), await written(session)].map(({ records }) =>
      JSON.stringify(records),
    )
    expect(texts[0]).toBe(texts[1])
    expect((await written(session)).records.at(-1)).toMatchObject({ type: 'session_info', name: 'Tea' })
  })
})

describe('a session of Pi that goes on', () => {
  it('stands as it was, with what was said since below its leaf', async () => {
    const session = await fixture(0)
    const more = goingOn(session, [asked, called, found, told])
    const before = (await written(session)).records
    const { records } = await written(more)
    expect(records.slice(0, before.length)).toEqual(before)
    const added = records.slice(before.length)
    expect(added).toHaveLength(4)
    expect(added[0]?.parentId).toBe('a000000a')
    expect(wordsOf(await again(more))).toEqual(wordsOf(more))
  })

  it('gets a line for each name that changed', async () => {
    const session = await fixture(0)
    const target = session.events.find(({ origin }) => objectIn({ origin }, 'origin').id === 'a0000003')
    const more = goingOn(session, [
      { name: 'label', type: 'label', target: target?.id, label: null },
      { name: 'title', type: 'title', title: 'Kettles', by: 'user' },
    ])
    const added = (await written(more)).records.slice((await written(session)).records.length)
    expect(added).toMatchObject([
      { type: 'session_info', name: 'Kettles' },
      { type: 'label', targetId: 'a0000003' },
    ])
    expect(added[1]).not.toHaveProperty('label')
  })

  it('writes a message again where it was edited, and what came after below it', async () => {
    const session = await fixture(0)
    const target = session.events.find(({ origin }) => objectIn({ origin }, 'origin').id === 'a0000009')
    const more = goingOn(session, [
      { name: 'edit', type: 'edit', target: target?.id, replacement: 'see nothing' },
    ])
    const { records, losses } = await written(more)
    expect(losses).toEqual(['edits'])
    expect(records.slice(-2)).toMatchObject([
      { parentId: 'a0000007', message: { role: 'user', content: 'see nothing' } },
      { message: { role: 'assistant', content: [{ type: 'text', text: 'A kettle.' }] } },
    ])
    expect(wordsOf(await again(more))).toEqual(wordsOf(more))
  })

  it('becomes one of version 3 where its entries had no ids', async () => {
    const session = await fixture(1)
    const untouched = await written(session)
    expect(untouched.records.some((record) => 'parentId' in record)).toBe(false)
    const more = goingOn(session, [asked, told])
    const { records } = await written(more)
    const [header, ...entries] = records
    expect(header).toMatchObject({ type: 'session', version: 3, provider: 'anthropic' })
    expect(entries.every(({ id }) => /^[0-9a-f]{8}$/.test(String(id)))).toBe(true)
    expect(entries.some((entry) => 'firstKeptEntryIndex' in entry)).toBe(false)
    expect(wordsOf(await again(more))).toEqual(wordsOf(more))
  })

  it('is written without the branches that are not wanted', async () => {
    const session = await fixture(0)
    const only = await written({ ...session, only: true })
    expect(only.records.map(({ id }) => id)).not.toContain('a000000c')
    expect(wordsOf(await again({ ...session, only: true }))).toEqual(wordsOf(session))
  })
})
