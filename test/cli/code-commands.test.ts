import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { checkpointReasons } from '../../src/cli/table.js'
import { openStore } from '../../src/session/store/store.js'
import { Agent } from './code.js'
import { draftLines, user } from './coppice.js'

interface CheckpointJson {
  readonly id: string | null
  readonly commit: string | null
  readonly reason?: string
  readonly files: readonly { readonly path: string; readonly kind: string }[]
  readonly failed: string | null
}

const checkpointed = (agent: Agent, ...args: readonly string[]): CheckpointJson =>
  agent.done('checkpoint', agent.session, ...args, '--json').json() as CheckpointJson

const checkpointsOf = (agent: Agent): readonly CheckpointJson[] =>
  agent.done('checkpoints', agent.session, '--json').json() as readonly CheckpointJson[]

describe('checkpoint', () => {
  it('takes paths relative to the current folder, records a missing file as absent, and every tracked one without paths', async () => {
    const agent = new Agent()
    agent.write('src/a.ts', 'one')
    const first = agent.runWith(
      { cwd: agent.path('src') },
      'checkpoint',
      agent.session,
      'a.ts',
      '../gone.ts',
      '--json',
    )
    expect(first).toMatchObject({ code: 0, err: '' })
    const { id, commit, files, failed } = first.json() as CheckpointJson
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect(failed).toBeNull()
    expect(files.map(({ path, kind }) => [path, kind])).toEqual([
      ['gone.ts', 'absent'],
      ['src/a.ts', 'file'],
    ])
    agent.write('src/a.ts', 'two')
    expect(checkpointed(agent).files.map(({ path }) => path)).toEqual(['src/a.ts'])
    expect(checkpointsOf(agent).map(({ reason }) => reason)).toEqual(['manual', 'manual'])
  })

  it('takes every reason, and without a change writes an event only where it was asked for by hand', async () => {
    const agent = await Agent.ready()
    for (const [i, reason] of checkpointReasons.entries()) {
      agent.write('a.ts', `version ${i}`)
      checkpointed(agent, 'a.ts', '--reason', reason)
    }
    expect(checkpointsOf(agent).map((row) => row.reason)).toEqual(checkpointReasons)
    expect(agent.done('checkpoint', agent.session, '--reason', 'after-tool').out).toBe('nothing changed\n')
    expect(agent.done('checkpoint', agent.session).out).toMatch(/^[0-9a-f]{32}\n$/)
  })

  it('exits 2 for a reason that is none, 3 for a session that is not there', async () => {
    const agent = await Agent.ready()
    expect(agent.run('checkpoint', agent.session, '--reason', 'because')).toMatchObject({ code: 2, out: '' })
    for (const command of ['checkpoint', 'checkpoints', 'redo', 'undo', 'du', 'gc'])
      expect(agent.run(command, 'abcdef01'), command).toMatchObject({ code: 3, out: '' })
    expect(agent.run('diff', agent.session, 'abcdef01')).toMatchObject({ code: 3, out: '' })
    expect(agent.run('checkout', agent.session, 'abcdef01', '--code')).toMatchObject({ code: 3, out: '' })
  })
})

describe('a checkpoint that fails', () => {
  it('exits 1 and says why, is an event that undo lists, and does not stop the conversation', async () => {
    const agent = await Agent.ready()
    await agent.edit('a.ts', 'one')
    agent.write('a.ts', randomBytes(200_000))
    const { code, out, err } = agent.runWithoutRoom('', 'checkpoint', agent.session, 'a.ts')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^coppice: no checkpoint was taken \([^\n]+\): [^\n]+\n$/)
    const prompted = agent.runWithoutRoom(draftLines(user('go on')), 'append', agent.session)
    expect(prompted).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^[0-9a-f]{32}\n$/) })
    const failed = checkpointsOf(agent).slice(-2)
    expect(failed.map(({ reason, commit, files }) => ({ reason, commit, files }))).toEqual([
      { reason: 'manual', commit: null, files: [] },
      { reason: 'prompt', commit: null, files: [] },
    ])
    expect(agent.done('undo', agent.session).out.match(/checkpoint failed: ./g)).toHaveLength(2)
    expect(agent.done('undo', agent.session, '--json').json()).toMatchObject({
      failed: failed.map((row) => ({ id: row.id, failed: row.failed })),
    })
  })
})

