import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { systemPorts } from '../../src/events/system.js'
import { bundled } from '../support/bundle.js'
import { idsOf, left, messageOn, readAll, right, rootLine } from '../support/logs.js'

const root = rootLine()
let writer: Awaited<ReturnType<typeof bundled>>
let folder: string

beforeAll(async () => {
  writer = await bundled('writer')
  folder = mkdtempSync(join(tmpdir(), 'coppice-processes-'))
})

afterAll(() => {
  writer.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** A store of its own with one session, in a folder of `name`. */
const storeOf = async (name: string) => {
  const store = join(folder, name)
  const log = fileLog({ ...systemPorts, folder: store })
  await right(log.create([root]))
  return { store, log }
}

interface Running {
  readonly child: ChildProcess
  /** The ids that it printed as acked. */
  readonly acked: string[]
  readonly ended: Promise<number | null>
}

const start = (store: string, name: string, count: number): Running => {
  const child = spawn(process.execPath, [writer.path, store, root.id, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acked: string[] = []
  let rest = ''
  child.stdout?.setEncoding('utf8')
  child.stdout?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    acked.push(...lines)
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, acked, ended }
}

describe('processes that append to one log at once', () => {
  test('lose nothing of each other, and none is kept waiting for ever (INV-2, INV-7)', async () => {
    const { store, log } = await storeOf('together')
    const running = ['a', 'b', 'c'].map((name) => start(store, name, 150))
    expect(await Promise.all(running.map(({ ended }) => ended))).toEqual([0, 0, 0])
    const { lines, told, error } = await readAll((report) => log.readForward(root.id, { report }))
    expect([error, told]).toEqual([null, []])
    expect(lines.length).toBe(1 + 3 * 150)
    expect(idsOf(lines)).toEqual(expect.arrayContaining(running.flatMap(({ acked }) => acked)))
  })

  test('and are killed, one after the other, leave all that they acked (INV-2)', async () => {
    const { store, log } = await storeOf('killed')
    const acked: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      const running = [start(store, `a${turn}`, 1e6), start(store, `b${turn}`, 1e6)]
      while (running.some((one) => one.acked.length < 5 + turn))
        await new Promise((next) => setTimeout(next, 5))
      for (const { child } of running) child.kill('SIGKILL')
      await Promise.all(running.map(({ ended }) => ended))
      acked.push(...running.flatMap((one) => one.acked))
      const { lines, error } = await readAll((report) => log.readForward(root.id, { report }))
      expect(error).toBe(null)
      expect(idsOf(lines)).toEqual(expect.arrayContaining(acked))
    }
  })

  test('keep one that cannot get the lock waiting no longer than it says', async () => {
    const { store, log } = await storeOf('held')
    const other = systemPorts.fs.open(join(store, root.id, 'data.jsonl'), 'append')
    expect(other.tryLock('exclusive')).toBe(true)
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const refused = left(log.append(root.id, root.id, [messageOn(root.id, 1)]))
    await vi.advanceTimersByTimeAsync(20_000)
    vi.useRealTimers()
    expect((await refused).tag).toBe('Locked')
    other.unlock()
    await right(log.append(root.id, root.id, [messageOn(root.id, 1)]))
    other.close()
    log.close()
  })
})
