// @ts-check
/** Runs cells in fresh processes, subject and floor by turns, and sums up what they gave. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('child.mjs', import.meta.url))

/** @typedef {{ module: string, name: string, args: object }} Cell */
/** @typedef {Record<string, number> & { peakMiB: number }} Reading */
/** @typedef {{ median: number, min: number, max: number }} Spread */

/** @param {Cell} cell @returns {Reading} */
export function runCell({ module, name, args }) {
  const flags = ['--expose-gc', '--max-old-space-size=8000']
  const run = spawnSync(process.execPath, [...flags, child, module, name, JSON.stringify(args)], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (run.status !== 0) throw new Error(`${module} ${name} ended with ${run.signal ?? run.status}`)
  return JSON.parse(run.stdout)
}

/**
 * Rounds of readings, one of each side, the order turned with each round: the machine's moods fall on all sides alike.
 * @template {string} Side
 * @template T
 * @param {number} rounds
 * @param {Record<Side, () => T>} sides
 * @returns {Record<Side, T[]>}
 */
export function byTurns(rounds, sides) {
  const names = /** @type {Side[]} */ (Object.keys(sides))
  const readings = /** @type {Record<Side, T[]>} */ ({})
  for (const name of names) readings[name] = []
  for (let i = 0; i < rounds; i++)
    for (const name of i % 2 === 0 ? names : names.toReversed()) readings[name].push(sides[name]())
  return readings
}

/** One member of each reading. @param {readonly Reading[]} readings @param {string} name */
export const of = (readings, name) => readings.map((reading) => reading[name] ?? Number.NaN)

/** @param {readonly number[]} values @returns {Spread} */
export function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (/** @type {number} */ i) => sorted[i] ?? Number.NaN
  const middle = sorted.length / 2
  const median = sorted.length % 2 === 1 ? at(Math.floor(middle)) : (at(middle - 1) + at(middle)) / 2
  return { median, min: at(0), max: at(sorted.length - 1) }
}
