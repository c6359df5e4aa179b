// @ts-check
/**
 * `npm run sim -- [--seed N] [--runs K] [--steps S] [--seconds T]`: simulates programs that write to a store, on a disk that
 * fails (docs/RELIABILITY.md). Where a law does not hold: prints the seed and the least steps that show it, keeps them in
 * test/sim/fixtures, and ends with 1. `--survey` goes on instead, and lists what fails. `--workers N`: how many processes
 * share the seeds. `--replay FILE`: plays a kept run. `--harm NAME`: on a disk that breaks its promises. `--mutants [--only NAME]` puts known mistakes into the engine, one after the other, and counts the runs until
 * each is found.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundled } from './sim-bundle.mjs'

const entry = 'test/sim/main.ts'
const fixtures = fileURLToPath(new URL('../test/sim/fixtures', import.meta.url))
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '20000' },
    steps: { type: 'string', default: '14' },
    seconds: { type: 'string', default: '0' },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    survey: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string' },
    from: { type: 'string' },
    replay: { type: 'string', multiple: true },
    harm: { type: 'string' },
  },
})

/**
 * @param {string} program @param {readonly string[]} args
 * @returns {Promise<{ readonly code: number, readonly out: string, readonly err: string }>}
 */
const run = (program, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--stack-trace-limit=30', program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A run that never gives up its turn cannot look at the clock.
      ...(values.seconds === '0' ? {} : { timeout: (Number(values.seconds) + 120) * 1000 }),
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (data) => {
      out += data
    })
    child.stderr.on('data', (data) => {
      err += data
    })
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code: code ?? 1, out, err: code === null ? `${err}it hangs` : err }),
    )
  })

/** @param {string} text @returns {Record<string, number>} */
const totalsIn = (text) => {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '{}')
  } catch {
    return {}
  }
}

/** @param {readonly Record<string, number>[]} all */
const sum = (all) => {
  /** @type {Record<string, number>} */
  const total = {}
  for (const one of all)
    for (const [name, value] of Object.entries(one))
      total[name] = name === 'seconds' ? Math.max(total[name] ?? 0, value) : (total[name] ?? 0) + value
  return total
}

async function simulate() {
  const { path, remove } = await bundled(entry)
  const workers = values.replay === undefined ? Number(values.workers) : 1
  try {
    const results = await Promise.all(
      Array.from({ length: workers }, (_, i) =>
        run(path, [
          `--seed=${Number(values.seed) + i}`,
          `--runs=${Math.ceil((Number(values.runs) - i) / workers)}`,
          `--every=${workers}`,
          `--steps=${values.steps}`,
          `--seconds=${values.seconds}`,
          `--fixtures=${fixtures}`,
          ...(values.survey ? ['--survey'] : []),
          ...(values.replay ?? []).map((name) => `--replay=${name}`),
          ...(values.harm === undefined ? [] : [`--harm=${values.harm}`, '--quick']),
        ]),
      ),
    )
    for (const { err } of results) process.stderr.write(err)
    console.log(JSON.stringify(sum(results.map(({ out }) => totalsIn(out)))))
    if (results.some(({ code }) => code !== 0)) process.exitCode = 1
  } finally {
    remove()
  }
}

/** Prints a line for each mistake: its name, and how many runs it took to find it. */
async function findMutants() {
  /** @type {import('./sim-bundle.mjs').Mutant[]} */
  const mutants = JSON.parse(readFileSync(new URL('../test/sim/mutants.json', import.meta.url), 'utf8'))
  const first = mutants.findIndex(({ name }) => name === values.from)
  for (const mutant of mutants.slice(Math.max(0, first))) {
    if (values.only !== undefined && !mutant.name.includes(values.only)) continue
    const { path, remove } = await bundled(entry, mutant)
    try {
      const { code, out, err } = await run(path, [
        `--seed=${values.seed}`,
        `--runs=${values.runs}`,
        `--steps=${values.steps}`,
        `--seconds=${values.seconds}`,
        '--quick',
      ])
      const { runs } = totalsIn(out)
      const how = code === 0 ? 'NOT FOUND in' : 'found in'
      console.log(
        `${mutant.name}: ${how} ${runs} runs${code === 0 ? '' : `: ${err.trim().split('\n')[0]?.slice(0, 120)}`}`,
      )
      if (code === 0) process.exitCode = 1
    } finally {
      remove()
    }
  }
}

await (values.mutants ? findMutants() : simulate())
