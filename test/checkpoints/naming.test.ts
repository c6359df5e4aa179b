import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { defaultLimits, scanFrom } from '../../src/checkpoints/scan.js'
import { actionsOf, Desk, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

const tracked = (): Record<string, string> =>
  Object.fromEntries([...talk.state().files].map(([path, { last }]) => [path, last.kind]))

const noFile = 'no file, but a pipe, a socket or a device'

test('a file that is written through a symlink which led to nothing is taken back', async () => {
  fs.mkdirSync(desk.path('dir'))
  fs.symlinkSync('dir/made later', desk.path('link'))
  fs.symlinkSync('link', desk.path('to the link'))
  const before = desk.tree()
  const prompt = await talk.prompt()
  await talk.tool(['to the link'], () => fs.writeFileSync(desk.path('to the link'), 'text'))
  expect(desk.read('dir/made later')).toBe('text')
  expect(actionsOf(await talk.undo(prompt))).toEqual({ 'workspace/dir/made later': 'delete' })
  expect(desk.tree()).toEqual({ link: before.link, 'to the link': before['to the link'] })
  await talk.redo()
  expect(desk.read('link')).toBe('text')
})

test('so is one below a symlink to a folder that was not there', async () => {
  fs.symlinkSync('later', desk.path('link'))
  const prompt = await talk.prompt()
  await talk.tool(['link/a'], () => desk.write('later/a', 'text'))
  expect(tracked()).toEqual({ 'workspace/later/a': 'file' })
  await talk.undo(prompt)
  expect(desk.tree()).toEqual({ link: '-> later' })
})

test('one outside of the workspace is marked so, and needs its word', async () => {
  const outside = join(desk.root, 'made later')
  fs.symlinkSync(outside, desk.path('link'))
  const prompt = await talk.prompt()
  await talk.tool(['link'], () => fs.writeFileSync(desk.path('link'), 'text'))
  const path = `outside${outside}`
  const { entries } = await talk.preview(talk.events.get(prompt)?.parent as string)
  expect(entries.find((entry) => entry.path === path)).toMatchObject({
    action: 'keep',
    outside: true,
    why: 'outside the workspace: restored with --outside alone',
  })
  await talk.undo(prompt, { outside: true })
  expect(fs.existsSync(outside)).toBe(false)
  expect(desk.tree()).toEqual({ link: `-> ${outside}` })
})

test('a symlink into a .git or the store, or in a circle, is tracked itself, and it is said why no more is', async () => {
  fs.symlinkSync('.git/config', desk.path('to git'))
  fs.symlinkSync(join(desk.root, 'store', 'x'), desk.path('to store'))
  fs.symlinkSync('circle', desk.path('circle'))
  const { refused } = await talk.take('before-tool', { paths: ['to git', 'to store', 'circle', 'circle/x'] })
  expect(refused).toEqual([
    { path: 'to git', why: 'it is in a .git, which belongs to git' },
    { path: 'to store', why: 'it belongs to the store' },
  ])
  expect(tracked()).toMatchObject({
    'workspace/to git': 'link',
    'workspace/to store': 'link',
    'workspace/circle': 'link',
  })
})

test('what a link leads to that the tool has just made is not tracked for it', async () => {
  desk.write('mine', 'one')
  await talk.tool(['a', 'b'], () => {
    fs.symlinkSync('mine', desk.path('a'))
    fs.symlinkSync('nothing', desk.path('b'))
  })
  expect(tracked()).toEqual({ 'workspace/a': 'link', 'workspace/b': 'link' })
})

test('a file that stands where a tool will make a folder is recorded with what it names', async () => {
  desk.write('x', 'file')
  await talk.take('before-tool', { paths: ['x/deep/a'] })
  expect(tracked()).toEqual({ 'workspace/x': 'file', 'workspace/x/deep/a': 'absent' })
})

const special = async (): Promise<() => void> => {
  execFileSync('mkfifo', [desk.path('pipe')])
  fs.symlinkSync('pipe', desk.path('to pipe'))
  fs.symlinkSync('/dev/null', desk.path('to device'))
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(desk.path('socket'), resolve))
  return () => server.close()
}

test('pipes, sockets and devices are refused with the reason, and never opened', async () => {
  const close = await special()
  const opened: string[] = []
  const open: typeof nodeWorkFs.open = (path, mode) => {
    opened.push(path)
    return nodeWorkFs.open(path, mode)
  }
  try {
    talk.checkpoints = desk.open({ work: { ...nodeWorkFs, open } })
    const names = ['pipe', 'socket', '/dev/null', 'to pipe', 'to device', 'pipe/below']
    const { refused, checkpoint } = await talk.take('before-tool', { paths: names })
    expect(refused).toEqual(names.map((path) => ({ path, why: noFile })))
    // The links are files of their own; what would be below a pipe is not there.
    expect(checkpoint).toMatchObject({
      files: [
        { path: 'workspace/pipe/below', kind: 'absent' },
        { path: 'workspace/to device', kind: 'link' },
        { path: 'workspace/to pipe', kind: 'link' },
      ],
    })
    expect(opened).toEqual([])
  } finally {
    close()
  }
})

test('a search of the workspace leaves them out, and says so', async () => {
  const close = await special()
  desk.write('a', 'x')
  try {
    const scanned = scanFrom({
      work: nodeWorkFs,
      workspace: desk.workspace,
      limits: defaultLimits,
      exclude: [],
    })
    expect(scanned.paths).toEqual(['workspace/a', 'workspace/to device', 'workspace/to pipe'])
    expect(scanned.left).toEqual([
      { path: 'workspace/pipe', why: noFile },
      { path: 'workspace/socket', why: noFile },
    ])
  } finally {
    close()
  }
})

test('a tracked file that a pipe took the place of is a conflict that only `keep` settles', async () => {
  const prompt = await talk.prompt()
  await talk.edit('a', 'one')
  desk.remove('a')
  execFileSync('mkfifo', [desk.path('a')])
  expect((await talk.take('before-tool', { paths: ['a'] })).refused).toEqual([{ path: 'a', why: noFile }])
  await talk.prompt()
  await talk.undo(prompt, { keep: true })
  expect(fs.lstatSync(desk.path('a')).isFIFO()).toBe(true)
})
