import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { defaultLimits, type ScanLimits, scanFrom } from '../../src/checkpoints/scan.js'
import { actionsOf, Desk, git, hasGit, noGit, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
  talk.scans = true
})
afterEach(() => desk.clear())

const scan = (limits: Partial<ScanLimits> = {}) =>
  scanFrom({
    work: nodeWorkFs,
    workspace: desk.workspace,
    limits: { ...defaultLimits, ...limits },
    exclude: [desk.path('store')],
  })
const pathsOf = (limits?: Partial<ScanLimits>) =>
  scan(limits).paths.map((path) => path.slice('workspace/'.length))

test('`.gitignore` files are obeyed as git does, one in a folder over those above', (context) => {
  const rules: Record<string, string> = {
    '.gitignore': '*.log\n/only-top\nlib/\n!keep.log\ndocs/**/tmp\n# a comment\n\\#hash\nspace\\ \n',
    'sub/.gitignore': '!*.log\n/only-here\nlib2/*\n!lib2/kept\n',
    'we[i]rd/.gitignore': '!a.log\n',
    'sub/deeper/.gitignore': '!lib/\n',
  }
  const files = [
    ...['a.log', 'keep.log', 'only-top', 'lib/x', 'docs/a/b/tmp', 'docs/tmp', '#hash', 'space ', 'plain'],
    ...['sub/a.log', 'sub/only-top', 'sub/only-here', 'sub/x/only-here', 'sub/lib/x', 'sub/lib2/x'],
    ...['sub/lib2/kept', 'sub/deeper/lib/x', 'sub/deeper/x.log', 'we[i]rd/a.log', 'we[i]rd/b.log', 'A.LOG'],
  ]
  for (const name of files) desk.write(name, name)
  for (const [name, text] of Object.entries(rules)) desk.write(name, text)
  const found = pathsOf()
  if (!hasGit) context.skip(noGit)
  git(desk.workspace, 'init', '-q')
  const byGit = git(desk.workspace, 'ls-files', '-z', '--others', '--exclude-standard').split('\0')
  expect([...found].sort()).toEqual(byGit.filter((name) => name !== '').sort())
})

test('dependencies, build outputs and folders of version control are left out; a `.gitignore` brings back what is no such folder', () => {
  for (const name of [
    'node_modules/a/index.js',
    'dist/a.js',
    '.hg/x',
    'src/__pycache__/a.pyc',
    'target/debug/x',
  ])
    desk.write(name, 'x')
  desk.write('src/a.ts', 'x')
  expect(pathsOf()).toEqual(['src/a.ts'])
  desk.write('.gitignore', '!dist/\n!.hg/\n')
  expect(pathsOf()).toEqual(['.gitignore', 'dist/a.js', 'src/a.ts'])
})

test('repositories within, and what is excluded, are left alone, and the first said so', () => {
  desk.write('sub/.git/HEAD', 'ref: x')
  desk.write('sub/a.ts', 'x')
  desk.write('module/.git', 'gitdir: ../.git/modules/module')
  desk.write('store/data', 'x')
  desk.write('a.ts', 'x')
  desk.write('.git/HEAD', 'x')
  const { paths, left } = scan()
  expect(paths).toEqual(['workspace/a.ts'])
  expect(left).toEqual([
    { path: 'workspace/module', why: 'a repository of its own' },
    { path: 'workspace/sub', why: 'a repository of its own' },
  ])
})

test('a limit that cuts off is told', () => {
  for (let i = 0; i < 5; i++) desk.write(`f${i}`, 'x'.repeat(10 * i + 1))
  expect(scan({ fileBytes: 30 })).toMatchObject({
    complete: true,
    left: [
      { path: 'workspace/f3', why: 'larger than 30 bytes' },
      { path: 'workspace/f4', why: 'larger than 30 bytes' },
    ],
  })
  expect(scan({ files: 2 })).toMatchObject({
    complete: false,
    paths: ['workspace/f0', 'workspace/f1'],
    left: [{ path: 'workspace/f2', why: 'more than 2 files: this and what comes after it' }],
  })
  expect(scan({ totalBytes: 20 }).complete).toBe(false)
})

test('symlinks are links, not followed; names that are not UTF-8 are left out and said so', (context) => {
  desk.write('dir/a', 'x')
  fs.symlinkSync('dir', desk.path('to-dir'))
  fs.symlinkSync(desk.root, desk.path('out'))
  expect(pathsOf()).toEqual(['dir/a', 'out', 'to-dir'])
  try {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${desk.workspace}/bad-`), Buffer.from([0xff])]), 'x')
  } catch {
    context.skip('this disk takes no such name')
  }
  expect(scan().left).toEqual([{ path: 'workspace/bad-\ufffd', why: 'its name is not UTF-8' }])
})

test('what a shell command did is undone: files made, changed and removed', async () => {
  desk.write('a', 'one')
  desk.write('b', 'one')
  await talk.prompt()
  const turn = await talk.prompt()
  desk.write('a', 'two')
  desk.remove('b')
  desk.write('new/c', 'made')
  await talk.prompt()
  expect(actionsOf(await talk.undo(turn))).toEqual({
    'workspace/a': 'change',
    'workspace/b': 'create',
    'workspace/new/c': 'delete',
  })
  expect(desk.tree()).toEqual({ a: '644 one', b: '644 one' })
  await talk.redo()
  expect(desk.tree()).toEqual({ a: '644 two', 'new/': '', 'new/c': '644 made' })
})

test('a file that the rules hid before is not new: an undo leaves it', async () => {
  desk.write('.gitignore', 'secret\n')
  desk.write('secret', 'key')
  await talk.prompt()
  const turn = await talk.prompt()
  desk.write('.gitignore', '')
  desk.write('made', 'new')
  await talk.prompt()
  expect([...talk.state().files.keys()]).toContain('workspace/secret')
  await talk.undo(turn)
  expect(desk.read('secret')).toBe('key')
})

test('a file that was too large before is not new', async () => {
  const limits = { ...defaultLimits, fileBytes: 100 }
  talk.checkpoints = desk.open({ limits })
  desk.write('large', 'x'.repeat(200))
  await talk.prompt()
  const turn = await talk.prompt()
  fs.rmSync(desk.path('large'))
  desk.write('large', 'short')
  await talk.prompt()
  await talk.undo(turn)
  expect(desk.read('large')).toBe('short')
})

test('a file that moved in from elsewhere is older than the search: an undo leaves it', async (context) => {
  const elsewhere = join(desk.root, 'elsewhere')
  fs.writeFileSync(elsewhere, 'mine')
  if (fs.statSync(elsewhere).birthtimeMs === 0) context.skip('this disk knows no time of birth')
  await talk.prompt()
  desk.write('a', 'x')
  await talk.prompt()
  const first = talk.events.get(talk.state().checkpoint as string)
  // As if the search had been a minute later.
  talk.events.set(first?.id as string, { ...first, at: new Date(Date.now() + 60_000).toISOString() } as never)
  const turn = await talk.prompt()
  fs.renameSync(elsewhere, desk.path('moved'))
  await talk.prompt()
  await talk.undo(turn)
  expect(desk.read('moved')).toBe('mine')
})
