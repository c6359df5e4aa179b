import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Agent } from './code.js'

describe('an undo of code', () => {
  it('leaves files that the agent never touched: deleted ones stay deleted, new ones stay', async () => {
    const agent = new Agent()
    agent.write('old.txt', 'old')
    agent.write('a.ts', 'one')
    const turn = await agent.prompt('change a')
    agent.toolByCommand(['a.ts'], () => agent.write('a.ts', 'two'))
    fs.rmSync(agent.path('old.txt'))
    agent.write('mine.txt', 'mine')
    const { code, out } = agent.undo(turn)
    expect({ code, out }).toEqual({ code: 0, out: 'change a\n' })
    expect(agent.tree()).toEqual({ 'a.ts': '644 one', 'mine.txt': '644 mine' })
    expect(fs.existsSync(agent.path('.git'))).toBe(false)
  })

  it('removes a file that the first edit of the turn made, and redo brings it back', async () => {
    const agent = new Agent()
    const turn = await agent.prompt()
    await agent.edit('src/deep/new.ts', 'fresh')
    expect(agent.actions('undo', agent.session, turn, '--dry-run')).toEqual({ 'src/deep/new.ts': 'delete' })
    expect(agent.tree()).toEqual({ 'src/deep/new.ts': '644 fresh' })
    expect(agent.undo(turn).code).toBe(0)
    expect(fs.readdirSync(agent.workspace)).toEqual([])
    expect(agent.run('redo', agent.session).code).toBe(0)
    expect(agent.tree()).toEqual({ 'src/deep/new.ts': '644 fresh' })
  })

  it('brings back a rename, a lost mode and a file of 1.1 MB that was cut off', async () => {
    const agent = new Agent()
    const big = Buffer.alloc(1_100_000, 'a line of text\r\n')
    agent.write('before.ts', 'text')
    agent.write('run.sh', '#!/bin/sh\n', 0o755)
    agent.write('big.txt', big)
    const before = agent.tree()
    const turn = await agent.prompt()
    await agent.tool(['before.ts', 'after.ts', 'run.sh', 'big.txt'], () => {
      fs.renameSync(agent.path('before.ts'), agent.path('after.ts'))
      agent.write('run.sh', '#!/bin/bash\n', 0o644)
      agent.write('big.txt', big.subarray(0, 1 << 20))
    })
    const after = agent.tree()
    expect(agent.undo(turn).code).toBe(0)
    expect(agent.tree()).toEqual(before)
    expect(agent.run('redo', agent.session).code).toBe(0)
    expect(agent.tree()).toEqual(after)
  })

  it('touches in a home folder only what tools changed, and does not track it as a whole', async () => {
    const agent = new Agent()
    const inHome = { env: { HOME: agent.workspace } }
    agent.write('.ssh/id', 'key')
    agent.write('a.ts', 'one')
    const refused = agent.runWith(inHome, 'new', '--track', 'workspace')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toMatch(/^coppice: [^\n]*home folder[^\n]*\n$/)
    agent.env.HOME = agent.workspace
    const turn = await agent.prompt()
    await agent.edit('a.ts', 'two')
    agent.write('.ssh/id', 'another key')
    expect(agent.undo(turn).code).toBe(0)
    expect(agent.tree()).toEqual({ '.ssh/id': '644 another key', 'a.ts': '644 one' })
  })

  it('asks for a word before it writes through a symlink out of the workspace', async () => {
    const agent = new Agent()
    const outside = join(agent.folder, 'elsewhere.txt')
    fs.writeFileSync(outside, 'one')
    fs.symlinkSync(outside, agent.path('link'))
    const turn = await agent.prompt()
    await agent.tool(['link'], () => fs.writeFileSync(agent.path('link'), 'two'))
    expect(agent.actions('undo', agent.session, turn, '--dry-run')).toEqual({ [outside]: 'keep' })
    const { code, err } = agent.undo(turn)
    expect(code).toBe(0)
    expect(err).toContain(`left as it is: ${outside}`)
    expect(fs.readFileSync(outside, 'utf8')).toBe('two')
    expect(agent.run('redo', agent.session).code).toBe(0)
    expect(agent.undo(turn, '--outside').code).toBe(0)
    expect(fs.readFileSync(outside, 'utf8')).toBe('one')
    expect(fs.readlinkSync(agent.path('link'))).toBe(outside)
  })
})

