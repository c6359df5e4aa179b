import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { existsSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { draftLines, type Ran, runIn, user } from '../cli/coppice.js'
import { Acked, mustHold } from './laws.js'
import { type Mounted, needsDisks, newFolder, tmpfs } from './machine.js'

beforeEach(needsDisks)

const page = 4096
const total = { disks: 0, refused: 0, acked: 0 }

/** One line that says what, where, and what to do; and the code of a failure. */
const mustRefuse = ({ code, err }: Ran, where: string): void => {
  expect([code, err], where).toEqual([
    1,
    expect.stringMatching(/^coppice: [^\n]*(ENOSPC|disk is full|no space left)[^\n]*: [^\n]+\n$/),
  ])
  total.refused++
}

const idsOf = ({ out }: Ran): readonly string[] => out.split('\n').filter((id) => id !== '')

/** Takes all room but so many bytes. */
const fill = (disk: Mounted, left: number): string => {
  const path = join(disk.path, 'ballast')
  const file = fs.openSync(path, 'w')
  try {
    for (let some = page; some > 0; some = writeSync(file, Buffer.alloc(page)));
  } catch {
    // Full.
  }
  fs.closeSync(file)
  fs.truncateSync(path, Math.max(0, fs.statSync(path).size - left))
  return path
}

describe('a disk that fills up', () => {
  test.each([16, 20, 24, 28, 36, 52])(
    'at %i KiB refuses with a clear word, keeps what was acknowledged, and goes on when it has room',
    async (kib) => {
      const disk = tmpfs(kib)
      total.disks++
      const workspace = newFolder()
      const run = (args: readonly string[], input = ''): Ran =>
        runIn(disk.path, args, { input, cwd: workspace })
      const session = run(['new']).out.trim()
      expect(session).toMatch(/^[0-9a-f]{32}$/)
      const acked = new Acked()
      acked.add(session, [session])
      const drafts = Array.from({ length: 80 }, (_, i) => user(`${i} ${'x'.repeat(300 + ((i * kib) % 900))}`))
      const appended = run(['append', session], draftLines(...drafts))
      mustRefuse(appended, `${kib} KiB`)
      acked.add(session, idsOf(appended))
      total.acked += acked.count
      // What was acknowledged can be read while there is no room at all.
      const shown = run(['log', session, '--json'])
      expect(shown.code).toBe(0)
      const there = shown.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { readonly id: string }).id)
      expect(there).toEqual(expect.arrayContaining([...acked.of(session)]))
      expect(run(['list', '--json']).json()).toMatchObject([{ session, problem: null }])
      disk.grow(4096)
      const again = run(['append', session], draftLines(user('there is room')))
      expect([again.code, again.err.replace(/^coppice: .*torn.*\n$/, '')]).toEqual([0, ''])
      acked.add(session, idsOf(again))
      await mustHold(disk.path, acked)
      disk.unmount()
    },
    60_000,
  )

  test('for checkpoints: none is made and the log says so, nothing is lost, and the next one is made when it has room', async () => {
    const disk = tmpfs(512)
    total.disks++
    const workspace = newFolder()
    const run = (args: readonly string[], input = ''): Ran =>
      runIn(disk.path, args, { input, cwd: workspace })
    const session = run(['new']).out.trim()
    const file = join(workspace, 'large')
    for (const left of [0, 2, 5, 11]) {
      writeFileSync(file, randomBytes(page * 16))
      const ballast = fill(disk, left * page)
      const ran = run(['checkpoint', session, 'large', '--json'])
      expect(ran.code, ran.err).toBe(1)
      expect(ran.err).toMatch(/^coppice: [^\n]+\n/)
      total.refused++
      rmSync(ballast)
      const again = run(['checkpoint', session, 'large', '--json'])
      expect([again.code, again.err]).toEqual([0, ''])
      expect(run(['verify', '--json']).json()).toMatchObject({ problems: [] })
    }
    const acked = new Acked()
    acked.add(session, [session])
    await mustHold(disk.path, acked)
    disk.unmount()
  }, 60_000)

  test('for the files of an undo: all are as they were, the head too; with room they all go back (INV-9)', () => {
    const disk = tmpfs(256)
    total.disks++
    const store = join(newFolder(), 'store')
    const run = (args: readonly string[], input = ''): Ran => runIn(store, args, { input, cwd: disk.path })
    const session = run(['new']).out.trim()
    const names = ['a', 'b', 'c']
    const put = (): Record<string, string> =>
      Object.fromEntries(
        names.map((name) => {
          const text = randomBytes(page * 4).toString('base64')
          writeFileSync(join(disk.path, name), text)
          return [name, text]
        }),
      )
    const tree = (): Record<string, string> =>
      Object.fromEntries(
        names
          .filter((name) => existsSync(join(disk.path, name)))
          .map((name) => [name, readFileSync(join(disk.path, name), 'utf8')]),
      )
    const before = put()
    run(['checkpoint', session, ...names])
    const [prompt = ''] = idsOf(run(['append', session], draftLines(user('change them')))).slice(-1)
    const after = put()
    run(['checkpoint', session, ...names])
    const ballast = fill(disk, page * 9)
    const refused = run(['undo', session, prompt])
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^coppice: [^\n]*ENOSPC[^\n]*\n$/)])
    total.refused++
    expect(tree()).toEqual(after)
    rmSync(ballast)
    expect(run(['undo', session, prompt]).code).toBe(0)
    expect(tree()).toEqual(before)
    expect(run(['verify', '--json']).json()).toMatchObject({ problems: [] })
    disk.unmount()
  }, 60_000)

  test('for everything else: each is refused or needs no room, and all of it goes on when there is some', async () => {
    const disk = tmpfs(256)
    total.disks++
    const workspace = newFolder()
    const run = (args: readonly string[], input = ''): Ran =>
      runIn(disk.path, args, { input, cwd: workspace })
    const session = run(['new']).out.trim()
    const acked = new Acked()
    acked.add(session, [session])
    const said = idsOf(run(['append', session], draftLines(user('a secret'), user('x'.repeat(20_000)))))
    acked.add(session, said)
    const wanted = run(['list', '--json']).json()
    const ballast = fill(disk, 0)
    // The list needs no index, and an index that cannot be written is none (INV-8).
    rmSync(
      join(disk.path, 'projects', fs.readdirSync(join(disk.path, 'projects'))[0] ?? '', 'metadata.jsonl'),
    )
    fill(disk, 0)
    expect(run(['list', '--json']).json()).toEqual(wanted)
    for (const command of [
      ['new'],
      ['redact', session, said[0] ?? ''],
      ['archive', session],
      ['fork', session],
      ['reindex'],
    ]) {
      const ran = run(command)
      if (ran.code !== 0) mustRefuse(ran, command.join(' '))
      else expect(command[0], ran.out).toBe('reindex')
    }
    expect(run(['verify', '--json']).json()).toMatchObject({ problems: [] })
    rmSync(ballast)
    expect(run(['redact', session, said[0] ?? '']).code).toBe(0)
    await mustHold(disk.path, acked)
    disk.unmount()
  }, 60_000)

  test('was met so often', () => {
    console.log(`full disks: ${JSON.stringify(total)}`)
    expect(total.refused).toBeGreaterThan(10)
  })
})
