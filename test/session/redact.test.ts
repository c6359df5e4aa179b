import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { claude } from '../../src/formats/claude/format.js'
import type { Session, Store } from '../../src/session/api.js'
import { importSources } from '../../src/session/import.js'
import { MemoryFs } from '../support/memory-fs.js'
import {
  assistant,
  call,
  contextOf,
  logOf,
  memoryStore,
  newSession,
  refusal,
  result,
  say,
  textsOf,
  user,
} from './stores.js'

const secret = 'the horse is called Trigger'

const eventsOf = async (store: Store, id: string): Promise<readonly Event[]> =>
  (await store.reader(id)).events()

const clean = async (store: Store): Promise<void> => expect((await store.verify()).problems).toEqual([])

/** Files that hold a text, but for those of the archive. */
const holding = (fs: MemoryFs, text: string): readonly string[] =>
  fs.paths().filter((path) => !path.includes('/archive/') && fs.bytesOf(path).includes(text))

const begun = async (fs = new MemoryFs()) => {
  const store = await memoryStore(fs)
  const session = await newSession(store, { system: 'be kind' })
  const prompt = await say(session, user(secret))
  const answer = await say(session, assistant('a fine name'))
  return { fs, store, session, prompt, answer }
}

/** Redacts after everyone has left. */
const redacted = async (store: Store, session: Session, ...events: readonly Event[]) => {
  session.close()
  return store.redact(session.id, { events: events.map(({ id }) => id) })
}

