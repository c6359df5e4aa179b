import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { defaultLimits } from '../../src/checkpoints/scan.js'
import type { WorkFs } from '../../src/checkpoints/work-fs.js'
import { actionsOf, Desk, Talk } from './desk.js'

/** A disk that knows no time of birth: the rules alone must tell what is new. */
const work: WorkFs = {
  ...nodeWorkFs,
  lstat: (path) => {
    const entry = nodeWorkFs.lstat(path)
    return entry === null ? null : { ...entry, birthMs: 0 }
  },
}

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk({ work })
  talk = new Talk(desk)
  talk.scans = true
})
afterEach(() => desk.clear())

/** A turn in which a shell command does something, and the checkpoint after it; gives its prompt. */
const turn = async (change: () => void): Promise<string> => {
  await talk.prompt()
  const prompt = await talk.prompt()
  change()
  await talk.take('after-tool', { scan: true })
  return prompt
}

const whys = async (prompt: string): Promise<Record<string, string | null>> => {
  const { entries } = await talk.preview(talk.events.get(prompt)?.parent as string)
  return Object.fromEntries(entries.map(({ path, why }) => [path.slice('workspace/'.length), why]))
}

test('files made in the step that changes a `.gitignore` are taken back with it', async () => {
  desk.write('.gitignore', '*.log\n')
  desk.write('a', 'mine')
  const before = desk.tree()
  const prompt = await turn(() => {
    desk.write('.gitignore', '*.log\n*.tmp\n')
    desk.write('src/made.ts', 'made')
    desk.write('ü b/.gitignore', 'x\n')
    desk.write('ü b/made', 'made')
  })
  const after = desk.tree()
  expect(actionsOf(await talk.undo(prompt))).toEqual({
    'workspace/.gitignore': 'change',
    'workspace/src/made.ts': 'delete',
    'workspace/ü b/.gitignore': 'delete',
    'workspace/ü b/made': 'delete',
  })
  expect(desk.tree()).toEqual(before)
  await talk.redo()
  expect(desk.tree()).toEqual(after)
})

test('what was made and is ignored from then on is taken back too; what was there is not', async () => {
  desk.write('keep.out', 'mine')
  const before = desk.tree()
  const prompt = await turn(() => {
    desk.write('.gitignore', '*.out\nvendor/\n')
    desk.write('made.out', 'made')
    desk.write('vendor/a', 'made')
  })
  expect([...talk.state().files.keys()].sort()).toEqual([
    'workspace/.gitignore',
    'workspace/keep.out',
    'workspace/made.out',
    'workspace/vendor/a',
  ])
  await talk.undo(prompt)
  expect(desk.tree()).toEqual(before)
})

test('what is ignored before and after is not tracked', async () => {
  desk.write('.gitignore', '*.out\n')
  await turn(() => {
    desk.write('.gitignore', '*.out\n*.log\n')
    desk.write('made.out', 'made')
  })
  expect([...talk.state().files.keys()]).toEqual(['workspace/.gitignore'])
})

test('what only the new rules show is left, and it is said why', async () => {
  desk.write('.gitignore', 'secret\n')
  desk.write('secret', 'key')
  const prompt = await turn(() => desk.write('.gitignore', ''))
  expect(await whys(prompt)).toEqual({
    '.gitignore': null,
    secret: 'may have been there before (ignored before)',
  })
  await talk.undo(prompt)
  expect(desk.tree()).toEqual({ '.gitignore': '644 secret\n', secret: '644 key' })
})

test('rules that a named tool changed since the last search are not those of that search', async () => {
  desk.write('.gitignore', 'secret\n')
  desk.write('secret', 'key')
  await talk.prompt()
  const prompt = await talk.prompt()
  await talk.edit('.gitignore', '')
  await talk.prompt()
  expect([...talk.state().files.keys()]).toContain('workspace/secret')
  await talk.undo(prompt)
  expect(desk.read('secret')).toBe('key')
})

