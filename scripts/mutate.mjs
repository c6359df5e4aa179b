// @ts-check
/**
 * `npm run mutate [-- UNIT...] [--static] [--workers N] [--survivors] [--fresh]`: mutation tests of src/events and
 * src/projections with Stryker (docs/RELIABILITY.md). Puts one small mistake after the other into the code, and counts
 * those that no test notices. A unit is a part of the sources, see below; without one all are run. Results stay in
 * .mutation/: a unit that was run is run again only where its code or its tests changed, so a run that was stopped goes on
 * with the unit that it was at.
 *
 * `--static`: judges what runs as a module loads too, each mutant in a thread of its own with every test. `--survivors`:
 * runs nothing, and lists the mutants that live. `--fresh`: a new thread for each mutant, ten times slower; to check
 * that keeping threads changes no result. `MUTATE_RUNS`: what the runs of a property are multiplied by (0.05).
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** @typedef {{ status: string, mutatorName: string, replacement?: string, location: { start: Point, end: Point } }} Mutant */
/** @typedef {{ line: number, column: number }} Point */
/** @typedef {Record<string, { source: string, mutants: Mutant[] }>} Files */

/** @type {Record<string, string>} */
const units = {
  events: 'src/events/!(blob).ts,src/events/errors/*.ts',
  blobs: 'src/events/blob.ts',
  reading: 'src/events/file-log/{links,naming,nodes,read-*,scan,survey,watch,constants}.ts',
  writing: 'src/events/file-log/!(links|naming|nodes|read-*|scan|survey|watch|constants).ts',
  projections: 'src/projections/**/*.ts',
}
const root = fileURLToPath(new URL('..', import.meta.url))
const fileOf = (/** @type {string} */ unit) => `.mutation/${unit}.json`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    static: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
  },
})
const unknown = positionals.filter((name) => !Object.hasOwn(units, name))
if (unknown.length > 0) {
  process.stderr.write(`no unit ${unknown.join(', ')}: known are ${Object.keys(units).join(', ')}\n`)
  process.exit(2)
}
const wanted = positionals.length > 0 ? positionals : Object.keys(units)

/** @param {string} unit @returns {number} The exit code. */
const run = (unit) => {
  const stryker = fileURLToPath(
    new URL('bin/stryker.js', import.meta.resolve('@stryker-mutator/core/package.json')),
  )
  const args = ['run', '-m', units[unit] ?? '', '--incrementalFile', fileOf(unit), '-c', values.workers]
  const { status } = spawnSync(process.execPath, [stryker, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      FC_RUNS: process.env.MUTATE_RUNS ?? '0.05',
      FC_SEED: process.env.FC_SEED ?? '20261201',
      MUTATE_UNIT: unit,
      MUTATE_STATIC: values.static ? '1' : '0',
      MUTATE_FRESH: values.fresh ? '1' : '0',
    },
  })
  return status ?? 1
}

/** @param {string} unit @returns {Files} */
const resultsOf = (unit) => {
  const path = `${root}/${fileOf(unit)}`
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).files : {}
}

const states = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'Ignored']

/** @param {string} name @param {readonly Mutant[]} mutants */
const row = (name, mutants) => {
  const counts = states.map((state) => mutants.filter(({ status }) => status === state).length)
  const [killed = 0, timedOut = 0, survived = 0, uncovered = 0] = counts
  const judged = killed + timedOut + survived + uncovered
  const share = judged === 0 ? '' : `${(((killed + timedOut) / judged) * 100).toFixed(1)} %`
  return `| ${[name, mutants.length, ...counts, share].join(' | ')} |`
}

const report = () => {
  console.log(
    '| folder | mutants | killed | timed out | survived | no coverage | errors | left out | killed of judged |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|')
  /** @type {Map<string, Mutant[]>} */
  const folders = new Map()
  for (const unit of wanted)
    for (const [file, { mutants }] of Object.entries(resultsOf(unit))) {
      const folder = file.replace(/\/[^/]*$/, '')
      folders.set(folder, [...(folders.get(folder) ?? []), ...mutants])
    }
  for (const [folder, mutants] of [...folders].sort()) console.log(row(folder, mutants))
  console.log(row('all', [...folders.values()].flat()))
}

/** What stood there, on one line. @param {string} source @param {Mutant} mutant */
const original = (source, { location: { start, end } }) => {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  const cut = lines.map((line, at) =>
    line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined),
  )
  return cut.map((line) => line.trim()).join(' ')
}

const listSurvivors = () => {
  for (const unit of wanted)
    for (const [file, { source, mutants }] of Object.entries(resultsOf(unit)))
      for (const mutant of mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')) {
        const { status, mutatorName, replacement = '', location } = mutant
        const to = replacement.replaceAll(/\s+/g, ' ')
        console.log(
          `${file}:${location.start.line} ${status} ${mutatorName}: ${original(source, mutant)} => ${to}`,
        )
      }
}

if (values.survivors) listSurvivors()
else {
  mkdirSync(`${root}/.mutation`, { recursive: true })
  process.exitCode = Math.max(...wanted.map(run))
  report()
}
