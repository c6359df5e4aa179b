import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { git, hasGit, noGit } from '../checkpoints/desk.js'
import { Agent } from './code.js'

beforeEach((context) => {
  if (!hasGit) context.skip(noGit)
})

/** A workspace that is a git repository with all that could get in the way; `ran`: what its hooks write to. */
const inRepository = (options: readonly string[]): { readonly agent: Agent; readonly ran: string } => {
  const agent = new Agent({}, options)
  const { workspace } = agent
  const ran = join(agent.folder, 'ran')
  git(workspace, 'init', '-q')
  agent.write('.gitattributes', '* text=auto eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n')
  agent.write('crlf.txt', 'a\r\nb\r\n')
  agent.write('lf.txt', 'a\nb\n')
  agent.write('data.bin', Buffer.from([0, 1, 2, 13, 10]))
  git(workspace, 'config', 'filter.lfs.clean', 'echo cleaned')
  git(workspace, 'config', 'filter.lfs.smudge', 'echo smudged')
  git(workspace, 'config', 'filter.lfs.required', 'true')
  git(workspace, 'add', '.')
  git(workspace, 'commit', '-qm', 'first')
  for (const hook of ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction'])
    agent.write(`.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> '${ran}'\n`, 0o755)
  agent.write('staged.txt', 'staged')
  git(workspace, 'add', 'staged.txt')
  agent.write('staged.txt', 'staged, and changed since')
  agent.write('lf.txt', 'a\nb\ndirty\n')
  agent.write('untracked.txt', 'untracked')
  fs.rmSync(ran, { force: true })
  return { agent, ran }
}

/** Every file of the repository itself (index, refs, configuration, objects), the workspace's, and what git says of them. */
const stateOf = (agent: Agent): { readonly tree: Record<string, string>; readonly status: string } => ({
  tree: agent.tree(),
  // Else git itself would write what it saw into the index.
  status: git(agent.workspace, '--no-optional-locks', 'status', '--porcelain'),
})

const repositoryIn = ({ tree }: { readonly tree: Record<string, string> }): Record<string, string> =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => name.startsWith('.git/')))

describe("a workspace that is a git repository of the user's", () => {
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ['files that tools name', []],
    ['the whole workspace', ['--track', 'workspace']],
  ]
  it.each(ways)('stays as it is through checkpoints, undo and redo, tracking %s', async (_what, options) => {
    const { agent, ran } = inRepository(options)
    const before = stateOf(agent)
    expect(before.status.split('\n').sort()).toEqual(['', ' M lf.txt', '?? untracked.txt', 'AM staged.txt'])
    const turn = await agent.prompt()
    await agent.tool(['crlf.txt', 'data.bin', 'lf.txt', 'new.txt', 'staged.txt'], () => {
      agent.write('crlf.txt', 'changed\n')
      agent.write('data.bin', 'changed')
      agent.write('lf.txt', 'changed\r\n')
      agent.write('new.txt', 'new')
      fs.rmSync(agent.path('staged.txt'))
    })
    const changed = stateOf(agent)
    expect(repositoryIn(changed)).toEqual(repositoryIn(before))
    agent.done('undo', agent.session, turn)
    expect(stateOf(agent)).toEqual(before)
    agent.done('redo', agent.session)
    expect(stateOf(agent)).toEqual(changed)
    expect(fs.existsSync(ran)).toBe(false)
  })

  it('keeps what lies in its .git out of every checkpoint, and says so', async () => {
    const { agent } = inRepository([])
    const { code, err } = agent.run('checkpoint', agent.session, '.git/config', 'lf.txt')
    expect(code).toBe(1)
    expect(err).toMatch(/^coppice: not recorded: [^\n]*\.git\/config: it is in a \.git[^\n]*\n$/)
    const files = git(agent.repository, 'ls-tree', '-r', '--name-only', agent.session)
    expect(files).toBe('workspace/lf.txt\n')
  })
})

describe('the repository of the checkpoints', () => {
  it('is one that git reads: fsck is content, and log tells the work', async () => {
    const agent = new Agent()
    agent.write('src/login.ts', 'const tries = 3\n')
    const turn = await agent.prompt()
    await agent.edit('src/login.ts', 'const tries = 5\n')
    await agent.edit('run.sh', '#!/bin/sh\n', 0o755)
    agent.done('undo', agent.session, turn)
    await agent.prompt()
    await agent.edit('src/login.ts', 'const tries = 7\n')
    const fsck = (): string => git(agent.repository, 'fsck', '--strict', '--full', '--no-dangling')
    expect(fsck()).toBe('')
    const log = git(agent.repository, 'log', '-p', agent.session)
    expect(log).toContain('+++ b/workspace/src/login.ts')
    for (const tries of [3, 5, 7]) expect(log).toContain(`const tries = ${tries}`)
    const shown = git(agent.repository, 'show', `${agent.session}:workspace/src/login.ts`)
    expect(shown).toBe('const tries = 7\n')
    agent.done('gc')
    expect(fsck()).toBe('')
    expect(git(agent.repository, 'log', '-p', agent.session)).toBe(log)
    expect(agent.read('src/login.ts')).toBe('const tries = 7\n')
  })
})