test('rules in a file that hides itself: what they hid is not new once they are gone', async () => {
  desk.write('sub/.gitignore', '*\n')
  desk.write('sub/secret', 'key')
  const prompt = await turn(() => {
    desk.write('sub/.gitignore', '*.log\n')
    desk.write('made', 'x')
  })
  expect(await whys(prompt)).toMatchObject({
    'sub/secret': 'may have been there before (ignored before)',
    'sub/.gitignore': 'may have been there before (ignored before)',
  })
  await talk.undo(prompt)
  expect(desk.tree()).toEqual({ 'sub/': '', 'sub/.gitignore': '644 *.log\n', 'sub/secret': '644 key' })
})

test('as long as such rules stay as they are, what they show and is made is new', async () => {
  desk.write('.gitignore', '.gitignore\n*.log\n')
  const prompt = await turn(() => desk.write('made', 'x'))
  expect(actionsOf(await talk.undo(prompt))).toEqual({ 'workspace/made': 'delete' })
})

test('a folder that comes with rules that hide it whole is left out from the start', async () => {
  desk.write('a', 'mine')
  await turn(() => {
    desk.write('env/.gitignore', '*\n')
    desk.write('env/bin/python', 'x')
    desk.write('made', 'x')
  })
  expect([...talk.state().files.keys()].sort()).toEqual(['workspace/a', 'workspace/made'])
})

test('a search that did not say which rules hid themselves vouches for none that it did not record', async () => {
  desk.write('sub/.gitignore', '*\n')
  desk.write('sub/secret', 'key')
  desk.write('a', 'mine')
  await talk.prompt()
  // As an earlier version wrote it.
  for (const [id, event] of talk.events) {
    const scan = event.scan as { hidden?: unknown } | undefined
    if (scan !== undefined) talk.events.set(id, { ...event, scan: { complete: true, left: [] } } as never)
  }
  const prompt = await talk.prompt()
  desk.write('sub/.gitignore', '')
  await talk.take('after-tool', { scan: true })
  await talk.undo(prompt)
  expect(desk.read('sub/secret')).toBe('key')
})

test('rules whose text is not in this store show nothing', async () => {
  desk.write('.gitignore', 'secret\n')
  desk.write('secret', 'key')
  await talk.prompt()
  fs.rmSync(desk.repository, { recursive: true })
  talk.checkpoints = desk.open()
  const prompt = await talk.prompt()
  desk.write('.gitignore', '')
  await talk.take('after-tool', { scan: true })
  expect(await whys(prompt)).toMatchObject({ secret: 'may have been there before (ignored before)' })
})

test('in a workspace where nothing was to be found, the first turn is taken back as any other', async () => {
  const prompt = await turn(() => desk.write('made/a', 'x'))
  expect(actionsOf(await talk.undo(prompt))).toEqual({ 'workspace/made/a': 'delete' })
  expect(desk.tree()).toEqual({})
})

test('what a search left out is known to the next one, though no file had changed', async () => {
  talk.checkpoints = desk.open({ limits: { ...defaultLimits, fileBytes: 100 } })
  desk.write('a', 'x')
  await talk.prompt()
  // By hand, before the turn.
  desk.write('large', 'x'.repeat(200))
  desk.write('sub/.gitignore', '*\n')
  desk.write('sub/secret', 'key')
  const prompt = await turn(() => {
    desk.write('large', 'short')
    desk.remove('sub/.gitignore')
  })
  expect(await whys(prompt)).toMatchObject({
    large: 'may have been there before (left out before: larger than 100 bytes)',
    'sub/secret': 'may have been there before (ignored before)',
  })
  expect((await talk.take('prompt', { scan: true })).checkpoint).toBeNull()
  desk.write('other large', 'x'.repeat(200))
  const { checkpoint } = await talk.take('prompt', { scan: true })
  expect(checkpoint).toMatchObject({ files: [] })
  expect((await talk.take('prompt', { scan: true })).checkpoint).toBeNull()
})

test('what is ignored from then on is limited as well, and told', async () => {
  talk.checkpoints = desk.open({ limits: { ...defaultLimits, files: 3 } })
  desk.write('a', 'x')
  await turn(() => {
    desk.write('.gitignore', '*.out\n')
    for (let i = 0; i < 3; i++) desk.write(`${i}.out`, 'made')
  })
  expect(talk.lastTaken?.checkpoint).toMatchObject({
    scan: {
      complete: true,
      left: [{ path: 'workspace/1.out', why: 'more than 3 files: this and what comes after it' }],
    },
  })
  expect([...talk.state().files.keys()]).toHaveLength(3)
})
