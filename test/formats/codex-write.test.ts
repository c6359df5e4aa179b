import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { codex } from '../../src/formats/codex/format.js'
import { codexWriter } from '../../src/formats/codex/write.js'
import { objectIn } from '../../src/formats/members.js'
import type { Json } from '../../src/formats/remainder.js'
import type { Outgoing } from '../../src/formats/writer.js'
import { itemsOf } from './check-items.js'
import { goingOn, idAt, type Native, native, recordsOf } from './native.js'
import { contextOf, kindsOf, put, readAll, sessionsIn } from './round-trip.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-codex-write-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const fixtures = await codex.find(fileURLToPath(new URL('../fixtures/codex', import.meta.url)))
const fixture = async (i: number): Promise<Outgoing> => {
  const [session] = sessionsIn(codex, await itemsOf(codex, fixtures[i] ?? ''))
  if (session === undefined) throw new Error('no fixture')
  return session
}

const written = async (session: Outgoing) => {
  const one = await codexWriter.write(session)
  const rollouts = await recordsOf(one)
  return { one, rollouts, records: rollouts[0] ?? [], losses: kindsOf(one.losses()) }
}
const again = async (session: Outgoing): Promise<readonly Outgoing[]> => {
  const folder = join(root, String(made++))
  await put(await codexWriter.write(session), folder)
  return sessionsIn(codex, await readAll(codex, folder))
}
const wordsOf = (session: Outgoing | undefined): unknown[] =>
  session === undefined ? [] : contextOf(session).map(({ content }) => content)
/** `event_msg:task_started` of a line. */
const kinds = (records: readonly Json[]): string[] =>
  records.map(({ type, payload }) => {
    const detail = (payload as Json).type
    return detail === undefined ? String(type) : `${String(type)}:${String(detail)}`
  })
const payloads = (records: readonly Json[], detail: string): Json[] =>
  records.map(({ payload }) => payload as Json).filter(({ type }) => type === detail)

