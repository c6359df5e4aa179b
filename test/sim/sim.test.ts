import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fixtures = join(root, 'test/sim/fixtures')
/** Of the share that every run of the tests plays: so many runs, or so many seconds, whichever ends first. */
const [runs, seconds] = [20_000, 50]
const seed = process.env.COPPICE_SIM_SEED ?? '1'

interface Totals {
  readonly runs: number
  readonly cuts: number
  readonly faults: number
}

/** A program of its own, bundled: in this one imports take their own time, and nothing would happen twice in one order. */
const simulate = (...args: readonly string[]) => {
  const ran = spawnSync(process.execPath, ['scripts/sim.mjs', ...args], { cwd: root, encoding: 'utf8' })
  return {
    code: ran.status,
    err: ran.stderr,
    totals: JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as Totals,
  }
}

describe('programs that write to a store, on a disk that fails', () => {
  test('whatever fails, every law holds after each restart, and in the end everything opens and takes an append', () => {
    const { code, err, totals } = simulate(`--seed=${seed}`, `--runs=${runs}`, `--seconds=${seconds}`)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(totals.runs).toBeGreaterThan(10)
    expect(totals.cuts).toBeGreaterThan(0)
    expect(totals.faults).toBeGreaterThan(0)
  }, 180_000)

  test('a run that once failed does not again', () => {
    const kept = readdirSync(fixtures).filter((name) => name.endsWith('.json'))
    const { code, err, totals } = simulate(...kept.map((name) => `--replay=${join(fixtures, name)}`))
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(totals.runs).toBe(kept.length)
  })

  test('one seed is one run: the same calls, faults and cuts, each time', () => {
    const once = () => {
      const { totals } = simulate('--seed=7', '--runs=12', '--workers=1', '--survey')
      return { ...totals, seconds: 0, cpu: 0 }
    }
    expect(once()).toEqual(once())
  })
})

describe('the laws notice a disk', () => {
  /** Runs of three or four steps, each of which breaks a law on one disk that breaks its promises, and on no sound one. */
  const harms = ['no-sync', 'no-folder-sync', 'short-writes-unsaid', 'no-failed-syncs-told']

  test.each(harms)('with %s', (harm) => {
    const run = `--replay=${join(fixtures, 'harms', `${harm}.json`)}`
    expect(simulate(run).code).toBe(0)
    const { code, err } = simulate(run, `--harm=${harm}`)
    expect(code).toBe(1)
    expect(err).toMatch(/\S/)
  })
})
