// @ts-check
import { spreadOf } from './cells.mjs'

/**
 * What something takes: by the clock, and of this process's CPU (all its threads), which the rest of a busy machine
 * changes less. Milliseconds.
 * @param {() => unknown} run
 */
export async function stopwatch(run) {
  const before = process.cpuUsage()
  const from = performance.now()
  await run()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(before)
  return { ms, cpu: (user + system) / 1000 }
}

/** The medians of the second half of `times` runs: what they take once their code is warm. @param {() => unknown} run @param {number} times */
export async function warmed(run, times) {
  const taken = []
  for (let i = 0; i < times; i++) taken.push(await stopwatch(run))
  const half = taken.slice(Math.floor(times / 2))
  return {
    ms: spreadOf(half.map(({ ms }) => ms)).median,
    cpu: spreadOf(half.map(({ cpu }) => cpu)).median,
  }
}
