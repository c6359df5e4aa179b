// @ts-check
/** `coppice list` as a process, against `node -e 0`. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { byTurns } from '../cells.mjs'
import { row } from '../table.mjs'

const cli = fileURLToPath(new URL('../../dist/cli/coppice.js', import.meta.url))

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  const listing = [cli, 'list', '--store', fixtures.few, '--workspace', fixtures.workspace]
  const sides = { subject: () => timed(listing), floor: () => timed(['-e', '0']) }
  byTurns(2, sides)
  return [
    row('coppice list as a process, 20 sessions, to node -e 0', 'ms', byTurns(quick ? 15 : 41, sides), {
      goal: { is: '≤', value: 2 },
    }),
  ]
}

/** @param {readonly string[]} args */
function timed(args) {
  const from = performance.now()
  const run = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const taken = performance.now() - from
  if (run.status !== 0) throw new Error(`node ${args.join(' ')} ended with ${run.signal ?? run.status}`)
  return taken
}