describe('redacting events', () => {
  it('replaces a payload by a tombstone that proves its place, and says so in a note', async () => {
    const { fs, store, session, prompt, answer } = await begun()
    const before = await eventsOf(store, session.id)
    const done = await redacted(store, session, prompt)
    expect(done).toMatchObject({ redacted: [prompt.id], followed: [], elsewhere: [], hasCheckpoints: false })
    const after = await eventsOf(store, session.id)
    const note = after.at(-1)
    expect(note).toMatchObject({
      type: 'redaction',
      note: true,
      parent: answer.id,
      ids: [prompt.id],
      reason: 'asked for',
    })
    expect(after.slice(0, -1)).toEqual(
      before.map((event) =>
        event.id === prompt.id
          ? {
              id: prompt.id,
              parent: prompt.parent,
              at: prompt.at,
              type: 'message',
              body: expect.any(String),
              redacted: true,
              kept: { role: 'user' },
            }
          : event,
      ),
    )
    expect(holding(fs, secret)).toEqual([])
    expect(await textsOf(store, session.id)).toEqual(['be kind', null, 'a fine name'])
    expect((await store.list())[0]).toMatchObject({ title: '[redacted]', problem: null })
    await clean(store)
    expect(await store.verify()).toMatchObject({ redacted: 1 })
  })

  it('keeps the old log in the archive, unchanged, until that is purged', async () => {
    const { fs, store, session, prompt } = await begun()
    const old = fs.bytesOf(logOf(fs, session.id))
    const { archived } = await redacted(store, session, prompt)
    expect(fs.bytesOf(`${archived}/data.jsonl`).equals(old)).toBe(true)
    expect(fs.paths().filter((path) => path.includes('/archive/'))).toEqual([`${archived}/data.jsonl`])
    await store.purge()
    expect(fs.paths().filter((path) => path.includes('/archive/'))).toEqual([])
    expect(fs.paths().filter((path) => fs.bytesOf(path).includes(secret))).toEqual([])
  })

  it('takes what an undo copied of the answer out of the head event', async () => {
    const { fs, store, session, answer } = await begun()
    const prompt = await say(session, user('more'))
    await say(session, assistant('other'))
    await session.undo(prompt.id)
    const undo = (await eventsOf(store, session.id)).find(({ type }) => type === 'head')
    const done = await redacted(store, session, answer)
    expect(done).toMatchObject({ redacted: [answer.id, undo?.id], followed: [undo?.id] })
    expect(holding(fs, 'a fine name')).toEqual([])
    expect((await store.list())[0]).toMatchObject({ lastAssistant: null, diverged: [] })
    await clean(store)
  })

  it('takes what a compaction kept of a system message out of it, and goes on covering what it covered', async () => {
    const { fs, store, session } = await begun()
    await session.compact({ summary: 'about a horse' })
    await say(session, user('and now?'))
    const [, system] = await eventsOf(store, session.id)
    const done = await redacted(store, session, system as Event)
    expect(done.followed).toHaveLength(1)
    expect(holding(fs, 'be kind')).toEqual([])
    expect((await contextOf(store, session.id)).join('\n')).not.toContain(secret)
    expect((await contextOf(store, session.id)).at(-1)).toBe('and now?')
    await clean(store)
  })

  it('takes edits of the message with it, and what a compaction kept of an edit', async () => {
    const { fs, store, session } = await begun()
    const [, system] = await eventsOf(store, session.id)
    const edit = await session.edit((system as Event).id, 'be kinder')
    await session.compact({ summary: 'about a horse' })
    const one = await redacted(store, session, { id: edit } as Event)
    expect(one.followed).toHaveLength(1)
    expect(holding(fs, 'be kinder')).toEqual([])
    const two = await store.redact(session.id, { events: [(system as Event).id] })
    expect(two.redacted).toEqual([(system as Event).id])
    await clean(store)
  })

  it('takes nothing more the second time: an edit that took words away said none, and has no copy', async () => {
    const { store, session, answer } = await begun()
    const [, system] = await eventsOf(store, session.id)
    await session.compact({ summary: 'about a horse' })
    const edits = [
      await session.edit((system as Event).id, null),
      await session.edit(answer.id, null),
      await session.edit(answer.id, 'a word'),
    ]
    const before = await contextOf(store, session.id)
    const events = edits.slice(0, 2).map((id) => ({ id }) as Event)
    const one = await redacted(store, session, ...events)
    expect(one).toMatchObject({ redacted: edits.slice(0, 2), followed: [] })
    expect(await contextOf(store, session.id)).toEqual(before)
    expect((await redacted(store, session, ...events)).redacted).toEqual([])
    await clean(store)
  })

  it('keeps the structure: calls stay paired with their results, tokens stay counted', async () => {
    const { store, session } = await begun()
    const called = await say(session, call('c1', { usage: { input: 10, output: 5 }, model: 'm' }))
    const answered = await say(session, result('c1', secret))
    await say(session, user('thanks'))
    const [before] = await store.list()
    await redacted(store, session, called, answered)
    const [after] = await store.list()
    expect(after?.usage).toEqual(before?.usage)
    expect(await (await store.reader(session.id)).context({ format: 'openai' })).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'run' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '[redacted]' },
      { role: 'user', content: 'thanks' },
    ])
  })

  it('takes blobs away that nothing else names, and what else names the same one', async () => {
    const { fs, store, session } = await begun()
    const large = `${secret} ${'x'.repeat(100_000)}`
    const [one, two] = [await say(session, user(large)), await say(session, user(large))]
    const other = await say(session, user('y'.repeat(100_000)))
    const done = await redacted(store, session, one)
    expect(done.redacted).toEqual([one.id, two.id])
    expect(holding(fs, secret).filter((path) => path.includes('/blobs/'))).toEqual([])
    expect(fs.paths().filter((path) => path.startsWith(`${done.archived}/blobs/`))).toHaveLength(1)
    expect((await textsOf(store, session.id)).at(-1)).toBe('y'.repeat(100_000))
    expect(other.id).not.toBe(one.id)
    await clean(store)
  })

  it('drops the fragment that a killed writer left', async () => {
    const { fs, store, session, answer } = await begun()
    session.close()
    const path = logOf(fs, session.id)
    fs.replace(path, Buffer.concat([fs.bytesOf(path), Buffer.from(`{"id":"${secret}`)]))
    await store.redact(session.id, { events: [answer.id] })
    expect(fs.bytesOf(path).includes(`{"id":"${secret}`)).toBe(false)
    await clean(store)
  })

  it('does nothing the second time', async () => {
    const { fs, store, session, prompt } = await begun()
    await redacted(store, session, prompt)
    const bytes = fs.bytesOf(logOf(fs, session.id))
    expect(await store.redact(session.id, { events: [prompt.id] })).toMatchObject({
      redacted: [],
      archived: null,
    })
    expect(fs.bytesOf(logOf(fs, session.id)).equals(bytes)).toBe(true)
  })

  it('says what it would do, and changes nothing, in a dry run', async () => {
    const { fs, store, session, prompt } = await begun()
    session.close()
    const before = fs.paths().map((path) => [path, fs.bytesOf(path).toString('latin1')])
    const done = await store.redact(session.id, { events: [prompt.id], dryRun: true })
    expect(done).toMatchObject({ redacted: [prompt.id], archived: null })
    expect(fs.paths().map((path) => [path, fs.bytesOf(path).toString('latin1')])).toEqual(before)
  })

  it('names forks, other imports, and archived copies of the same events', async () => {
    const { store, session, prompt } = await begun()
    const fork = await store.fork(session.id)
    const second = await store.fork(fork.session)
    await store.archive(second.session, 'archive')
    const { elsewhere, oldCopies } = await redacted(store, session, prompt)
    expect(oldCopies).toEqual([])
    expect(
      elsewhere.map(({ session: id, archived, events }) => [id, archived, events.length]).sort(),
    ).toEqual(
      [
        [fork.session, false, 1],
        [second.session, true, 1],
      ].sort(),
    )
    const again = await store.redact(fork.session, {
      events: elsewhere.find(({ archived }) => !archived)?.events ?? [],
    })
    expect(again.elsewhere.map(({ session: id }) => id)).toEqual([second.session])
  })
})

