import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { diffsOf, pairsOf } from '../../src/checkpoints/diff.js'
import { GitObjects } from '../../src/checkpoints/objects/git-objects.js'
import { systemPorts } from '../../src/events/system.js'
import { actionsOf, Desk, refusedBy, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

const targetOf = (prompt: string): string => talk.events.get(prompt)?.parent as string

/** Undone, it is as before; redone, as after. */
const thereAndBack = async (prompt: string, before: object): Promise<void> => {
  const after = desk.tree()
  await talk.undo(prompt)
  expect(desk.tree()).toEqual(before)
  await talk.redo()
  expect(desk.tree()).toEqual(after)
}

const becomeFolder = (): void => {
  desk.remove('x')
  desk.write('x/a', 'in x\n')
  desk.write('x/b c/d', 'below\n')
}

test('a file that a tool replaced by a folder comes back, whatever was named', async () => {
  desk.write('x', 'file\n')
  const before = desk.tree()
  const prompt = await talk.prompt()
  await talk.tool(['x'], becomeFolder)
  await thereAndBack(prompt, before)
})

test('also where only what is in the folder was named', async () => {
  desk.write('x', 'file\n')
  const before = desk.tree()
  const prompt = await talk.prompt()
  await talk.tool(['x/a', 'x/b c/d'], becomeFolder)
  await thereAndBack(prompt, before)
})

test('so does a symlink', async () => {
  desk.write('dir/kept', 'mine')
  fs.symlinkSync('dir', desk.path('x'))
  const before = desk.tree()
  const prompt = await talk.prompt()
  await talk.tool(['x'], becomeFolder)
  await thereAndBack(prompt, before)
})

test('a folder that a tool replaced by a file comes back, whatever was named', async () => {
  desk.write('y/a', 'in y')
  const before = desk.tree()
  for (const [first, then] of [
    [['y'], ['y']],
    [['y/a'], ['y']],
    [['y/a'], ['y', 'y/a']],
  ] as const) {
    const prompt = await talk.prompt()
    await talk.take('before-tool', { paths: first })
    desk.remove('y')
    desk.write('y', 'now a file')
    await talk.take('after-tool', { paths: then })
    await thereAndBack(prompt, before)
    await talk.undo(prompt)
  }
})

test('`diff` tells the files in a folder that took a place', async () => {
  desk.write('x', 'file\n')
  const prompt = await talk.prompt()
  await talk.tool(['x'], becomeFolder)
  const store = new GitObjects(systemPorts.fs, systemPorts.random, desk.repository, desk.folder)
  const diffs = await diffsOf(store, pairsOf(talk.state(prompt), talk.state()))
  expect(diffs.map(({ path, status }) => [path, status])).toEqual([
    ['x', 'deleted'],
    ['x/a', 'added'],
    ['x/b c/d', 'added'],
  ])
})

test('what was put there by hand goes at a word only, and that word is offered', async () => {
  desk.write('x', 'file\n')
  const prompt = await talk.prompt()
  await talk.take('before-tool', { paths: ['x'] })
  becomeFolder()
  // Nobody says who made it.
  await talk.take('manual', { paths: ['x'] })
  const error = await refusedBy(talk.restoring(targetOf(prompt)))
  expect(error.message).toContain('go on with --force to restore these files too')
  expect(actionsOf(await talk.undo(prompt, { force: true }))).toEqual({
    'workspace/x': 'create',
    'workspace/x/a': 'delete',
    'workspace/x/b c/d': 'delete',
  })
  expect(desk.tree()).toEqual({ x: '644 file\n' })
})

test('a changed or untracked file in the folder stays, and the file with it', async () => {
  desk.write('x', 'file\n')
  const prompt = await talk.prompt()
  await talk.tool(['x'], becomeFolder)
  desk.write('x/mine', 'mine')
  const error = await refusedBy(talk.restoring(targetOf(prompt), { force: true }))
  expect(error.message).toContain('a folder stands there, and x/mine in it')
  expect(error.message).not.toContain('--force to')
  desk.remove('x/mine')
  desk.write('x/a', 'changed')
  expect((await refusedBy(talk.restoring(targetOf(prompt)))).message).toContain('--force')
  await talk.undo(prompt, { force: true })
  expect(desk.tree()).toEqual({ x: '644 file\n' })
})

test('in a search of the workspace too, whatever the rules were', async () => {
  talk.scans = true
  desk.write('x', 'file\n')
  const before = desk.tree()
  await talk.prompt()
  const prompt = await talk.prompt()
  becomeFolder()
  desk.write('.gitignore', 'other\n')
  await talk.take('after-tool', { scan: true })
  await thereAndBack(prompt, before)
})
