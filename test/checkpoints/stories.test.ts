import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestoreConflict } from '../../src/checkpoints/errors/restore-conflict.js'
import { actionsOf, Desk, git, hasGit, noGit, refusedBy, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

test('an undo leaves files that the agent never touched, deleted or not', async () => {
  desk.write('notes.txt', 'mine')
  desk.write('old.txt', 'old')
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'one')
  desk.remove('old.txt')
  desk.write('new.txt', 'new')
  await talk.undo(turn)
  expect(desk.tree()).toEqual({ 'notes.txt': '644 mine', 'new.txt': '644 new' })
})

test('a file that the first edit of a turn made is gone after the undo, and back after the redo', async () => {
  const turn = await talk.prompt()
  await talk.edit('src/deep/a.ts', 'one')
  expect(actionsOf(await talk.undo(turn))).toEqual({ 'workspace/src/deep/a.ts': 'delete' })
  expect(desk.tree()).toEqual({})
  await talk.redo()
  expect(desk.read('src/deep/a.ts')).toBe('one')
})

test('a rename is undone as a whole', async () => {
  desk.write('a.ts', 'text')
  const turn = await talk.prompt()
  await talk.tool(['a.ts', 'b.ts'], () => fs.renameSync(desk.path('a.ts'), desk.path('b.ts')))
  await talk.undo(turn)
  expect(desk.tree()).toEqual({ 'a.ts': '644 text' })
  await talk.redo()
  expect(desk.tree()).toEqual({ 'b.ts': '644 text' })
})

test('a mode comes back, whatever the umask', async () => {
  desk.write('run.sh', 'x', 0o755)
  const turn = await talk.prompt()
  await talk.edit('run.sh', 'x', 0o600)
  await talk.undo(turn)
  expect(desk.tree()).toEqual({ 'run.sh': '755 x' })
  await talk.redo()
  expect(desk.tree()).toEqual({ 'run.sh': '600 x' })
})

test('a file of more than a megabyte that was cut off comes back whole', async () => {
  const bytes = Buffer.alloc(1_100_000, 'line of text\r\n')
  desk.write('big.txt', bytes)
  const turn = await talk.prompt()
  await talk.edit('big.txt', bytes.subarray(0, 1024 * 1024))
  await talk.undo(turn)
  expect(fs.readFileSync(desk.path('big.txt')).equals(bytes)).toBe(true)
})

test('a turn is undone in a folder that is no git repository, and no .git appears in it', async () => {
  desk.write('a.ts', 'one')
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'two')
  await talk.undo(turn)
  expect(desk.tree()).toEqual({ 'a.ts': '644 one' })
})

test('in a home folder the whole is not tracked, and an undo touches only what tools changed', async () => {
  desk.write('.ssh/id', 'key')
  desk.write('a.ts', 'one')
  const checkpoints = desk.open({ home: desk.workspace })
  talk.checkpoints = checkpoints
  expect(checkpoints.whyNotWorkspace()).toBe('it is a home folder')
  talk.scans = true
  const turn = await talk.prompt()
  expect(talk.lastTaken?.refused).toEqual([{ path: desk.workspace, why: 'it is a home folder' }])
  expect([...talk.state().files.keys()]).toEqual([])
  await talk.edit('a.ts', 'two')
  desk.write('.ssh/id', 'other key')
  await talk.undo(turn)
  expect(desk.tree()).toEqual({ '.ssh/': '', '.ssh/id': '644 other key', 'a.ts': '644 one' })
})

test('nor at the root of a file system, nor above a home folder', () => {
  expect(desk.open({ workspace: '/' }).whyNotWorkspace()).toBe('it is the root of a file system')
  expect(desk.open({ home: join(desk.workspace, 'me') }).whyNotWorkspace()).toBe('the home folder lies in it')
  expect(desk.checkpoints.whyNotWorkspace()).toBeNull()
})

test('a symlink is restored as such: what it leads to outside of the workspace is never written', async () => {
  const outside = join(desk.root, 'elsewhere')
  fs.mkdirSync(outside)
  fs.writeFileSync(join(outside, 'file'), 'theirs')
  desk.write('src/a.ts', 'one')
  const turn = await talk.prompt()
  await talk.edit('src/a.ts', 'two')
  // Someone puts a symlink in the place of the folder.
  fs.renameSync(desk.path('src'), desk.path('src-old'))
  fs.symlinkSync(outside, desk.path('src'))
  const error = await refusedBy(talk.restoring(talk.events.get(turn)?.parent as string, { force: true }))
  expect(error).toBeInstanceOf(RestoreConflict)
  expect(fs.readdirSync(outside)).toEqual(['file'])
})

test('an edit through a symlink is undone in the file that it leads to, and asks for a word outside', async () => {
  const outside = join(desk.root, 'elsewhere.txt')
  fs.writeFileSync(outside, 'one')
  fs.symlinkSync(outside, desk.path('link'))
  const turn = await talk.prompt()
  await talk.tool(['link'], () => fs.writeFileSync(desk.path('link'), 'two'))
  const to = talk.events.get(turn)?.parent as string
  const path = `outside${outside}`
  expect(actionsOf(await talk.preview(to))).toEqual({ [path]: 'keep' })
  expect(actionsOf(await talk.preview(to, { outside: true }))).toEqual({ [path]: 'change' })
  await talk.goTo(to, { outside: true })
  expect(fs.readFileSync(outside, 'utf8')).toBe('one')
  expect(fs.readlinkSync(desk.path('link'))).toBe(outside)
})