describe('a redaction is refused', () => {
  it('while anyone holds the session open, as a conflict, and changes nothing', async () => {
    const { fs, store, session, prompt } = await begun()
    const bytes = fs.bytesOf(logOf(fs, session.id))
    expect(await refusal(store.redact(session.id, { events: [prompt.id] }))).toMatchObject({
      tag: 'Refused',
      conflict: true,
    })
    expect(fs.bytesOf(logOf(fs, session.id)).equals(bytes)).toBe(true)
  })

  it('of a root, of a note that holds only ids, and of an event that is not there', async () => {
    const { store, session, prompt } = await begun()
    await redacted(store, session, prompt)
    const [root, ...rest] = await eventsOf(store, session.id)
    const refused = (id = '') => refusal(store.redact(session.id, { events: [id] }))
    expect(await refused(root?.id)).toMatchObject({ tag: 'Refused' })
    expect(await refused(rest.at(-1)?.id)).toMatchObject({ tag: 'Refused' })
    expect(await refused('0'.repeat(32))).toMatchObject({ tag: 'NotFound' })
  })

  it('of a damaged log', async () => {
    const { fs, store, session, prompt, answer } = await begun()
    session.close()
    const path = logOf(fs, session.id)
    const bytes = fs.bytesOf(path)
    const at = bytes.indexOf('be kind')
    bytes[at] = (bytes[at] as number) ^ 1
    fs.replace(path, bytes)
    expect(await refusal(store.redact(session.id, { events: [prompt.id, answer.id] }))).toMatchObject({
      tag: 'Damaged',
    })
  })
})

describe('others', () => {
  it('who had the file open before lose nothing: they go on after the redaction', async () => {
    const { fs, store, session, prompt } = await begun()
    session.close()
    const other = await memoryStore(fs)
    const held = await other.open(session.id)
    await say(held, user('before'))
    held.close()
    // The handle of the other process is still open on the old file.
    await store.redact(session.id, { events: [prompt.id] })
    const again = await other.open(session.id)
    const after = await say(again, user('after'))
    again.close()
    const events = await eventsOf(store, session.id)
    expect(events.at(-1)?.id).toBe(after.id)
    expect((await textsOf(store, session.id)).slice(-2)).toEqual(['before', 'after'])
    await clean(store)
  })
})

