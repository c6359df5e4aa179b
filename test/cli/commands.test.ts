import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assistant, draftLines, place, sessionWith, user } from './coppice.js'

const id = /^[0-9a-f]{32}$/
const membersOf = (value: unknown): readonly string[] => Object.keys(value as object).sort()

const talk = [
  user('first question'),
  assistant('first answer'),
  user('second question'),
  assistant('second answer'),
]

describe('new and list', () => {
  it('make a session and show it, with every member that is promised', () => {
    const { run, workspace } = place()
    const made = run(['new', '--title', 'A title', '--json'])
    expect(made.code).toBe(0)
    const { session } = made.json() as { session: string }
    expect(session).toMatch(id)
    const [row] = run(['list', '--json']).json() as readonly Record<string, unknown>[]
    expect(row).toMatchObject({
      session,
      workspace,
      title: 'A title',
      titleBy: 'user',
      diverged: [],
      children: [],
    })
    for (const member of [
      ...[
        'createdAt',
        'updatedAt',
        'status',
        'reason',
        'events',
        'bytes',
        'branches',
        'usage',
        'activeTokens',
      ],
      ...[
        'lastAssistant',
        'lastReasoning',
        'lastRefusal',
        'lastTool',
        'processes',
        'origin',
        'forkedFrom',
        'startedBy',
      ],
    ])
      expect(row).toHaveProperty(member)
  })

  it('show 8 characters of an id to people, and the title', () => {
    const { run } = place()
    const { session } = sessionWith({ run }, ...talk)
    const { out } = run(['list'])
    expect(out).toContain(session.slice(0, 8))
    expect(out).not.toContain(session)
    expect(out).toContain('first question')
  })

  it('list the workspace, or with --all the store', () => {
    const { run, folder } = place()
    sessionWith({ run }, ...talk)
    expect(run(['list', '--json', '-w', folder]).json()).toEqual([])
    expect(run(['list', '--json', '--all', '-w', folder]).json()).toHaveLength(1)
    expect(run(['list', '-w', folder])).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('list --all'),
    })
  })

  it('filter by status, text and count', () => {
    const { run } = place()
    sessionWith({ run }, user('about apples'), { type: 'status', status: 'failed' })
    sessionWith({ run }, user('about pears'))
    const titles = (...args: string[]) =>
      (run(['list', '--json', ...args]).json() as readonly { title: string }[]).map(({ title }) => title)
    expect(titles()).toEqual(['about pears', 'about apples'])
    expect(titles('--search', 'APPLE')).toEqual(['about apples'])
    expect(titles('--status', 'failed')).toEqual(['about apples'])
    expect(titles('--limit', '1')).toEqual(['about pears'])
  })

  it('begin with a system message from a file or stdin', () => {
    const { run, folder } = place()
    writeFileSync(join(folder, 'system.md'), 'You are terse.')
    const session = run(['new', '--system', join(folder, 'system.md')]).out.trim()
    expect(run(['context', session]).json()).toEqual([{ role: 'system', content: 'You are terse.' }])
    const other = run(['new', '--system', '-'], { input: 'From stdin.' }).out.trim()
    expect(run(['context', other]).json()).toEqual([{ role: 'system', content: 'From stdin.' }])
  })
})

