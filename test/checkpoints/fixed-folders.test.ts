import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import type { WorkFs } from '../../src/checkpoints/work-fs.js'
import { Desk, refusedBy, Talk } from './desk.js'

// Whoever runs the tests as root may write anywhere, so the disk's refusals are put in by hand.

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

const refusing = (folder: string): WorkFs => {
  const inIt = (path: string) => path.slice(0, path.lastIndexOf('/')) === desk.path(folder)
  const deny = (path: string): void => {
    if (inIt(path)) throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' })
  }
  return {
    ...nodeWorkFs,
    whyFixed: (path) => (path === desk.path(folder) ? 'EACCES' : nodeWorkFs.whyFixed(path)),
    rename: (from, to) => {
      deny(from)
      deny(to)
      nodeWorkFs.rename(from, to)
    },
    removeDir: (path) => {
      deny(path)
      nodeWorkFs.removeDir(path)
    },
  }
}

const targetOf = (prompt: string): string => talk.events.get(prompt)?.parent as string

test('a preview says which files stand in a folder that cannot be changed, and a restore stops before it begins', async () => {
  desk.write('fixed/a', 'one')
  const prompt = await talk.prompt()
  await talk.edit('fixed/a', 'two')
  await talk.edit('fixed/deep/er/b', 'made')
  await talk.edit('free', 'made')
  desk.remove('fixed/deep')
  await talk.prompt()
  const back = talk.head
  await talk.undo(prompt)
  const before = desk.tree()
  talk.checkpoints = desk.open({ work: refusing('fixed') })
  const { entries } = await talk.preview(back)
  expect(entries.map(({ path, action, why }) => [path, action, why])).toEqual([
    ['workspace/fixed/a', 'conflict', 'its folder cannot be changed (EACCES)'],
    ['workspace/fixed/deep/er/b', 'keep', null],
    ['workspace/free', 'create', null],
  ])
  const error = await refusedBy(talk.restoring(back, { force: true }))
  expect(error.message).toContain('go on with --keep')
  expect(desk.tree()).toEqual(before)
  expect(fs.existsSync(`${desk.folder}/journal`) && fs.readdirSync(`${desk.folder}/journal`)).toEqual([])
  await talk.goTo(back, { keep: true })
  expect(desk.tree()).toEqual({ ...before, free: '644 made' })
})

test('a file to be made in folders that are to be made asks the folder that is there', async () => {
  desk.write('fixed/kept', 'mine')
  await talk.edit('fixed/deep/er/b', 'made')
  const prompt = await talk.prompt()
  await talk.tool(['fixed/deep/er/b'], () => desk.remove('fixed/deep'))
  talk.checkpoints = desk.open({ work: refusing('fixed') })
  expect((await talk.preview(targetOf(prompt))).entries[0]).toMatchObject({
    action: 'conflict',
    why: 'its folder cannot be changed (EACCES)',
    forcible: false,
  })
})

test('an empty folder that cannot be removed stays, and the restore is done', async () => {
  const prompt = await talk.prompt()
  await talk.edit('fixed/deep/b', 'made')
  talk.checkpoints = desk.open({ work: refusing('fixed') })
  await talk.undo(prompt)
  expect(desk.tree()).toEqual({ 'fixed/': '', 'fixed/deep/': '' })
  expect(talk.checkpoints.isInterrupted).toBe(false)
  await talk.redo()
  expect(desk.read('fixed/deep/b')).toBe('made')
})