describe('a tracked file that cannot be read at a prompt', () => {
  it('is named by the lists of checkpoints and of undo targets', async () => {
    const agent = await Agent.ready()
    await agent.edit('a.ts', 'one')
    await agent.edit('secret', 'one')
    agent.write('secret', 'two')
    const open: typeof nodeWorkFs.open = (path, mode) => {
      if (path.endsWith('secret')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
      return nodeWorkFs.open(path, mode)
    }
    const store = await openStore(agent.store, { durability: 'none', work: { ...nodeWorkFs, open } })
    const session = await store.open(agent.session)
    await session.append({ type: 'message', role: 'user', content: 'first' })
    agent.write('a.ts', 'two')
    await session.append({ type: 'message', role: 'user', content: 'second' })
    session.close()
    store.close()
    const why = 'cannot be read (EACCES)'
    expect(agent.done('undo', agent.session, '--json').json()).toMatchObject({
      failed: [{ reason: 'prompt', failed: `secret: ${why}` }],
      unread: [{ reason: 'prompt', unread: [{ path: 'secret', why }] }],
    })
    const { out } = agent.done('undo', agent.session)
    expect(out).toContain(`checkpoint failed: secret: ${why}`)
    expect(out).toContain(`not recorded: secret: ${why}`)
    expect(agent.done('checkpoints', agent.session).out).toContain('not read: secret')
  })
})

describe('append', () => {
  it('takes one checkpoint before a user message where tracked files changed, and writes nothing else of its own', async () => {
    const agent = await Agent.ready()
    await agent.edit('a.ts', 'one')
    agent.write('a.ts', 'by hand')
    await agent.prompt('one')
    await agent.prompt('two')
    const types = agent.done('log', agent.session, '--json').out.trimEnd().split('\n')
    const logged = types.map(
      (line) => JSON.parse(line) as { readonly type: string; readonly reason?: string },
    )
    expect(logged.map(({ type, reason }) => reason ?? type).reverse()).toEqual([
      'session',
      'before-tool',
      'after-tool',
      'prompt',
      'message',
      'message',
    ])
  })

  it('tells the model of what the user changed with --notice, hidden from people', async () => {
    const agent = await Agent.ready()
    await agent.edit('a.ts', 'one\n')
    agent.write('a.ts', 'by hand\n')
    const input = draftLines(user('go on'))
    expect(agent.runWith({ input }, 'append', agent.session, '--notice').out.trim()).toMatch(/^[0-9a-f]{32}$/)
    const context = agent.done('context', agent.session).json() as readonly {
      readonly role: string
      readonly content: string
    }[]
    expect(context.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(context[0]?.content).toContain('a.ts')
    expect(context[0]?.content).toContain('+by hand')
    expect(agent.done('show', agent.session).out).not.toContain('by hand')
  })
})

describe('undo, redo and checkout of code', () => {
  it('lists with each prompt whether the code can go back', async () => {
    const agent = await Agent.ready()
    const first = await agent.prompt('first')
    expect(agent.done('undo', agent.session).out).toMatch(
      /^[0-9a-f]{8} {5}now {5}– {2}first\n–: the conversation alone goes back: no code checkpoint [^\n]*\n$/,
    )
    await agent.edit('a.ts', 'one')
    const second = await agent.prompt('second')
    const { out } = agent.done('undo', agent.session)
    expect(out).toBe(
      `${first.slice(0, 8)}     now  code  first\n${second.slice(0, 8)}     now  code  second\n`,
    )
  })

  it('--conversation leaves the files, --code the conversation', async () => {
    const agent = await Agent.ready()
    agent.write('a.ts', 'one')
    const turn = await agent.prompt('first')
    await agent.edit('a.ts', 'two')
    const code = agent.done('undo', agent.session, turn, '--code', '--json').json()
    expect(code).toMatchObject({ prompt: null, files: [{ path: 'a.ts', action: 'change' }] })
    expect(agent.read('a.ts')).toBe('one')
    expect(agent.done('context', agent.session).json()).toHaveLength(1)
    await agent.edit('a.ts', 'three')
    const conversation = agent.done('undo', agent.session, turn, '--conversation', '--json').json()
    expect(conversation).toEqual({ head: agent.session, prompt: 'first' })
    expect(agent.read('a.ts')).toBe('three')
    expect(agent.done('context', agent.session).json()).toEqual([])
  })

  it('--dry-run says what would be done and does nothing', async () => {
    const agent = await Agent.ready()
    agent.write('a.ts', 'one')
    agent.write('same.ts', 'same')
    const turn = await agent.prompt('first')
    await agent.tool(['a.ts', 'b.ts', 'same.ts'], () => {
      agent.write('a.ts', 'two')
      agent.write('b.ts', 'new')
    })
    const log = agent.done('log', agent.session, '--json').out
    const tree = agent.tree()
    const people = agent.done('undo', agent.session, turn, '--dry-run').out
    const head = agent.session.slice(0, 8)
    expect(people).toBe(
      `change    a.ts\ndelete    b.ts\n1 tracked file stays as it is\nthe head would move to ${head}\n`,
    )
    expect(agent.done('undo', agent.session, turn, '--dry-run', '--json').json()).toEqual({
      plan: [
        { path: 'a.ts', action: 'change', why: null, outside: false },
        { path: 'b.ts', action: 'delete', why: null, outside: false },
        { path: 'same.ts', action: 'keep', why: null, outside: false },
      ],
      head: agent.session,
    })
    expect(agent.tree()).toEqual(tree)
    expect(agent.done('log', agent.session, '--json').out).toBe(log)
  })

  it('checkout --code moves both to any node and back; without --code the files stay', async () => {
    const agent = await Agent.ready()
    agent.write('a.ts', 'one')
    const first = await agent.prompt('first')
    await agent.edit('a.ts', 'two')
    const second = await agent.prompt('second')
    expect(agent.done('checkout', agent.session, first, '--json').json()).toEqual({ head: first })
    expect(agent.read('a.ts')).toBe('two')
    agent.done('checkout', agent.session, second)
    expect(agent.actions('checkout', agent.session, first, '--code', '--dry-run')).toEqual({
      'a.ts': 'change',
    })
    expect(agent.done('checkout', agent.session, first, '--code').out).toBe(
      `head is now ${first.slice(0, 8)}\nchanged   a.ts\n`,
    )
    expect(agent.read('a.ts')).toBe('one')
    agent.write('a.ts', 'by hand')
    expect(agent.run('checkout', agent.session, second, '--code').code).toBe(5)
    expect(agent.run('checkout', agent.session, second, '--code', '--force').code).toBe(0)
    expect(agent.read('a.ts')).toBe('two')
  })

  it('redo previews too, and stops at a conflict', async () => {
    const agent = await Agent.ready()
    agent.write('a.ts', 'one')
    const turn = await agent.prompt('first')
    await agent.edit('a.ts', 'two')
    agent.done('undo', agent.session, turn)
    expect(agent.actions('redo', agent.session, '--dry-run')).toEqual({ 'a.ts': 'change' })
    agent.write('a.ts', 'by hand')
    const preview = agent.done('redo', agent.session, '--dry-run').out
    expect(preview).toMatch(
      /\nnothing would be changed because of 1 conflict: go on with --force[^\n]*--keep[^\n]*\n$/,
    )
    const { code, out } = agent.run('redo', agent.session)
    expect({ code, out }).toEqual({ code: 5, out: expect.stringMatching(/^conflict {2}a\.ts {2}/) })
    expect(agent.read('a.ts')).toBe('by hand')
    agent.done('redo', agent.session, '--force')
    expect(agent.read('a.ts')).toBe('two')
    expect(agent.run('redo', agent.session).code).not.toBe(0)
  })

  it('are wrong usage with words that exclude each other, or that are about files where none would move', async () => {
    const agent = await Agent.ready()
    const turn = await agent.prompt()
    for (const [command = '', ...options] of [
      ['undo', turn, '--force', '--keep'],
      ['undo', turn, '--code', '--both'],
      ['undo', turn, '--conversation', '--force'],
      ['redo', '--force', '--keep'],
      ['checkout', turn, '--keep'],
    ]) {
      const { code, out, err } = agent.run(command, agent.session, ...options)
      expect({ code, out }, `${command} ${options}`).toEqual({ code: 2, out: '' })
      expect(err).toMatch(/^coppice: [^\n]+\n$/)
    }
  })
})

describe('diff', () => {
  it('is a unified diff as git writes it; without B it ends at the head; binary files are named', async () => {
    const agent = await Agent.ready()
    agent.write('a.ts', 'one\ntwo\n')
    const turn = await agent.prompt()
    await agent.tool(['a.ts', 'b.bin'], () => {
      agent.write('a.ts', 'one\n2\n')
      agent.write('b.bin', Buffer.from([0, 1]))
    })
    const text = [
      'diff --git a/a.ts b/a.ts',
      '--- a/a.ts',
      '+++ b/a.ts',
      '@@ -1,2 +1,2 @@',
      ' one',
      '-two',
      '+2',
      '',
    ].join('\n')
    const { out } = agent.done('diff', agent.session, turn)
    expect(out.startsWith(text)).toBe(true)
    expect(out).toContain('Binary files /dev/null and b/b.bin differ\n')
    expect(agent.done('diff', agent.session, turn, '@').out).toBe(out)
    expect(agent.done('diff', agent.session, '@', turn).out).toContain('+two\n')
    expect(agent.done('diff', agent.session, '@', '@').out).toBe('')
    expect(agent.done('diff', agent.session, turn, '--stat').out).toBe(
      ' a.ts  |   2 +-\n b.bin | Bin\n 2 files changed, 1 insertion(+), 1 deletion(-)\n',
    )
    expect(agent.done('diff', agent.session, turn, '--json').json()).toEqual([
      { path: 'a.ts', status: 'modified', binary: false, added: 1, removed: 1, diff: text },
      { path: 'b.bin', status: 'added', binary: true, added: 0, removed: 0, diff: expect.any(String) },
    ])
  })
})

describe('du and gc', () => {
  it('tell what the code takes by session, and free what a purged one alone led to', async () => {
    const agent = await Agent.ready()
    const gone = agent.another()
    await agent.edit('a.ts', 'kept\n')
    await gone.edit('big.txt', 'x'.repeat(50_000))
    await gone.edit('big.txt', Array.from({ length: 5000 }, (_, i) => `${i * 7919}`).join('\n'))
    const before = agent.done('du', '--json').json() as {
      readonly sessions: readonly { readonly session: string; readonly ownCode: number }[]
      readonly workspaces: readonly { readonly code: number; readonly unreached: number }[]
    }
    const own = new Map(before.sessions.map(({ session, ownCode }) => [session, ownCode]))
    expect(own.get(gone.session)).toBeGreaterThan(own.get(agent.session) ?? 0)
    expect(before.workspaces[0]).toMatchObject({ unreached: 0 })
    agent.done('delete', gone.session)
    agent.done('archive', '--purge')
    const text = agent.done('du').out
    expect(text).toContain(agent.session.slice(0, 8))
    expect(text).toContain('`coppice gc` frees them')
    const dry = agent.done('gc', '--dry-run', '--json').json() as {
      readonly freed: readonly { readonly freedObjects: number }[]
    }
    expect(dry.freed[0]?.freedObjects).toBeGreaterThan(0)
    expect(agent.done('gc').out).toMatch(/ freed in 1 workspace\n$/)
    const after = agent.done('du', '--json').json() as typeof before
    expect(after.workspaces[0]?.unreached).toBe(0)
    expect(after.workspaces[0]?.code).toBeLessThan(before.workspaces[0]?.code ?? 0)
    expect(agent.done('checkpoints', agent.session).code).toBe(0)
  })

  it('say which workspace has checkpoints that cannot be read, and so do undo and verify', async () => {
    const agent = await Agent.ready()
    const prompt = await agent.prompt('first')
    await agent.edit('a.ts', 'one')
    const packs = join(agent.repository, 'objects', 'pack')
    rmSync(packs, { recursive: true })
    writeFileSync(packs, 'no folder')
    const du = agent.run('du')
    expect(du).toMatchObject({ code: 1, out: expect.stringContaining(agent.session.slice(0, 8)) })
    expect(du.err).toMatch(/^coppice: code not counted: [^\n]*ENOTDIR[^\n]*\n$/)
    const gc = agent.run('gc')
    expect(gc).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^coppice: not packed: [^\n]*ENOTDIR[^\n]*\n$/),
    })
    const undo = agent.done('undo', agent.session).out
    expect(undo).toContain(`${prompt.slice(0, 8)}     now     –  first\n`)
    expect(undo).toContain('the checkpoints cannot be read (ENOTDIR')
    const verified = agent.run('verify')
    expect(verified.code).toBe(4)
    expect(verified.out).toContain('checkpoint-damaged')
  })

  it('say nothing wrong of a store without code', async () => {
    const agent = await Agent.ready()
    expect(agent.done('gc', '--json').json()).toEqual({ freed: [], failed: [] })
    expect(agent.done('du', '--json').json()).toMatchObject({ sessions: [{ code: 0, checkpoints: 0 }] })
  })
})