describe('show, log and context', () => {
  it('give the transcript with every member of the event', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    const shown = run(['show', session, '--json']).json() as readonly Record<string, unknown>[]
    expect(shown.map((message) => message.id)).toEqual(ids)
    expect(shown[0]).toMatchObject({
      role: 'user',
      content: 'first question',
      compacted: false,
      checkpoint: null,
      branch: 'main',
    })
    expect(run(['show', session]).out).toContain('second answer')
    expect(run(['show', session, '--at', ids[1] ?? '', '--json']).json()).toHaveLength(2)
  })

  it('hide hidden messages, but not with --all', () => {
    const { run } = place()
    const { session } = sessionWith({ run }, user('seen'), { ...user('unseen'), visible: false })
    expect(run(['show', session, '--json']).json()).toHaveLength(1)
    expect(run(['show', session, '--json', '--all']).json()).toHaveLength(2)
  })

  it('give the lines of the log as they are, newest first', () => {
    const { run, store } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    const lines = readFileSync(join(folderOf(store, session), 'data.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
    expect(run(['log', session, '--json']).out).toBe(`${lines.toReversed().join('\n')}\n`)
    const path = run(['log', session, '--json', '--at', ids[0] ?? ''])
      .out.trimEnd()
      .split('\n')
    expect(path).toEqual(
      lines.slice(0, lines.findIndex((line) => line.includes(`"id":"${ids[0]}"`)) + 1).toReversed(),
    )
    expect(run(['log', session]).out.split('\n')[0]).toContain('second answer')
  })

  it('give the context in each shape', () => {
    const { run } = place()
    const call = { id: 'c1', name: 'bash', arguments: '{"command":"ls"}' }
    const { session } = sessionWith({ run }, user('list files'), {
      type: 'message',
      role: 'assistant',
      content: null,
      toolCalls: [call],
    })
    const openai = run(['context', session]).json() as readonly Record<string, unknown>[]
    expect(openai[0]).toEqual({ role: 'user', content: 'list files' })
    expect(openai[2]).toMatchObject({
      role: 'tool',
      tool_call_id: 'c1',
      content: expect.stringContaining('not started'),
    })
    expect(run(['context', session, '--json']).json()).toEqual(openai)
    expect(run(['context', session, '--format', 'anthropic']).json()).toHaveProperty('messages')
    const plain = run(['context', session, '--format', 'plain']).out
    expect(plain).toMatch(/^user: list files\n/)
    expect(plain).toMatch(/^assistant: .*\n?→ \w+ /m)
    const array = run(['context', session, '--format', 'plain', '--json']).json() as readonly unknown[]
    expect(array[0]).toEqual({ role: 'user', content: 'list files' })
  })

  it('name events by prefix, @, @^, label and branch', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    run(['label', session, ids[1] ?? '', 'a place'])
    const at = (name: string) => (run(['show', session, '--json', '--at', name]).json() as unknown[]).length
    expect(at((ids[2] ?? '').slice(0, 12))).toBe(3)
    expect(at('@')).toBe(4)
    expect(at('@^')).toBe(3)
    expect(at('a place')).toBe(2)
    expect(at('main')).toBe(4)
  })
})

describe('undo, redo, checkout, branch and label', () => {
  it('list the targets, go back, and come back', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    const { targets } = run(['undo', session, '--json']).json() as {
      targets: readonly Record<string, unknown>[]
    }
    expect(targets.map(({ text }) => text)).toEqual(['first question', 'second question'])
    expect(membersOf(targets[0])).toEqual(['at', 'checkpoint', 'id', 'restorable', 'text', 'why'])
    const before = run(['context', session]).out
    expect(run(['undo', session, ids[2] ?? '', '--dry-run', '--json']).json()).toEqual({
      plan: [],
      head: ids[1],
    })
    expect(run(['context', session]).out).toBe(before)
    expect(run(['undo', session, ids[2] ?? '']).out).toBe('second question\n')
    expect(run(['context', session]).json()).toHaveLength(2)
    expect(run(['redo', session, '--json']).json()).toEqual({ head: ids[3] })
    expect(run(['context', session]).out).toBe(before)
  })

  it('say where the head is, in tree and out of it, without head events', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    expect(run(['undo', session, ids[2] ?? '', '--json']).json()).toMatchObject({ head: ids[1] })
    const tree = run(['tree', session, '--json']).json() as {
      head: string
      root: string
      branches: object[]
      nodes: object[]
    }
    expect(tree).toMatchObject({ head: ids[1], root: session })
    expect(tree.branches).toEqual([expect.objectContaining({ name: 'main', leaf: ids[3], diverged: false })])
    expect(membersOf(tree.branches[0])).toEqual(['diverged', 'events', 'leaf', 'name', 'updatedAt'])
    for (const member of ['id', 'parent', 'type', 'label']) expect(tree.nodes[0]).toHaveProperty(member)
    expect(run(['checkout', session, ids[0] ?? '', '--json']).json()).toEqual({ head: ids[0] })
    expect(run(['tree', session]).out).toContain('HEAD')
  })

  it('refuse a redo once the conversation went on, with exit 5 and the way back', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    run(['undo', session, ids[2] ?? ''])
    run(['append', session], { input: draftLines(user('another question')) })
    const { code, err } = run(['redo', session])
    expect(code).toBe(5)
    expect(err).toMatch(/coppice checkout/)
  })

  it('begin a branch, and list them', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    expect(run(['branch', session, 'other way', '--at', ids[1] ?? '', '--json']).json()).toEqual({
      branch: 'other way',
      id: expect.stringMatching(id),
    })
    const branches = run(['branch', session, '--json']).json() as readonly { name: string }[]
    expect(branches.map(({ name }) => name)).toEqual(['other way', 'main'])
    expect(run(['branch', session]).out).toMatch(/\* +other way/)
  })

  it('label a node, list labels, and take one away', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    expect(run(['label', session, '@', 'here', '--json']).json()).toEqual({ event: ids[3], label: 'here' })
    expect(run(['label', session, '--json']).json()).toEqual([
      { event: ids[3], label: 'here', at: expect.any(String) },
    ])
    run(['label', session, 'here', ''])
    expect(run(['label', session, '--json']).json()).toEqual([])
  })
})

