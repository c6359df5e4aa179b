// @ts-check
/**
 * `npm run bench [-- OPTIONS]`: every figure as a ratio to a floor that is measured by turns with it, in one run. The
 * figures are goals and no tests: the exit code is 0 whatever they are.
 *
 *   --only NAME   append, resume, list, start, verify, checkpoints, search or report; several with commas
 *   --quick       logs of 1,000 and 10,000 events, 200 sessions, fewer rounds
 *   --json FILE   the rows, and what they were measured on
 *   --dir FOLDER  where the stores are made (250 MB a log, and 500 MB of sessions): a real disk
 *   --keep        leave the stores there
 */
import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt, root } from '../scripts/built.mjs'

/** @typedef {{ fixtures: import('./fixtures.mjs').Fixtures, quick: boolean }} Bench */

const names = ['append', 'resume', 'list', 'start', 'verify', 'checkpoints', 'search', 'report']

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    dir: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

const tmpfs = 0x01021994
/** Memory is no disk: what is measured there says nothing of one. @param {string} path */
const isDisk = (path) => statfsSync(path).type !== tmpfs

function makeFolder() {
  const parent = options.dir ?? [tmpdir(), '/var/tmp'].find((path) => isDisk(path)) ?? root
  return realpathSync(mkdtempSync(join(parent, 'coppice-bench-')))
}

/** @param {readonly string[]} wanted */
async function measure(wanted) {
  const { runCell } = await import('./cells.mjs')
  const { draw } = await import('./table.mjs')
  const { quick } = options
  const folder = makeFolder()
  const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`)
  try {
    say(`making stores in ${folder} …`)
    const isAsked = (/** @type {string} */ name) => wanted.includes(name)
    const needsLogs = isAsked('resume') || isAsked('verify')
    const args = {
      folder,
      sizes: !needsLogs ? [] : quick ? [1_000, 10_000] : [1_000, 10_000, 100_000],
      manyCount: !isAsked('list') && !isAsked('search') ? 0 : quick ? 200 : 1_000,
      manySize: quick ? 20 : 200,
    }
    const fixtures = /** @type {any} */ (runCell({ module: './fixtures.mjs', name: 'make', args }))
    const rows = []
    for (const name of wanted) {
      say(`measuring ${name} …`)
      const { rows: measured } = await import(`./measures/${name}.mjs`)
      rows.push(...measured({ fixtures, quick }))
    }
    const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, quick }
    console.log(draw(rows))
    console.log(`\nNode ${machine.node}, ${machine.cores} × ${machine.cpu}${quick ? ', --quick' : ''}`)
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify({ machine, rows }, null, 2)}\n`)
  } finally {
    if (!options.keep) rmSync(folder, { recursive: true, force: true })
  }
}

// Taken from the terminal by the cell as well, which ends; then the stores are removed.
process.on('SIGINT', () => process.exit(130))

const wanted = options.only?.split(',') ?? names
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0)
  console.error(`bench: no measure ${unknown.join(', ')}: there are ${names.join(', ')}`)
else if (ensureBuilt()) await measure(wanted)
