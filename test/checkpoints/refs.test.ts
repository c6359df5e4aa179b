import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Refs } from '../../src/checkpoints/objects/refs.js'
import { prepareRepository } from '../../src/checkpoints/objects/repository.js'
import { nodeFs } from '../../src/events/node-fs.js'
import type { Fs } from '../../src/events/ports.js'
import { systemPorts } from '../../src/events/system.js'
import { Desk, done, hasGit, noGit, Talk } from './desk.js'

let desk: Desk
let refs: Refs
const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string]
const nothing = async (): Promise<void> => {}
const write = (moves: Record<string, string | null>, at = refs) =>
  at.write(new Map(Object.entries(moves)), nothing)
const at = (name: string): string => join(desk.repository, name)
/** Everything that is not a ref, a folder, or what was there from the start. */
const leftovers = (): string[] =>
  fs
    .readdirSync(desk.repository, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.lock') || name.includes('tmp_'))

beforeEach(async () => {
  desk = new Desk()
  refs = new Refs(nodeFs, systemPorts.random, desk.repository)
  await prepareRepository(nodeFs, systemPorts.random, desk.repository)
})
afterEach(() => desk.clear())

test('refs are written, moved, packed ones too, and removed, and nothing is left beside them', async () => {
  await write({ 'refs/heads/a': one, 'refs/heads/b': one, 'refs/odd/c': three })
  fs.writeFileSync(at('packed-refs'), `# pack-refs with: sorted \n${two} refs/heads/b\n${two} refs/heads/d\n`)
  await write({ 'refs/heads/a': two, 'refs/heads/b': null })
  expect(Object.fromEntries(refs.list())).toEqual({
    'refs/heads/a': two,
    'refs/heads/d': two,
    'refs/odd/c': three,
  })
  expect(refs.read('refs/heads/b')).toBeNull()
  await write({ 'refs/archive/d': two, 'refs/heads/d': null })
  expect(refs.read('refs/heads/d')).toBeNull()
  expect(leftovers()).toEqual([])
})

test('a lock that git holds is waited for', async () => {
  await write({ 'refs/heads/a': one })
  fs.writeFileSync(at('refs/heads/a.lock'), '')
  const writing = write({ 'refs/heads/a': two })
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(refs.read('refs/heads/a')).toBe(one)
  fs.rmSync(at('refs/heads/a.lock'))
  await writing
  expect(refs.read('refs/heads/a')).toBe(two)
  fs.writeFileSync(at('packed-refs.lock'), `${three} refs/heads/x\n`)
  const dropping = write({ 'refs/heads/a': null })
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(refs.read('refs/heads/a')).toBe(two)
  fs.renameSync(at('packed-refs.lock'), at('packed-refs'))
  await dropping
  // What git packed meanwhile is still there.
  expect(Object.fromEntries(refs.list())).toEqual({ 'refs/heads/x': three })
})

test('a lock that a crash of ours left is none, and is cleared away', async () => {
  await write({ 'refs/heads/a': one })
  for (const name of ['refs/heads/a', 'packed-refs']) {
    fs.writeFileSync(at(`tmp_ref_${name.length}`), '')
    fs.linkSync(at(`tmp_ref_${name.length}`), at(`${name}.lock`))
  }
  expect([...refs.list().keys()]).toEqual(['refs/heads/a'])
  await write({ 'refs/heads/a': two })
  expect(refs.read('refs/heads/a')).toBe(two)
  fs.writeFileSync(at('refs/heads/b.lock'), '')
  refs.tidy()
  // That one is git's.
  expect(leftovers()).toEqual(['refs/heads/b.lock'])
})

test('a list that is made while git packs the refs has all of them', async () => {
  await write({ 'refs/heads/a': one, 'refs/heads/b': two })
  let isPacked = false
  const readFile: Fs['readFile'] = (path) => {
    // Just when the first of the files is read.
    if (!isPacked && path.includes('refs/heads')) {
      isPacked = true
      fs.writeFileSync(at('packed-refs'), `${one} refs/heads/a\n${two} refs/heads/b\n`)
      for (const name of ['a', 'b']) fs.rmSync(at(`refs/heads/${name}`))
    }
    return nodeFs.readFile(path)
  }
  const others = new Refs({ ...nodeFs, readFile }, systemPorts.random, desk.repository)
  expect(Object.fromEntries(others.list())).toEqual({ 'refs/heads/a': one, 'refs/heads/b': two })
})

test('on a disk without hard links refs are written as well', async () => {
  const link: Fs['link'] = () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
  }
  const others = new Refs({ ...nodeFs, link }, systemPorts.random, desk.repository)
  await write({ 'refs/heads/a': one, 'refs/odd/b': two }, others)
  await write({ 'refs/heads/a': three, 'refs/odd/b': null }, others)
  expect(Object.fromEntries(refs.list())).toEqual({ 'refs/heads/a': three })
  expect(leftovers()).toEqual([])
})

test("sessions go on while git's own gc runs, and lose nothing", async (context) => {
  if (!hasGit) context.skip(noGit)
  const talks = [new Talk(desk), new Talk(desk)]
  let isDone = false
  const collecting = (async () => {
    for (let i = 0; i < 3; i++)
      await new Promise((resolve) =>
        spawn('git', ['--git-dir', desk.repository, 'gc', '-q']).on('close', resolve),
      )
    isDone = true
  })()
  await Promise.all(
    talks.map(async (talk, i) => {
      for (let n = 0; n < 20 && !isDone; n++) await talk.edit(`f${i}`, `text ${n} of ${i}`)
    }),
  )
  await collecting
  for (const talk of talks)
    expect([...talk.events.values()].filter((event) => event.failed !== undefined)).toEqual([])
  expect(await done(desk.open().missing())).toEqual([])
  expect(desk.fsck()).toBe('')
})

test('packs that vanish while they are made one cost no checkpoint', async () => {
  const talk = new Talk(desk)
  for (let i = 0; i < 31; i++) await talk.edit('a', `${i}`)
  const readFile: Fs['readFile'] = (path) => {
    if (path.endsWith('.pack')) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
    return nodeFs.readFile(path)
  }
  talk.checkpoints = desk.open({ fs: { ...nodeFs, readFile } })
  for (let i = 0; i < 3; i++) await talk.edit('a', `more ${i}`)
  expect([...talk.events.values()].filter((event) => event.failed !== undefined)).toEqual([])
})
