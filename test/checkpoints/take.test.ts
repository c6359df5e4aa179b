import * as fs from 'node:fs'
import { join } from 'node:path'
import git from 'isomorphic-git'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CheckpointPayload } from '../../src/checkpoints/take.js'
import type { FileRecord } from '../../src/events/file-record.js'
import { Desk, done, hasGit, noGit, git as runGit, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

const filesOf = (checkpoint: CheckpointPayload | null): readonly FileRecord[] => {
  if (checkpoint === null || 'failed' in checkpoint)
    throw new Error(`no checkpoint: ${JSON.stringify(checkpoint)}`)
  return checkpoint.files
}

test('nothing changed: no event; nothing tracked: no event', async () => {
  expect((await talk.take('prompt')).checkpoint).toBeNull()
  await talk.edit('a.ts', 'one')
  expect((await talk.take('prompt')).checkpoint).toBeNull()
  desk.write('a.ts', 'one')
  expect((await talk.take('prompt')).checkpoint).toBeNull()
})

test('an unchanged tree makes no commit: a checkpoint by hand names the one before', async () => {
  await talk.edit('a.ts', 'one')
  const { commit } = talk.state()
  expect((await talk.take('manual')).checkpoint).toEqual({ commit, reason: 'manual', files: [] })
})

test('a file that is not there is recorded as absent, then as it is made', async () => {
  await talk.take('before-tool', { paths: ['a.ts'], toolCallId: 'call-1' })
  expect(talk.lastTaken?.checkpoint).toMatchObject({
    reason: 'before-tool',
    toolCallId: 'call-1',
    files: [{ path: 'workspace/a.ts', kind: 'absent' }],
  })
  desk.write('a.ts', 'one', 0o640)
  const taken = await talk.take('after-tool', { paths: ['a.ts'] })
  expect(filesOf(taken.checkpoint)).toEqual([
    { path: 'workspace/a.ts', kind: 'file', mode: 0o640, oid: expect.any(String), bytes: 3 },
  ])
})

test('what the user changed is in the next checkpoint, of all that is tracked and no more', async () => {
  await talk.edit('a.ts', 'one')
  await talk.edit('b.ts', 'one')
  desk.write('a.ts', 'by hand')
  desk.remove('b.ts')
  desk.write('c.ts', 'untracked')
  const { checkpoint } = await talk.take('prompt')
  expect(filesOf(checkpoint).map(({ path, kind }) => [path, kind])).toEqual([
    ['workspace/a.ts', 'file'],
    ['workspace/b.ts', 'absent'],
  ])
})

test('what lies in a .git, or belongs to the store, is refused with the reason', async () => {
  const inStore = join(desk.root, 'store', 'x')
  const taken = await talk.take('before-tool', {
    paths: ['.git/config', 'sub/.GIT/hooks/x', 'git~1', '.git ', inStore, 'nul\0', 'lone\ud800'],
  })
  expect(taken.checkpoint).toBeNull()
  expect(taken.refused.map(({ why }) => why)).toEqual([
    'it is in a .git, which belongs to git',
    'it is in a .git, which belongs to git',
    'it is in a .git, which belongs to git',
    'it is in a .git, which belongs to git',
    'it belongs to the store',
    'no file has such a name',
    'its name is not UTF-8',
  ])
})

test('a file that cannot be read fails the checkpoint that was to hold it; else its last record stands', async () => {
  const { nodeWorkFs } = await import('../../src/checkpoints/node-work-fs.js')
  const open: typeof nodeWorkFs.open = (path, mode) => {
    if (path.endsWith('secret')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
    return nodeWorkFs.open(path, mode)
  }
  await talk.edit('secret', 'one')
  await talk.edit('a.ts', 'one')
  desk.write('secret', 'two')
  desk.write('a.ts', 'two')
  talk.checkpoints = desk.open({ work: { ...nodeWorkFs, open } })
  expect((await talk.take('before-tool', { paths: ['secret'] })).checkpoint).toEqual({
    failed: 'secret: cannot be read (EACCES)',
    reason: 'before-tool',
  })
  const missed = [{ path: 'workspace/secret', why: 'cannot be read (EACCES)' }]
  const { checkpoint, unread } = await talk.take('prompt')
  expect(filesOf(checkpoint).map(({ path }) => path)).toEqual(['workspace/a.ts'])
  expect(unread).toEqual(missed)
  expect(checkpoint).toMatchObject({ unread: missed })
  // Nothing else changed: the log says all the same that this file is in no checkpoint.
  expect(await talk.take('prompt')).toEqual({
    checkpoint: { failed: 'secret: cannot be read (EACCES)', reason: 'prompt' },
    refused: [],
    unread: missed,
  })
  expect((await talk.take('manual')).checkpoint).toMatchObject({ files: [], unread: missed })
})

test('no checkpoint is taken while a restore that was cut off is not ended', async () => {
  await talk.edit('a.ts', 'one')
  desk.write('a.ts', 'two')
  fs.mkdirSync(join(desk.folder, 'journal'))
  fs.writeFileSync(join(desk.folder, 'journal', 'x.json'), '{}')
  expect((await talk.take('prompt')).checkpoint).toMatchObject({ failed: expect.stringContaining('cut off') })
})

test('sessions and processes that take at the same time lose nothing of each other', async (context) => {
  const talks = [0, 1, 2, 3].map((i) => {
    const other = new Talk(desk)
    if (i > 1) other.checkpoints = desk.open()
    return other
  })
  await Promise.all(
    talks.map(async (other, i) => {
      for (let n = 0; n < 12; n++) await other.edit(`f${i}`, `text ${n} of ${i}`)
    }),
  )
  for (const other of talks)
    expect([...other.events.values()].filter((event) => event.failed !== undefined)).toEqual([])
  expect(await done(desk.open().missing())).toEqual([])
  if (!hasGit) context.skip(noGit)
  expect(desk.fsck()).toBe('')
  const counts = talks.map(({ id }) => runGit(desk.repository, 'rev-list', '--count', id).trim())
  expect(counts).toEqual(['13', '13', '13', '13'])
})

/** The names in the tree of the last checkpoint, as another implementation of git reads it. */
const treeNames = async (): Promise<string[]> => {
  const names: string[] = []
  await git.walk({
    fs,
    gitdir: desk.repository,
    dir: desk.workspace,
    trees: [git.TREE({ ref: talk.id })],
    map: async (path, [entry]) => {
      if ((await entry?.type()) === 'blob') names.push(path)
    },
  })
  return names
}

test('a folder that is named stands for its files, those that git ignores apart; it takes nothing out of the tree', async () => {
  desk.write('.gitignore', 'skip\n')
  for (const name of ['src/a', 'src/deep/b', 'src/skip', 'other']) desk.write(name, name)
  const { checkpoint } = await talk.take('before-tool', { paths: ['src'] })
  expect(filesOf(checkpoint).map(({ path, kind }) => [path, kind])).toEqual([
    ['workspace/src', 'absent'],
    ['workspace/src/a', 'file'],
    ['workspace/src/deep/b', 'file'],
  ])
  // The folder goes as a whole, and what was in it is known to be gone.
  desk.remove('src')
  const after = await talk.take('after-tool', { paths: ['src'] })
  expect(filesOf(after.checkpoint).map(({ path, kind }) => [path, kind])).toEqual([
    ['workspace/src/a', 'absent'],
    ['workspace/src/deep/b', 'absent'],
  ])
})

test('a record of a folder as no file takes nothing out of the tree', async () => {
  await talk.edit('src/a', 'one')
  await talk.edit('src/b', 'one')
  desk.write('src/b', 'two')
  await talk.take('manual', { paths: ['src'] })
  expect((await treeNames()).sort()).toEqual(['workspace/src/a', 'workspace/src/b'])
})

test('one name is a file or a folder: what it was is known to be gone, whichever was looked at', async () => {
  await talk.edit('x', 'a file')
  await talk.edit('y/a', 'in a folder')
  desk.remove('x')
  desk.remove('y')
  await talk.edit('x/a', 'now in a folder')
  await talk.edit('y', 'now a file')
  const { files } = talk.state()
  const present = [...files].filter(([, { last }]) => last.kind !== 'absent').map(([path]) => path)
  expect(present.sort()).toEqual(['workspace/x/a', 'workspace/y'])
  expect((await treeNames()).sort()).toEqual(['workspace/x/a', 'workspace/y'])
})

test('a full disk is a checkpoint that failed, with the reason, and the conversation goes on', async () => {
  const { nodeFs } = await import('../../src/events/node-fs.js')
  let isFull = true
  const open: typeof nodeFs.open = (path, mode) => {
    if (isFull && mode === 'new') throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    return nodeFs.open(path, mode)
  }
  talk.checkpoints = desk.open({ fs: { ...nodeFs, open } })
  desk.write('a.ts', 'one')
  const paths = ['a.ts']
  expect((await talk.take('before-tool', { paths })).checkpoint).toEqual({
    failed: 'the disk is full (ENOSPC)',
    reason: 'before-tool',
  })
  isFull = false
  expect(filesOf((await talk.take('after-tool', { paths })).checkpoint)).toHaveLength(1)
})

test('names with newlines, quotes, backslashes, and in any script are kept as they are', async (context) => {
  const names = [
    'a\nb',
    'tab\there',
    'quo"te',
    "ap'os",
    'back\\slash',
    'ünï©ode/日本語',
    ' space ',
    '-dash',
    'e\u0301',
  ]
  const turn = await talk.prompt()
  for (const name of names) await talk.edit(name, `text of ${name}`)
  const made = desk.tree()
  await talk.undo(turn)
  expect(desk.tree()).toEqual({})
  await talk.redo()
  expect(desk.tree()).toEqual(made)
  if (!hasGit) context.skip(noGit)
  expect(desk.fsck()).toBe('')
  const listed = runGit(desk.repository, 'ls-tree', '-r', '-z', '--name-only', talk.state().commit as string)
  expect(
    listed
      .split('\0')
      .filter((name) => name !== '')
      .sort(),
  ).toEqual(names.map((name) => `workspace/${name}`).sort())
})

test('names that differ only by case are two files, where the disk has them as two', async () => {
  const turn = await talk.prompt()
  await talk.edit('Readme', 'upper')
  await talk.edit('readme', 'lower')
  await talk.undo(turn)
  await talk.redo()
  expect(desk.tree()).toEqual({ Readme: '644 upper', readme: '644 lower' })
})

test('bytes are exact: line endings, no bytes at all, NUL, what is no text', async () => {
  const contents = [
    'a\r\nb\r\n',
    '',
    '\0\u0001',
    Buffer.from([0xff, 0xfe, 0x0d, 0x0a, 0x80]),
    'no newline',
    '\ufeffbom\n',
  ]
  const turn = await talk.prompt()
  for (const [i, content] of contents.entries()) await talk.edit(`f${i}`, content)
  const made = desk.tree()
  await talk.undo(turn)
  await talk.redo()
  expect(desk.tree()).toEqual(made)
})

test('git reads the work: a branch a session, real paths, a commit a checkpoint, nothing wrong', async (context) => {
  if (!hasGit) context.skip(noGit)
  await talk.prompt()
  await talk.edit('src/a.ts', 'one\n')
  await talk.edit('src/a.ts', 'one\ntwo\n', 0o755)
  const log = runGit(desk.repository, 'log', '-p', '--format=%an <%ae>%n%B', talk.id)
  expect(log).toContain('Coppice <coppice@localhost>')
  expect(log).toContain('after-tool: src/a.ts')
  expect(log).toContain(`Session: ${talk.id}`)
  expect(log).toContain('diff --git a/workspace/src/a.ts b/workspace/src/a.ts')
  expect(log).toContain('+two')
  expect(log).toContain('new mode 100755')
  expect(desk.fsck()).toBe('')
  expect(runGit(desk.repository, 'for-each-ref', '--format=%(refname)')).toBe(`refs/heads/${talk.id}\n`)
})

test('an implementation of git that is not ours reads the same', async () => {
  desk.write('src/deep/a.ts', 'one')
  await talk.edit('src/deep/a.ts', 'two')
  await talk.edit('b.ts', 'three')
  const place = { fs, gitdir: desk.repository }
  const log = await git.log({ ...place, ref: talk.id })
  expect(log.map(({ oid }) => oid)[0]).toBe(talk.state().commit)
  // `b.ts` was absent before it was made: that tree was already there.
  expect(log.map(({ commit }) => commit.message.split('\n')[0])).toEqual([
    'after-tool: b.ts',
    'after-tool: src/deep/a.ts',
    'before-tool: src/deep/a.ts',
  ])
  const { blob } = await git.readBlob({
    ...place,
    oid: talk.state().commit as string,
    filepath: 'workspace/src/deep/a.ts',
  })
  expect(Buffer.from(blob).toString()).toBe('two')
})

test('a commit follows the checkpoint before it on the branch; the tip stays reachable as its second parent', async () => {
  await talk.edit('a.ts', 'zero')
  const base = talk.state().commit
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'one')
  const left = talk.state().commit
  await talk.undo(turn)
  await talk.edit('b.ts', 'two')
  const [top] = await git.log({ fs, gitdir: desk.repository, ref: talk.id, depth: 1 })
  expect(top?.commit.parent).toEqual([base, left])
})

test('an unchanged file is not read again: it costs a look', async () => {
  const { nodeWorkFs } = await import('../../src/checkpoints/node-work-fs.js')
  for (let i = 0; i < 20; i++) desk.write(`f${i}`, `${i}`)
  // Old enough that no change could hide in a tick of the clock.
  const old = new Date(Date.now() - 60_000)
  for (let i = 0; i < 20; i++) fs.utimesSync(desk.path(`f${i}`), old, old)
  await new Promise((resolve) => setTimeout(resolve, 100))
  let opened = 0
  let looked = 0
  const work = {
    ...nodeWorkFs,
    open: (path: string, mode: 'read' | 'new') => {
      opened++
      return nodeWorkFs.open(path, mode)
    },
    lstat: (path: string) => {
      looked++
      return nodeWorkFs.lstat(path)
    },
  }
  talk.checkpoints = desk.open({ work })
  await talk.take('before-tool', { paths: Array.from({ length: 20 }, (_, i) => `f${i}`) })
  expect(opened).toBe(20)
  opened = 0
  looked = 0
  expect((await talk.take('prompt')).checkpoint).toBeNull()
  expect([opened, looked]).toEqual([0, 20])
  talk.checkpoints.close()
  talk.checkpoints = desk.open({ work })
  expect((await talk.take('prompt')).checkpoint).toBeNull()
  expect(opened).toBe(0)
})

test('a change within a tick of the clock, of the same size, is seen', async () => {
  await talk.edit('a.ts', 'one')
  for (const content of ['two', 'six', 'ten']) {
    await talk.take('prompt')
    const { atime, mtime } = fs.statSync(desk.path('a.ts'))
    desk.write('a.ts', content)
    fs.utimesSync(desk.path('a.ts'), atime, mtime)
    expect(filesOf((await talk.take('prompt')).checkpoint)).toHaveLength(1)
  }
})

test('a cache of stats that is damaged is no cache', async () => {
  await talk.edit('a.ts', 'one')
  talk.checkpoints.close()
  fs.writeFileSync(join(desk.folder, 'stat-cache'), 'garbage')
  talk.checkpoints = desk.open()
  expect((await talk.take('prompt')).checkpoint).toBeNull()
})

test('a session whose checkpoints are elsewhere goes on: the tree holds what is here', async (context) => {
  await talk.edit('a.ts', 'one')
  await talk.edit('b.ts', 'one')
  fs.rmSync(desk.repository, { recursive: true })
  talk.checkpoints = desk.open()
  await talk.edit('a.ts', 'two')
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'three')
  await talk.undo(turn)
  expect(desk.read('a.ts')).toBe('two')
  expect(await done(talk.checkpoints.missing())).toEqual([])
  if (!hasGit) context.skip(noGit)
  expect(desk.fsck()).toBe('')
})