test('what the user changed after the agent is a conflict: nothing changes, until a word is said', async () => {
  desk.write('a.ts', 'one')
  desk.write('b.ts', 'one')
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'two')
  await talk.edit('b.ts', 'two')
  desk.write('a.ts', 'by hand')
  const before = talk.head
  const to = talk.events.get(turn)?.parent as string
  const error = await refusedBy(talk.restoring(to))
  expect(error).toMatchObject({
    tag: 'RestoreConflict',
    conflicts: [{ path: 'a.ts', why: 'changed since its last checkpoint' }],
  })
  expect(talk.head).toBe(before)
  expect(desk.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 two' })
  await talk.goTo(to, { keep: true })
  expect(desk.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 one' })
  await talk.redo()
  expect(desk.tree()).toEqual({ 'a.ts': '644 by hand', 'b.ts': '644 two' })
})

test('a forced undo of what the user changed can be taken back', async () => {
  desk.write('a.ts', 'one')
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'two')
  desk.write('a.ts', 'by hand')
  await talk.undo(turn, { force: true })
  expect(desk.read('a.ts')).toBe('one')
  await talk.redo()
  expect(desk.read('a.ts')).toBe('by hand')
})

test('the undo of a turn that changed no file changes no file, not even one that the user changed', async () => {
  await talk.edit('a.ts', 'one')
  const turn = await talk.prompt()
  desk.write('a.ts', 'by hand')
  await talk.undo(turn)
  expect(desk.read('a.ts')).toBe('by hand')
})

test('what another session wrote is no turn of this one: its undo is a conflict', async () => {
  desk.write('a.ts', 'one')
  const other = new Talk(desk)
  const turn = await talk.prompt()
  await talk.edit('a.ts', 'two')
  await other.edit('a.ts', 'three')
  // This session notices it, and goes on from there.
  await talk.prompt()
  await talk.edit('a.ts', 'four')
  const to = talk.events.get(turn)?.parent as string
  expect((await refusedBy(talk.restoring(to))).message).toContain(`session ${other.id} wrote it since`)
  expect(desk.read('a.ts')).toBe('four')
  await talk.goTo(to, { force: true })
  expect(desk.read('a.ts')).toBe('one')
})

test("what both sessions only noticed is neither one's", async () => {
  desk.write('a.ts', 'one')
  const other = new Talk(desk)
  await other.take('manual', { paths: ['a.ts'] })
  await talk.edit('a.ts', 'two')
  const turn = await talk.prompt()
  desk.write('a.ts', 'by hand')
  await other.prompt()
  await talk.prompt()
  await talk.undo(turn)
  expect(desk.read('a.ts')).toBe('two')
})

test('a file becomes a folder and a folder a file, there and back', async () => {
  desk.write('x', 'file')
  desk.write('y/a', 'in y')
  desk.write('y/b/c', 'below')
  const turn = await talk.prompt()
  await talk.tool(['x', 'x/a', 'y', 'y/a', 'y/b/c'], () => {
    desk.remove('x')
    desk.write('x/a', 'in x')
    desk.remove('y')
    desk.write('y', 'now a file')
  })
  const changed = desk.tree()
  await talk.undo(turn)
  expect(desk.tree()).toEqual({
    x: '644 file',
    'y/': '',
    'y/a': '644 in y',
    'y/b/': '',
    'y/b/c': '644 below',
  })
  await talk.redo()
  expect(desk.tree()).toEqual(changed)
})

test('a folder with other files in it is never removed, not even by force', async () => {
  desk.write('x', 'file')
  const turn = await talk.prompt()
  await talk.tool(['x', 'x/a'], () => {
    desk.remove('x')
    desk.write('x/a', 'in x')
  })
  desk.write('x/mine', 'mine')
  const to = talk.events.get(turn)?.parent as string
  const error = await refusedBy(talk.restoring(to, { force: true }))
  expect(error.message).toContain('a folder stands there, and x/mine in it')
  expect(desk.tree()).toEqual({ 'x/': '', 'x/a': '644 in x', 'x/mine': '644 mine' })
})

test("the workspace's own repository is as it was: status, index, refs, configuration", async (context) => {
  if (!hasGit) context.skip(noGit)
  const { workspace } = desk
  git(workspace, 'init', '-q')
  desk.write('.gitattributes', '* text=auto eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n')
  desk.write('crlf.txt', 'a\r\nb\r\n')
  desk.write('lf.txt', 'a\nb\n')
  desk.write('data.bin', Buffer.from([0, 1, 2, 13, 10]))
  git(workspace, 'config', 'filter.lfs.clean', 'echo filtered')
  git(workspace, 'config', 'filter.lfs.smudge', 'echo smudged')
  git(workspace, 'add', '.')
  git(workspace, 'commit', '-qm', 'first')
  for (const hook of ['pre-commit', 'post-checkout', 'reference-transaction', 'post-index-change'])
    desk.write(`.git/hooks/${hook}`, `#!/bin/sh\necho ran >> ${desk.root}/hooks-ran\n`, 0o755)
  desk.write('staged.txt', 'staged')
  git(workspace, 'add', 'staged.txt')
  desk.write('lf.txt', 'a\nb\ndirty\n')
  const ofGit = () => desk.tree(desk.path('.git'))
  git(workspace, 'status')
  const before = { git: ofGit(), tree: desk.tree() }
  fs.rmSync(join(desk.root, 'hooks-ran'), { force: true })
  const turn = await talk.prompt()
  await talk.edit('crlf.txt', 'changed')
  await talk.edit('data.bin', 'changed')
  await talk.edit('lf.txt', 'changed')
  await talk.undo(turn)
  expect(ofGit()).toEqual(before.git)
  expect(desk.tree()).toEqual(before.tree)
  expect(fs.existsSync(join(desk.root, 'hooks-ran'))).toBe(false)
  expect(git(workspace, 'status', '--porcelain').split('\n').sort()).toEqual([
    '',
    ' M lf.txt',
    'A  staged.txt',
  ])
})