const asked: Native = { name: 'asked', role: 'user', content: 'list the files' }
const called: Native = {
  name: 'called',
  role: 'assistant',
  content: 'Looking.',
  reasoning: [{ text: 'Look first.' }],
  toolCalls: [
    { id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' },
    { id: 'call_2', name: 'bash', arguments: 'not JSON' },
  ],
  usage: { input: 100, output: 5, cacheRead: 90 },
}
const found: Native = { name: 'found', role: 'tool', toolCallId: 'call_1', content: 'README.md' }
const failed: Native = {
  name: 'failed',
  role: 'tool',
  toolCallId: 'call_2',
  content: 'no such command',
  ok: false,
  timing: { durationMs: 1250 },
}
const told: Native = { name: 'told', role: 'assistant', content: 'One.', usage: { input: 120, output: 2 } }
const turn = [asked, called, found, failed, told]

describe('a session of another agent, written for Codex', () => {
  it('is a rollout of turns, with the lines that people see beside what the model gets', async () => {
    const { one, records, losses } = await written(native(turn))
    expect(kinds(records)).toEqual([
      'session_meta',
      'event_msg:task_started',
      'response_item:message',
      'event_msg:user_message',
      'response_item:reasoning',
      'event_msg:agent_reasoning',
      'response_item:message',
      'event_msg:agent_message',
      'response_item:function_call',
      'response_item:function_call',
      'event_msg:token_count',
      'response_item:function_call_output',
      'event_msg:mcp_tool_call_end',
      'response_item:function_call_output',
      'response_item:message',
      'event_msg:agent_message',
      'event_msg:token_count',
      'event_msg:task_complete',
    ])
    const [meta] = records
    expect(meta?.payload).toEqual({
      id: one.session,
      timestamp: '2026-12-01T10:00:00.000Z',
      cwd: '/home/u/tea',
      originator: 'coppice',
      cli_version: '0.171.0',
      source: 'cli',
    })
    const [name] = one.files.map((file) => file.name)
    expect(name).toBe(`sessions/2026/12/01/rollout-2026-12-01T10-00-00-${one.session}.jsonl`)
    expect(payloads(records, 'function_call')[1]?.arguments).toBe('not JSON')
    const [started] = payloads(records, 'task_started')
    expect(payloads(records, 'task_complete')).toEqual([
      { type: 'task_complete', turn_id: started?.turn_id, last_agent_message: 'One.' },
    ])
    expect(losses).toEqual([])
  })

  it('counts tokens on, in whole objects', async () => {
    const { records } = await written(native(turn))
    expect(payloads(records, 'token_count').map(({ info }) => info)).toEqual([
      {
        total_token_usage: {
          input_tokens: 100,
          cached_input_tokens: 90,
          output_tokens: 5,
          reasoning_output_tokens: 0,
          total_tokens: 105,
        },
        last_token_usage: {
          input_tokens: 100,
          cached_input_tokens: 90,
          output_tokens: 5,
          reasoning_output_tokens: 0,
          total_tokens: 105,
        },
        model_context_window: null,
      },
      {
        total_token_usage: {
          input_tokens: 220,
          cached_input_tokens: 90,
          output_tokens: 7,
          reasoning_output_tokens: 0,
          total_tokens: 227,
        },
        last_token_usage: {
          input_tokens: 120,
          cached_input_tokens: 0,
          output_tokens: 2,
          reasoning_output_tokens: 0,
          total_tokens: 122,
        },
        model_context_window: null,
      },
    ])
  })

  it('says how calls went: read again, they failed and took as long', async () => {
    const [session] = await again(native(turn))
    const results = (session?.events ?? []).filter(({ role }) => role === 'tool')
    expect(results.map(({ ok }) => ok)).toEqual([undefined, false])
    expect(results[1]?.timing).toEqual({ durationMs: 1250 })
  })

  it('compacts in a turn of its own, right after what it covers, with what it keeps', async () => {
    const keep = [{ id: idAt('asked'), message: { role: 'user', content: 'list the files' } }]
    const compaction: Native = {
      name: 'compaction',
      type: 'compaction',
      summary: 'Listed.',
      through: idAt('failed'),
      keep,
    }
    const session = native([...turn, compaction, { ...asked, name: 'more', content: 'more' }])
    const { records, losses } = await written(session)
    const at = records.findIndex(({ type }) => type === 'compacted')
    expect(kinds(records).slice(at - 2, at + 4)).toEqual([
      'event_msg:task_complete',
      'event_msg:task_started',
      'compacted',
      'event_msg:context_compacted',
      'event_msg:task_complete',
      'event_msg:task_started',
    ])
    const text = (words: string): Json => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: words }],
    })
    expect(records[at]?.payload).toEqual({
      message: 'Listed.',
      replacement_history: [text('list the files'), text('Listed.')],
    })
    expect(losses).not.toContain('compactions')
    expect(wordsOf((await again(session))[0])).toEqual(['list the files', 'Listed.', 'One.', 'more'])
  })

  it('has a rollout of its own for each other branch, forked from the first', async () => {
    const session = native([...turn, { ...told, name: 'right', on: 'asked', content: 'Two.' }])
    const { one, rollouts, losses } = await written(session)
    expect(rollouts).toHaveLength(2)
    expect(rollouts[1]?.[0]?.payload).toMatchObject({ forked_from_id: one.session })
    expect(losses).toEqual(['forks'])
    const read = await again(session)
    expect(read.map((other) => wordsOf(other).at(-1)).toSorted()).toEqual(['One.', 'Two.'])
    expect((await written({ ...session, only: true })).rollouts).toHaveLength(1)
  })

  it('has sub-agents beside it, that name the thread that began them', async () => {
    const child = native([{ ...asked, name: 'sub' }], { id: 'child' })
    const moved = {
      ...child,
      events: child.events.map((event, i) => (i === 0 ? { ...event, id: idAt('sub root') } : event)),
    }
    const { one, rollouts } = await written(native(turn, { children: [moved] }))
    expect(rollouts[1]?.[0]?.payload).toMatchObject({
      parent_thread_id: one.session,
      source: { subagent: { thread_spawn: { parent_thread_id: one.session, depth: 1 } } },
    })
  })

  it('counts what Codex cannot hold', async () => {
    const odd: Native = {
      ...told,
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', media: 'image/png', data: 'AAAA' },
      ],
      reasoning: [{ text: 'Hm.', signature: 'sig' }],
      usage: { input: 1, output: 1, costUsd: 0.1 },
      model: 'claude-x',
      stop: 'end_turn',
    }
    const system: Native = { name: 'system', role: 'system', content: 'Be brief.' }
    const hidden: Native = { name: 'hidden', role: 'user', content: 'the date', visible: false }
    const picture: Native = { ...asked, content: [{ type: 'image', media: 'image/png', data: 'AAAA' }] }
    const { records, losses } = await written(native([system, hidden, picture, odd]))
    expect(losses).toEqual([
      'costs',
      'hidden messages',
      'images',
      'models',
      'signatures',
      'stops',
      'system messages',
    ])
    expect(kinds(records).slice(1, 4)).toEqual([
      'response_item:message',
      'event_msg:task_started',
      'response_item:message',
    ])
    expect(objectIn(records[3] ?? {}, 'payload').content).toEqual([
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ])
  })
})

