import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { Damaged } from '../../src/events/errors/index.js'
import { readBackward } from '../../src/events/file-log/read-backward.js'
import { readForward } from '../../src/events/file-log/read-forward.js'
import type { Line } from '../../src/events/line.js'
import { fsWith, path, root } from '../support/cuts.js'
import { allOf, bytesOf, idsOf, logOn, messageOn, noteOn, readAll } from '../support/logs.js'
import type { MemoryFs } from '../support/memory-fs.js'

const runs = (base: number) => ({ numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base) })

/** What happens to a log: processes append, some of it fails, and now and then the machine does. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('append' as const),
      process: fc.nat({ max: 2 }),
      count: fc.integer({ min: 1, max: 3 }),
      from: fc.nat({ max: 3 }),
      isSynced: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('short write' as const), taken: fc.nat({ max: 400 }) }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('failed sync' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('kill' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('power cut' as const),
      /** How much of what was not synced the disk kept, and which stretch of that is a hole. */
      kept: fc.nat({ max: 1000 }),
      hole: fc.option(fc.tuple(fc.nat({ max: 800 }), fc.integer({ min: 2, max: 300 }))),
    }),
  },
)

/** The model: every event that an append acked or that a reader could have seen, and who stands where. */
class World {
  fs: MemoryFs = fsWith(bytesOf(root))
  #processes = [0, 1, 2].map(() => logOn(this.fs))
  readonly acked = new Set<string>([root.id])
  /** Acked without a sync: a power cut may take them. */
  readonly #soft = new Set<string>()
  readonly attempted = new Set<string>([root.id])
  #ms = 0

  async append(process: number, count: number, from: number, isSynced: boolean): Promise<void> {
    const { lines } = await this.read()
    const tail = lines[lines.length - 1] as Line
    const nodes = lines.filter(({ note }) => !note)
    const batch: Line[] = []
    let parent = (nodes[Math.max(0, nodes.length - 1 - from)] as Line).id
    for (let i = 0; i < count; i++) {
      this.#ms++
      const line = i === 1 ? noteOn(parent, this.#ms) : messageOn(parent, this.#ms)
      if (!line.note) parent = line.id
      batch.push(line)
      this.attempted.add(line.id)
    }
    const log = this.#processes[process] as ReturnType<typeof logOn>
    const made = await log.append(root.id, tail.id, batch, isSynced ? 'sync' : 'none')()
    if (E.isLeft(made)) {
      expect(['WriteFailed', 'SyncFailed']).toContain(made.left.tag)
      return
    }
    expect(made.right.tail).toBe(batch[batch.length - 1]?.id)
    for (const { id } of made.right.lines) {
      this.attempted.add(id)
      this.acked.add(id)
      if (!isSynced) this.#soft.add(id)
    }
    if (isSynced) this.#soft.clear()
  }

  kill(): void {
    this.fs.fault = () => undefined
    for (const name of this.fs.paths()) if (name !== path) this.fs.remove(name)
    this.#processes = [0, 1, 2].map(() => logOn(this.fs))
  }

  powerCut(kept: number, hole: readonly [number, number] | null): void {
    const synced = this.fs.afterPowerCut().bytesOf(path)
    const shown = this.fs.bytesOf(path)
    const left = Buffer.from(shown.subarray(0, Math.min(shown.length, synced.length + kept)))
    if (hole !== null) {
      const from = Math.min(left.length, synced.length + hole[0])
      left.fill(0, from, Math.min(left.length, from + hole[1]))
    }
    // A mark that was not synced is gone too.
    this.fs = fsWith(left)
    for (const id of this.#soft) this.acked.delete(id)
    this.#soft.clear()
    this.kill()
  }

  async read() {
    const log = logOn(this.fs)
    const forward = await readAll((report) => log.readForward(root.id, { closeGaps: true, report }))
    if (forward.error !== null) throw forward.error
    return forward
  }

  /** INV-2: acked ⊆ read ⊆ attempted; and the readers agree, in chunks of any size. */
  async check(chunk: number): Promise<void> {
    const { lines } = await this.read()
    const ids = new Set(idsOf(lines))
    for (const id of this.acked) expect(ids).toContain(id)
    for (const { id, type } of lines) if (type !== 'recovered') expect(this.attempted).toContain(id)
    const file = this.fs.open(path, 'read')
    const toAppend = { closeGaps: true }
    expect(idsOf(await allOf(readForward(file, toAppend, chunk)))).toEqual(idsOf(lines))
    expect(idsOf(await allOf(readBackward(file, toAppend, chunk)))).toEqual(idsOf(lines).reverse())
    file.close()
    await this.#checkOthers()
  }

  /** INV-4: any other reader gives the same, or stops and says that lines hang on what a gap lost. */
  async #checkOthers(): Promise<void> {
    const log = logOn(this.fs)
    const mine = idsOf((await this.read()).lines)
    for (const read of [log.readForward, log.readBackward]) {
      const { lines, error } = await readAll((report) => read(root.id, { report }))
      if (error === null) expect(idsOf(lines).sort()).toEqual([...mine].sort())
      else expect((error as Damaged).damage).toMatchObject({ kind: 'gap', orphans: expect.any(Number) })
    }
  }
}

describe('a log that processes append to while writes, syncs, processes and the power fail', () => {
  test('holds all that was acked and nothing that was not attempted, read the same both ways (INV-2, INV-4)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 500 }),
        async (steps, chunk) => {
          const world = new World()
          for (const one of steps) {
            if (one.what === 'append') {
              await world.append(one.process, one.count, one.from, one.isSynced)
              world.fs.fault = () => undefined
            } else if (one.what === 'short write') {
              world.fs.fault = (operation, _, bytes) =>
                operation === 'write' ? Math.min(one.taken, bytes) : undefined
            } else if (one.what === 'failed sync') {
              world.fs.fault = (operation) => {
                if (operation === 'sync') throw Object.assign(new Error('EIO'), { code: 'EIO' })
                return undefined
              }
            } else if (one.what === 'kill') world.kill()
            else world.powerCut(one.kept, one.hole)
            await world.check(chunk)
          }
          await world.append(0, 2, 0, true)
          await world.check(chunk)
        },
      ),
      runs(300),
    )
  })
})