describe('names of files', () => {
  const names = ['new\nline.ts', 'esc\x1b[31m.ts', '漢字.ts', 'rtl\u202e.ts', ' blank ', '-dash', 'quote".ts']

  it('of any kind go there and back, and cannot command a terminal', async () => {
    const agent = await Agent.ready()
    const turn = await agent.prompt()
    await agent.tool(
      names.map((name) => `./${name}`),
      () => {
        for (const name of names) agent.write(name, 'x\x1b[2J\n')
      },
    )
    const outputs = [
      agent.done('checkpoints', agent.session),
      agent.done('undo', agent.session, turn, '--dry-run'),
      agent.done('diff', agent.session, turn, '--stat'),
    ]
    for (const { out, err } of outputs) expect(out + err).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
    expect(outputs[1]?.out.trimEnd().split('\n')).toHaveLength(names.length + 1)
    const { plan } = agent.done('undo', agent.session, turn, '--dry-run', '--json').json() as {
      readonly plan: readonly { readonly path: string }[]
    }
    expect(plan.map(({ path }) => path).sort()).toEqual([...names].sort())
    agent.done('undo', agent.session, turn)
    expect(agent.tree()).toEqual({})
    agent.done('redo', agent.session)
    expect(Object.keys(agent.tree()).sort()).toEqual([...names].sort())
  })
})