describe('a file that the user changed after the agent', () => {
  const changedByHand = async (): Promise<{ readonly agent: Agent; readonly turn: string }> => {
    const agent = new Agent()
    agent.write('a.ts', 'one')
    agent.write('b.ts', 'one')
    const turn = await agent.prompt('both')
    await agent.tool(['a.ts', 'b.ts'], () => {
      agent.write('a.ts', 'two')
      agent.write('b.ts', 'two')
    })
    agent.write('a.ts', 'by hand')
    return { agent, turn }
  }

  it('is a conflict: neither files nor head change, and the plan says why (exit 5)', async () => {
    const { agent, turn } = await changedByHand()
    const [tree, log] = [agent.tree(), agent.run('log', agent.session, '--json').out]
    const people = agent.undo(turn)
    expect(people.code).toBe(5)
    expect(people.out).toMatch(/^conflict {2}a\.ts {2}changed since its last checkpoint\nchange {4}b\.ts\n$/)
    expect(people.err).toMatch(/^coppice: a\.ts would be overwritten [^\n]*--force[^\n]*--keep[^\n]*\n$/)
    const programs = agent.undo(turn, '--json')
    expect(programs.code).toBe(5)
    expect(programs.json()).toMatchObject({
      plan: [
        { path: 'a.ts', action: 'conflict', why: 'changed since its last checkpoint', outside: false },
        { path: 'b.ts', action: 'change', why: null, outside: false },
      ],
    })
    const [, error = ''] = programs.err.split('\n')
    expect(JSON.parse(error)).toMatchObject({ error: { tag: 'RestoreConflict' } })
    expect(agent.tree()).toEqual(tree)
    expect(agent.run('log', agent.session, '--json').out).toBe(log)
  })

  it('stays with --keep, the rest goes back', async () => {
    const { agent, turn } = await changedByHand()
    const { code, out, err } = agent.undo(turn, '--keep')
    expect({ code, out }).toEqual({ code: 0, out: 'both\n' })
    expect(err).toContain('left as it is: a.ts: changed since its last checkpoint')
    expect(agent.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 one' })
    expect(agent.run('redo', agent.session).code).toBe(0)
    expect(agent.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 two' })
  })

  it("goes back with --force, and redo brings the user's bytes again", async () => {
    const { agent, turn } = await changedByHand()
    expect(agent.undo(turn, '--force').code).toBe(0)
    expect(agent.tree()).toEqual({ 'a.ts': '644 one', 'b.ts': '644 one' })
    expect(agent.run('redo', agent.session).code).toBe(0)
    expect(agent.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 two' })
  })
})

it('two sessions in one workspace: the undo in one does not revert what the other wrote', async () => {
  const agent = new Agent()
  const other = agent.another()
  agent.write('a.ts', 'one')
  const turn = await agent.prompt()
  await agent.edit('a.ts', 'two')
  await other.edit('a.ts', 'three')
  await agent.prompt('noticed')
  const { code, out } = agent.undo(turn)
  expect(code).toBe(5)
  expect(out).toContain(`conflict  a.ts  session ${other.session} wrote it since`)
  expect(agent.read('a.ts')).toBe('three')
})

it('with the whole workspace tracked, what a shell command did goes back without a tool that says so', async () => {
  const agent = new Agent({}, ['--track', 'workspace'])
  agent.write('.gitignore', '*.log\n')
  agent.write('src/a.ts', 'one')
  agent.write('src/b.ts', 'one')
  agent.write('noise.log', 'one')
  const turn = await agent.prompt('use the shell')
  fs.rmSync(agent.path('src/b.ts'))
  agent.write('src/a.ts', 'two')
  agent.write('src/c.ts', 'new')
  agent.write('noise.log', 'two')
  const before = agent.tree()
  agent.done('checkpoint', agent.session, '--reason', 'after-tool')
  expect(agent.undo(turn).code).toBe(0)
  expect(agent.tree()).toEqual({
    '.gitignore': '644 *.log\n',
    'noise.log': '644 two',
    'src/a.ts': '644 one',
    'src/b.ts': '644 one',
  })
  expect(agent.run('redo', agent.session).code).toBe(0)
  expect(agent.tree()).toEqual(before)
})