describe('fork, compact, title and replay', () => {
  it('fork a session that begins with the path', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    const { session: fork } = run(['fork', session, '--at', ids[1] ?? '', '--json']).json() as {
      session: string
    }
    expect(fork).toMatch(id)
    expect(run(['context', fork]).json()).toEqual((run(['context', session]).json() as unknown[]).slice(0, 2))
    expect(run(['list', '--json']).json()).toContainEqual(
      expect.objectContaining({ session: fork, forkedFrom: { session, event: ids[1] } }),
    )
  })

  it('put a summary in place of what it covers', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    const done = run(['compact', session, '--summary', '-', '--through', ids[1] ?? '', '--json'], {
      input: 'What was said.\n',
    })
    expect(membersOf(done.json())).toEqual(['id', 'through', 'tokensAfter', 'tokensBefore'])
    const context = JSON.stringify(run(['context', session]).json())
    expect(context).toContain('What was said.')
    expect(context).not.toContain('first question')
    expect(
      (run(['show', session, '--json']).json() as readonly { compacted: boolean }[]).map(
        ({ compacted }) => compacted,
      ),
    ).toEqual([true, true, false, false])
  })

  it('name a session, and say its name', () => {
    const { run } = place()
    const { session } = sessionWith({ run }, ...talk)
    expect(run(['title', session, '--json']).json()).toEqual({ title: 'first question', by: null })
    expect(run(['title', session, 'A better one', '--json']).json()).toEqual({
      title: 'A better one',
      by: 'user',
    })
    expect(run(['title', session]).out).toBe('A better one\n')
  })

  it('fold the log to the same hash each time, at the end and on the way', () => {
    const { run } = place()
    const { session, ids } = sessionWith({ run }, ...talk)
    for (const projection of [
      'sessionIndex',
      'messages',
      'context',
      'usage',
      'tree',
      'undoTargets',
      'redoTargets',
      'compactions',
    ]) {
      const whole = run(['replay', session, '--projection', projection, '--json']).json() as Record<
        string,
        unknown
      >
      expect(membersOf(whole)).toEqual(['events', 'hash', 'projection', 'savedAgrees', 'state'])
      expect(whole).toMatchObject({
        projection,
        savedAgrees: true,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      const each = run([
        'replay',
        session,
        '--projection',
        projection,
        '--each',
        '--json',
      ]).json() as readonly Record<string, unknown>[]
      expect(each).toHaveLength(whole.events as number)
      expect(each.at(-1)).toMatchObject({ hash: whole.hash, state: whole.state })
      const to = run(['replay', session, '--projection', projection, '--to', ids[1] ?? '', '--json']).json()
      expect(to).toMatchObject({ hash: each.find(({ event }) => event === ids[1])?.hash })
    }
  })
})