describe('a session that was opened while the redaction ran', () => {
  it('goes on where it stood', async () => {
    const { fs, store, session, prompt, answer } = await begun()
    session.close()
    const other = await (await memoryStore(fs)).open(session.id)
    // As if it had been opened between the look for others and the swap: nobody sees it.
    for (const path of fs.paths().filter((name) => name.includes('/presence/'))) fs.remove(path)
    await store.redact(session.id, { events: [prompt.id] })
    const after = await say(other, user('after'))
    expect(after.parent).toBe(answer.id)
    other.close()
    expect((await store.list())[0]?.diverged).toEqual([])
    await clean(store)
  })
})

describe('importing again', () => {
  it('does not bring back what was redacted, nor what its source says of it now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-redact-'))
    try {
      const path = join(folder, '0f0f0f0f-0000-4000-8000-000000000001.jsonl')
      const record = (n: number, role: string, content: string) =>
        `${JSON.stringify({
          type: role,
          uuid: `0f0f0f0f-0000-4000-8000-00000000001${n}`,
          parentUuid: n === 0 ? null : `0f0f0f0f-0000-4000-8000-00000000001${n - 1}`,
          sessionId: '0f0f0f0f-0000-4000-8000-000000000001',
          timestamp: `2026-12-01T09:00:0${n}.000Z`,
          cwd: '/nowhere/w',
          version: '2.1.0',
          message: { role, content },
        })}\n`
      writeFileSync(path, record(0, 'user', secret) + record(1, 'assistant', 'fine'))
      const fs = new MemoryFs()
      const store = await memoryStore(fs)
      const bring = () => importSources(store, [{ format: claude, path }], { workspace: '/nowhere/w' })
      const [row] = (await bring()).imported
      const id = row?.session as string
      const prompt = (await eventsOf(store, id)).find(({ role }) => role === 'user')
      await store.redact(id, { events: [prompt?.id as string] })
      writeFileSync(
        path,
        record(0, 'user', `${secret}!`) + record(1, 'assistant', 'fine') + record(2, 'user', 'and?'),
      )
      expect((await bring()).imported).toMatchObject([{ session: id, new: 1 }])
      expect(holding(fs, secret)).toEqual([])
      await clean(store)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('finding secrets in a session', () => {
  const token = `gh${'p_'}wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx`

  it('lists them in a dry run, by event and kind, and redacts what holds them', async () => {
    const { fs, store, session } = await begun()
    const leak = await say(session, user(`use ${token} please`))
    const large = await say(session, user(`${'word '.repeat(20_000)} ${token}`))
    const called = await say(
      session,
      assistant(null, { toolCalls: [{ id: 'c', name: 'run', arguments: `{"token":"${token}"}` }] }),
    )
    session.close()
    const found = await store.redact(session.id, { detect: true, dryRun: true })
    expect(found.found).toEqual(
      [leak, large, called].map(({ id }) => ({ event: id, type: 'message', kinds: ['github-token'] })),
    )
    const done = await store.redact(session.id, { detect: true })
    expect(done.redacted).toEqual([leak.id, large.id, called.id])
    expect(holding(fs, token)).toEqual([])
    expect((await eventsOf(store, session.id)).at(-1)).toMatchObject({ reason: 'secrets were detected' })
    expect(await store.redact(session.id, { detect: true })).toMatchObject({ redacted: [], found: [] })
    await clean(store)
  })

  it('leaves a root alone that holds one, and says so', async () => {
    const store = await memoryStore()
    const session = await store.create({ workspace: '/nowhere/w', agent: { name: 'x', key: token } })
    session.close()
    expect(await store.redact(session.id, { detect: true })).toMatchObject({
      redacted: [],
      staying: [{ event: session.id, type: 'session', kinds: ['github-token'] }],
    })
  })
})
