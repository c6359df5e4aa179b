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
 * Pairs of readings, the order turned with each pair: the machine's moods fall on both sides alike.
 * @template T
 * @param {number} pairs
 * @param {() => T} subject
 * @param {() => T} floor
 * @returns {{ subject: T[], floor: T[] }}
 */
export function byTurns(pairs, subject, floor) {
  /** @type {{ subject: T[], floor: T[] }} */
  const readings = { subject: [], floor: [] }
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) readings.subject.push(subject())
    readings.floor.push(floor())
    if (i % 2 === 1) readings.subject.push(subject())
  }
  return readings
}

/** @param {readonly number[]} values @returns {Spread} */
export function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (/** @type {number} */ i) => sorted[i] ?? Number.NaN
  const middle = sorted.length / 2
  const median = sorted.length % 2 === 1 ? at(Math.floor(middle)) : (at(middle - 1) + at(middle)) / 2
  return { median, min: at(0), max: at(sorted.length - 1) }
}
