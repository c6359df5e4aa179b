import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fixtures = join(root, 'test/sim/fixtures')
/**
 * The share that every run of the tests plays: these seeds, and no others, so that a machine that is faster meets none that
 * nobody has played. A slow one plays fewer. Whoever sets COPPICE_SIM_SEED explores: as many from that seed on as the time
 * allows.
 */
const explored = process.env.COPPICE_SIM_SEED
const share =
  explored === undefined
    ? ['--seed=1', '--runs=1000', '--seconds=120']
    : [`--seed=${explored}`, '--runs=20000', '--seconds=50']

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
    const { code, err, totals } = simulate(...share)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(totals.runs).toBeGreaterThan(10)
    expect(totals.cuts).toBeGreaterThan(0)
    expect(totals.faults).toBeGreaterThan(0)
  }, 300_000)

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