describe('the names of threads', () => {
  const session = native([...turn, { name: 'named', type: 'title', title: 'Tea', by: 'user' }])
  const merged = async (existing: string | null): Promise<string> => {
    const { one } = await written(session)
    const index = one.files.find(({ name }) => name === 'session_index.jsonl')
    return (await index?.merge?.(existing)) ?? ''
  }

  it('stand in an index that all share: a line is added, and none is lost', async () => {
    const { one } = await written(session)
    const line = JSON.stringify({
      id: one.session,
      thread_name: 'Tea',
      updated_at: '2026-12-01T10:00:05.000Z',
    })
    expect(await merged(null)).toBe(`${line}\n`)
    expect(await merged('{"id":"other","thread_name":"x"}\n{"torn')).toBe(
      `{"id":"other","thread_name":"x"}\n{"torn\n${line}\n`,
    )
    expect(await merged(`${line}\n`)).toBe(`${line}\n`)
    const older = `{"id":"${one.session}","thread_name":"Coffee"}\n`
    expect(await merged(older)).toBe(`${older}${line}\n`)
  })

  it('are read from there again, and left out where there is none', async () => {
    const [read] = await again(session)
    expect(read?.title).toBe('Tea')
    expect((await written(native(turn))).one.files).toHaveLength(1)
  })
})

describe('a session of Codex that goes on', () => {
  it('stands as it was, with what it rolled back, and counts its tokens on', async () => {
    const session = await fixture(0)
    const before = (await written(session)).records
    const more = goingOn(session, turn)
    const { records, rollouts } = await written(more)
    expect(rollouts).toHaveLength(1)
    const kept = before.map(({ ordinal: _ordinal, ...record }) => record)
    expect(records.slice(0, before.length)).toEqual(kept)
    expect(payloads(records, 'token_count').at(-1)?.info).toMatchObject({
      total_token_usage: { input_tokens: 3700 + 220 },
    })
    const read = await again(more)
    expect(
      wordsOf(
        read.find(
          ({ events }) =>
            objectIn(events[0] ?? {}, 'origin').id === objectIn(session.events[0] ?? {}, 'origin').id,
        ),
      ),
    ).toEqual(wordsOf(more))
  })

  it('is written as its branch alone where that went back; nothing of it is rolled back', async () => {
    const session = await fixture(0)
    const rolledBack = session.events.findLast(
      ({ role, content }) => role === 'user' && content === 'write a timer',
    )
    const back = goingOn({ ...session, head: rolledBack?.id ?? '' }, [told])
    const { rollouts, losses } = await written(back)
    expect(losses).toEqual(['forks'])
    for (const records of rollouts) expect(kinds(records)).not.toContain('event_msg:thread_rolled_back')
    expect(wordsOf(await again(back).then(([first]) => first))).toEqual(wordsOf(back))
  })

  it('has envelopes once something is added, where it had none', async () => {
    const session = await fixture(1)
    expect((await written(session)).records.some((record) => 'payload' in record)).toBe(false)
    const more = goingOn(session, turn)
    const { records } = await written(more)
    expect(records.every((record) => 'payload' in record && 'timestamp' in record)).toBe(true)
    expect(records[0]?.payload).toMatchObject({ originator: 'coppice', source: 'cli' })
    expect(wordsOf((await again(more))[0])).toEqual(wordsOf(more))
  })

  it('is written anew from a message on that was edited', async () => {
    const session = await fixture(0)
    const target = session.events.findLast(
      ({ role, content }) => role === 'assistant' && content === 'Written.',
    )
    const more = goingOn(session, [{ name: 'edit', type: 'edit', target: target?.id, replacement: 'Done.' }])
    const { losses } = await written(more)
    expect(losses).toContain('edits')
    const [read] = await again(more)
    expect(wordsOf(read)).toEqual(wordsOf(more))
  })
})