describe('export, verify, stats and the archive', () => {
  it('write the log as it stands, once, readable by its owner alone', () => {
    const { run, store, workspace, folder } = place()
    const { session } = sessionWith({ run }, ...talk)
    const log = readFileSync(join(folderOf(store, session), 'data.jsonl'))
    const file = join(workspace, `coppice-${session.slice(0, 8)}.jsonl`)
    expect(run(['export', session, 'jsonl', '--json']).json()).toEqual({ path: file, notes: [] })
    expect(readFileSync(file).equals(log)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(run(['export', session, 'jsonl'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--force'),
    })
    expect(run(['export', session, 'jsonl', '--force']).code).toBe(0)
    expect(run(['export', session, 'jsonl', join(folder, 'a/b/c.jsonl')]).code).toBe(0)
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['c.jsonl'])
    expect(run(['export', session, 'jsonl', '-']).out).toBe(log.toString())
  })

  it('prove everything', () => {
    const { run } = place()
    const { session } = sessionWith({ run }, ...talk)
    const report = { sessions: 1, events: 5, problems: [], diverged: [], redacted: 0 }
    expect(run(['verify', '--json'])).toMatchObject({ code: 0 })
    expect(run(['verify', '--json']).json()).toEqual({ ...report, bytes: expect.any(Number) })
    expect(run(['verify', session, '--json']).json()).toMatchObject(report)
    expect(run(['verify', '--since', '1h', '--json']).json()).toMatchObject(report)
    expect(run(['reindex', '--json']).json()).toEqual({ sessions: 1 })
  })

  it('add up tokens by day, model and session', () => {
    const { run } = place()
    const usage = { input: 100, output: 10, cacheRead: 50, costUsd: 0.5 }
    const answer = { ...assistant('hi'), model: 'm1', usage, at: '2026-12-01T09:00:00.000Z' }
    const { session } = sessionWith({ run }, answer, { ...answer, at: '2026-12-01T09:00:01.000Z' })
    expect(run(['stats', '--json']).json()).toEqual([
      expect.objectContaining({
        day: '2026-12-01',
        model: 'm1',
        session,
        requests: 2,
        input: 200,
        output: 20,
        cacheRead: 100,
        costUsd: 1,
        cacheShare: 0.5,
      }),
    ])
    expect(run(['stats']).out).toContain('$1.00')
  })

  it('archive, bring back, delete and purge', () => {
    const { run } = place()
    const { session } = sessionWith({ run }, ...talk)
    const log = run(['log', session, '--json']).out
    expect(run(['archive', session, '--json']).json()).toEqual({ session })
    expect(run(['list', '--json']).json()).toEqual([])
    expect(run(['archive', '--json']).json()).toEqual([expect.objectContaining({ session })])
    expect(run(['unarchive', session, '--json']).json()).toMatchObject({ session })
    expect(run(['log', session, '--json']).out).toBe(log)
    expect(run(['delete', session]).code).toBe(0)
    expect(run(['archive', '--purge', '--older-than', '1d', '--json']).json()).toEqual({
      purged: [],
      copies: [],
    })
    expect(run(['archive', '--purge', '--json']).json()).toEqual({ purged: [session], copies: [] })
    expect(run(['unarchive', session]).code).toBe(3)
  })

  it('keep the newest', () => {
    const { run } = place()
    const { session: old } = sessionWith({ run }, user('old'))
    sessionWith({ run }, user('new'))
    expect(run(['prune', '--keep', '1', '--dry-run', '--json']).json()).toEqual({ pruned: [old] })
    expect(run(['list', '--json']).json()).toHaveLength(2)
    expect(run(['prune', '--keep', '1', '--json']).json()).toEqual({ pruned: [old] })
    expect(run(['list', '--json']).json()).toHaveLength(1)
  })

  it('follow a workspace that moved', () => {
    const { run, folder, workspace } = place()
    sessionWith({ run }, ...talk)
    expect(run(['relocate', workspace, folder, '--json']).json()).toEqual({ sessions: 1 })
    expect(run(['list', '--json', '-w', folder]).json()).toHaveLength(1)
    expect(run(['list', '--json']).json()).toEqual([])
  })
})

/** The folder of a session in a store. */
const folderOf = (store: string, session: string): string => {
  const projects = join(store, 'projects')
  const key = readdirSync(projects).find((name) => existsSync(join(projects, name, session)))
  return join(projects, key ?? '', session)
}
