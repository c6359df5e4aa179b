import * as fs from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Checkpoints } from '../../src/checkpoints/checkpoints.js'
import { restoredFiles } from '../../src/checkpoints/wanted.js'
import type { CodeState } from '../../src/events/file-record.js'
import { Desk, done, Talk } from './desk.js'
import { type FaultKind, Faults, faultyFs, faultyWork } from './faults.js'

/** A restore with every kind of step: create, change, delete, mode, symlink, file for folder, folder for file. */
const before = (desk: Desk): void => {
  desk.write('same', 'same')
  desk.write('change', 'old')
  desk.write('gone/deep/file', 'to come back')
  desk.write('mode', 'x', 0o755)
  fs.symlinkSync('old-target', desk.path('link'))
  desk.write('x', 'a file')
  desk.write('y/a', 'in a folder')
  desk.write('y/b/c', 'and below')
}
const after = (desk: Desk): void => {
  desk.write('change', 'new')
  desk.remove('gone')
  desk.write('made/deep/file', 'to go')
  fs.chmodSync(desk.path('mode'), 0o600)
  desk.remove('link')
  fs.symlinkSync('new-target', desk.path('link'))
  desk.remove('x')
  desk.write('x/a', 'now in a folder')
  desk.remove('y')
  desk.write('y', 'now a file')
}
const tracked = [
  'change',
  'gone/deep/file',
  'made/deep/file',
  'mode',
  'link',
  'x',
  'x/a',
  'y',
  'y/a',
  'y/b/c',
]

const runs = Number(process.env.FC_RUNS ?? 1)

let model: Desk
let talk: Talk
let current: CodeState
let target: CodeState
let oldTree: Record<string, string>
let newTree: Record<string, string>
const desks: Desk[] = []

beforeAll(async () => {
  model = new Desk()
  desks.push(model)
  talk = new Talk(model)
  before(model)
  model.write('untracked', 'mine')
  newTree = model.tree()
  const turn = await talk.prompt()
  await talk.tool(tracked, () => after(model))
  // What no checkpoint has yet, so that there is a safety checkpoint too.
  model.write('change', 'new, and by hand')
  oldTree = model.tree()
  current = talk.state()
  target = talk.state(talk.events.get(turn)?.parent as string)
})
afterAll(() => {
  for (const desk of desks) desk.clear()
})

interface Run {
  readonly desk: Desk
  readonly log: Map<string, string>
  readonly faults: Faults
  readonly checkpoints: Checkpoints
}

const copyOf = (): Run => {
  const desk = new Desk()
  fs.cpSync(model.root, desk.root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const faults = new Faults()
  const checkpoints = desk.open({ fs: faultyFs(faults), work: faultyWork(faults) })
  return { desk, log: new Map(), faults, checkpoints }
}

const restore = ({ checkpoints, log, faults }: Run) =>
  checkpoints.restore({
    session: talk.id,
    current,
    target,
    choice: { force: true },
    secured: async () => {
      faults.step('log.safety')
      return 'f'.repeat(32)
    },
    event: (plan) => ({
      event: 'e'.repeat(32),
      line: JSON.stringify({ files: restoredFiles(plan, target, 'head') }),
      append: async () => {
        faults.step('log.append')
        log.set('e'.repeat(32), 'appended')
        faults.step('log.appended')
        return true
      },
    }),
  })()

/** The next process to open the workspace. */
const reopened = ({ desk }: Run, faults = new Faults()) =>
  desk.open({ fs: faultyFs(faults), work: faultyWork(faults) })

const recover = (run: Run, checkpoints = reopened(run)) => {
  const { log } = run
  return done(
    checkpoints.recover({
      has: async (_session, event) => log.has(event),
      append: async (_session, line) => {
        log.set('e'.repeat(32), line)
        return true
      },
    }),
  )
}

/** The tree is the old one and nothing is recorded, or the new one and it is. */
const mustBeWhole = (run: Run, at: number): void => {
  const { desk, log, faults } = run
  const tree = desk.tree()
  const expected = log.size === 0 ? oldTree : newTree
  const where = `call ${at} (${faults.names[at - 1]})`
  expect(tree, where).toEqual(expected)
  expect(reopened(run).isInterrupted, where).toBe(false)
}

/** The calls that a restore makes which nothing disturbs, by name. */
const namesOfCalls = async (): Promise<readonly string[]> => {
  const run = copyOf()
  run.faults.arm(Number.POSITIVE_INFINITY, 'once')
  expect(E.isRight(await restore(run))).toBe(true)
  expect(run.desk.tree()).toEqual(newTree)
  run.desk.clear()
  return run.faults.names
}

/** Where faults are put (calls counted from 1): the first and the last call of each name, and every nth; with FC_RUNS all. */
const placesIn = (names: readonly string[], every: number): readonly number[] =>
  names.flatMap((name, i) => {
    const isEnd = names.indexOf(name) === i || names.lastIndexOf(name) === i
    return runs > 1 || isEnd || i % every === 0 ? [i + 1] : []
  })

describe('at every file system call of a restore (a sample of them, unless FC_RUNS asks for more)', () => {
  const everyCall = async (
    kind: FaultKind,
    check: (run: Run, at: number, isDone: boolean) => Promise<void>,
  ) => {
    const names = await namesOfCalls()
    expect(names.length).toBeGreaterThan(100)
    for (const at of placesIn(names, 5)) {
      const run = copyOf()
      run.faults.arm(at, kind)
      const result = await restore(run)
      run.faults.disarm()
      await check(run, at, E.isRight(result))
      run.desk.clear()
    }
  }

  test('a crash leaves the old files or the new ones, once the next open has ended it', async () => {
    await everyCall('crash', async (run, at) => {
      await recover(run)
      mustBeWhole(run, at)
    })
  }, 300_000)

  test('a failure puts everything back at once, or the next open does', async () => {
    await everyCall('once', async (run, at, isDone) => {
      if (isDone) expect(run.log.size, `call ${at}`).toBe(1)
      await recover(run)
      mustBeWhole(run, at)
    })
  }, 300_000)

  test('a disk that dies leaves what the next open makes whole', async () => {
    const check = async (run: Run, at: number): Promise<void> => {
      await recover(run)
      mustBeWhole(run, at)
    }
    await everyCall('always', check)
  }, 300_000)
})

test('recovery that is cut off itself, at every call, is ended by the one after it', async () => {
  const { length: calls } = await namesOfCalls()
  // A few places from the first change to the last.
  for (let first = Math.floor(calls / 3); first <= calls; first += runs > 1 ? 7 : 31) {
    for (let second = 1; ; second += runs > 1 ? 1 : 5) {
      const run = copyOf()
      run.faults.arm(first, 'crash')
      await restore(run)
      const again = new Faults()
      again.arm(second, 'crash')
      const isEnded = await recover(run, reopened(run, again)).then(
        () => true,
        () => false,
      )
      await recover(run)
      mustBeWhole(run, first)
      run.desk.clear()
      if (isEnded) break
    }
  }
}, 300_000)

test('a line that is surely not in the log brings the files back', async () => {
  const run = copyOf()
  const refused = await run.checkpoints.restore({
    session: talk.id,
    current,
    target,
    choice: { force: true },
    secured: async () => 'f'.repeat(32),
    event: () => ({ event: 'e', line: '{}', append: async () => false }),
  })()
  expect(refused).toMatchObject({ left: { tag: 'RestoreFailed', rolledBack: true } })
  mustBeWhole(run, 0)
  run.desk.clear()
})
