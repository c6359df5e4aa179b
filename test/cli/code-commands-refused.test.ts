import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Agent } from './code.js'

describe('what cannot be recorded, or put back', () => {
  it('a pipe that is named is refused at once (exit 1), the rest is recorded', async () => {
    const agent = await Agent.ready()
    execFileSync('mkfifo', [agent.path('a pipe')])
    agent.write('a.ts', 'one')
    const ran = agent.run('checkpoint', agent.session, 'a pipe', 'a.ts', '--json')
    expect(ran.code).toBe(1)
    expect(ran.err).toBe('coppice: not recorded: a pipe: no file, but a pipe, a socket or a device\n')
    expect(ran.json()).toMatchObject({
      files: [{ path: 'a.ts', kind: 'file' }],
      failed: null,
      refused: [{ path: 'a pipe', why: 'no file, but a pipe, a socket or a device' }],
      unread: [],
    })
  })

  it('a preview names the words that help, and no others', async () => {
    const agent = await Agent.ready()
    agent.write('x', 'file')
    agent.write('y', 'file')
    const turn = await agent.prompt('first')
    await agent.edit('x', 'two')
    await agent.edit('y', 'two')
    execFileSync('rm', [agent.path('x')])
    agent.write('x/mine', 'mine')
    const last = (): string =>
      agent.done('undo', agent.session, turn, '--dry-run').out.split('\n').at(-2) ?? ''
    expect(last()).toBe('nothing would be changed because of 1 conflict: go on with --keep to leave it so')
    agent.write('y', 'by hand')
    expect(last()).toBe(
      'nothing would be changed because of 2 conflicts: go on with --keep to leave them; --force does not settle them all',
    )
    execFileSync('rm', ['-r', agent.path('x')])
    expect(last()).toBe(
      'nothing would be changed because of 1 conflict: go on with --force to restore these files too, or with --keep to leave them',
    )
  })

  it('a file written through a symlink that leads out of the workspace goes with --outside', async () => {
    const agent = await Agent.ready()
    const outside = `${agent.folder}/made later`
    symlinkSync(outside, agent.path('link'))
    const turn = await agent.prompt('first')
    await agent.tool(['link'], () => agent.write('link', 'text'))
    expect(agent.done('undo', agent.session, turn, '--dry-run', '--json').json()).toMatchObject({
      plan: [
        { path: outside, action: 'keep', why: expect.stringContaining('outside'), outside: true },
        { path: 'link', action: 'keep', why: null, outside: false },
      ],
    })
    agent.done('undo', agent.session, turn, '--outside')
    expect(() => agent.read(outside)).toThrow('ENOENT')
    expect(agent.tree()).toEqual({ link: `-> ${outside}` })
  })
})
