import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import type { WorkFs } from '../../src/checkpoints/work-fs.js'
import { Desk, refusedBy, Talk } from './desk.js'

let desk: Desk
let talk: Talk
let to: string
beforeEach(async () => {
  desk = new Desk()
  talk = new Talk(desk)
  desk.write('a', 'one')
  desk.write('b', 'one')
  const turn = await talk.prompt()
  to = talk.events.get(turn)?.parent as string
  await talk.tool(['a', 'b', 'c'], () => {
    desk.write('a', 'two')
    desk.remove('b')
    desk.write('c', 'two')
  })
})
afterEach(() => desk.clear())

/** A file system in which someone else acts just before, or just after, a call. */
const withSomeone = (act: {
  before?: (call: string, path: string) => void
  after?: (call: string, path: string) => void
}) => {
  const around =
    <P extends readonly [string, ...unknown[]], R>(call: string, run: (...parameters: P) => R, at = 0) =>
    (...parameters: P): R => {
      act.before?.(call, parameters[at] as string)
      const result = run(...parameters)
      act.after?.(call, parameters[at] as string)
      return result
    }
  const work: WorkFs = {
    ...nodeWorkFs,
    rename: around('rename', nodeWorkFs.rename),
    link: around('link', nodeWorkFs.link, 1),
    unlink: around('unlink', nodeWorkFs.unlink),
  }
  talk.checkpoints = desk.open({ work })
}
const once = (run: () => void): (() => void) => {
  let isDone = false
  return () => {
    if (!isDone) run()
    isDone = true
  }
}

test('an editor that saves just before a file is moved aside keeps what it saved, and nothing else changes', async () => {
  const save = once(() => desk.write('a', 'saved just now'))
  withSomeone({ before: (call, path) => call === 'rename' && path.endsWith('/a') && save() })
  const error = await refusedBy(talk.restoring(to))
  expect(error).toMatchObject({ tag: 'RestoreConflict', conflicts: [{ why: 'changed just now' }] })
  expect(desk.tree()).toEqual({ a: '644 saved just now', c: '644 two' })
  expect(desk.checkpoints.isInterrupted).toBe(false)
})

test('a file that appears where one is to be made stays, and everything goes back', async () => {
  const appear = once(() => desk.write('b', 'appeared'))
  withSomeone({ before: (call, path) => call === 'link' && path.endsWith('/b') && appear() })
  const error = await refusedBy(talk.restoring(to))
  expect(error).toMatchObject({ tag: 'RestoreConflict', conflicts: [{ why: 'appeared just now' }] })
  expect(desk.tree()).toEqual({ a: '644 two', b: '644 appeared', c: '644 two' })
})

test('a program that still writes to the old file is noticed before it is too late', async () => {
  const open = fs.openSync(desk.path('a'), 'a')
  const write = once(() => fs.writeSync(open, ' and more'))
  withSomeone({ after: (call, path) => call === 'link' && path.endsWith('/b') && write() })
  const error = await refusedBy(talk.restoring(to))
  fs.closeSync(open)
  expect(error).toMatchObject({ tag: 'RestoreConflict' })
  expect(desk.tree()).toEqual({ a: '644 two and more', c: '644 two' })
})

test('who takes the name of a file that is aside keeps it: the old one is told, and its bytes are kept', async () => {
  withSomeone({
    before: (call, path) =>
      call === 'link' && path.endsWith('/b') && once(() => desk.write('b', 'appeared'))(),
    after: (call, path) => {
      if (call === 'rename' && path.endsWith('/c') && desk.read('c') === null) desk.write('c', 'taken')
    },
  })
  const error = await refusedBy(talk.restoring(to))
  expect(error).toMatchObject({ tag: 'RestoreFailed', rolledBack: true })
  expect(desk.read('c')).toBe('taken')
  expect(desk.read('a')).toBe('two')
  const aside = Object.entries(desk.tree()).filter(([name]) => name.startsWith('.coppice-'))
  expect(aside.map(([, content]) => content)).toEqual(['644 two'])
  expect(error.message).toContain(aside[0]?.[0])
})

test('a file that is removed just now is no loss to restore over, but is said', async () => {
  const remove = once(() => desk.remove('a'))
  withSomeone({ before: (call, path) => call === 'rename' && path.endsWith('/a') && remove() })
  expect(await refusedBy(talk.restoring(to))).toMatchObject({ conflicts: [{ why: 'removed just now' }] })
  expect(desk.tree()).toEqual({ c: '644 two' })
})

test('a disk without hard links restores all the same', async () => {
  const work: WorkFs = {
    ...nodeWorkFs,
    link: () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    },
  }
  talk.checkpoints = desk.open({ work })
  await talk.goTo(to)
  expect(desk.tree()).toEqual({ a: '644 one', b: '644 one' })
})
