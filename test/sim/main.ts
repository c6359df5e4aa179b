/**
 * `npm run sim`: plays runs from a seed on, until they are done, the time is up, or a law does not hold. A run that fails is
 * shrunk and kept as a fixture. Started by scripts/sim.mjs, which bundles it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Counts, type Harm, harms } from './machine.js'
import { type Failure, play, whenUnhandled } from './run.js'
import { shrink } from './shrink.js'
import { type Step, stepsOf } from './step.js'
import { watchdog } from './watchdog.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1000' },
    steps: { type: 'string', default: '14' },
    seconds: { type: 'string', default: '0' },
    /** Of every so many seeds this process plays one. */
    every: { type: 'string', default: '1' },
    fixtures: { type: 'string', default: '' },
    /** Goes on after a failure, and lists what kinds there are. */
    survey: { type: 'boolean', default: false },
    /** Plays what was kept, and nothing else. */
    replay: { type: 'string', multiple: true, default: [] },
    /** Makes the disk worse than any is: to show that the laws notice. */
    harm: { type: 'string', default: '' },
    /** Only says that a run failed. */
    quick: { type: 'boolean', default: false },
  },
})

const number = (name: 'seed' | 'runs' | 'steps' | 'seconds' | 'every'): number => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 0)
    throw new Error(`--${name} takes a whole number, not ${values[name]}`)
  return value
}

const totals: Counts & { runs: number } = {
  runs: 0,
  calls: 0,
  kills: 0,
  cuts: 0,
  faults: 0,
  switches: 0,
  acked: 0,
  checks: 0,
}

const add = (counts: Counts): void => {
  totals.runs++
  for (const name of ['calls', 'kills', 'cuts', 'faults', 'switches', 'acked', 'checks'] as const)
    totals[name] += counts[name]
}

/** Ids and numbers differ from run to run. */
const kindOf = ({ law, detail }: Failure): string =>
  `${law} ${detail
    .replace(/[0-9a-f]{8,}/g, '#')
    .replace(/\d+/g, 'n')
    .slice(0, 100)}`

const lineOf = ({ kind, process, turns, fault }: Step): string => {
  const what =
    fault === undefined
      ? ''
      : ` ${fault.what} at ${fault.on ?? 'any call'} after ${fault.after}, ${fault.times} times`
  return `process ${process}: ${kind}${what}${turns < 0 ? ', to its end' : fault === undefined ? `, ${turns} events` : ''}`
}

/** A run that once failed, as fixtures hold it. */
interface Kept {
  readonly seed: number
  readonly steps: readonly Step[]
}

const drawnFrom = (seed: number): Kept => ({ seed, steps: stepsOf(seed, number('steps')) })

const harmNamed = (name: string): Harm => {
  const harm = harms.find((one) => one === name)
  if (harm === undefined) throw new Error(`--harm takes one of ${harms.join(', ')}`)
  return harm
}

const tell = async (seed: number, steps: readonly Step[], failure: Failure): Promise<void> => {
  console.error(`seed ${seed} fails: ${failure.detail.slice(0, 500)}; shrinking it`)
  const least = await shrink(seed, steps, failure, beat)
  for (const [i, step] of least.steps.entries()) console.error(`${String(i).padStart(3)}  ${lineOf(step)}`)
  console.error(
    `after step ${least.failure.step}: ${least.failure.detail.slice(0, 1000)}\n${least.failure.stack.slice(0, 3000)}`,
  )
  if (values.fixtures === '') return
  mkdirSync(values.fixtures, { recursive: true })
  const path = join(values.fixtures, `seed-${seed}.json`)
  writeFileSync(path, `${JSON.stringify({ seed, law: failure.law, steps: least.steps }, null, 1)}\n`)
  console.error(`kept as ${path}; again: npm run sim -- --seed ${seed} --runs 1 --steps ${steps.length}`)
}

/** No run takes so long by far, however busy the machine is (s). */
const hangsAfter = 60
/** Milliseconds as seconds. */
const tenths = (ms: number): number => Math.round(ms / 100) / 10
process.on('unhandledRejection', whenUnhandled)
const [first, runs, seconds, every] = [number('seed'), number('runs'), number('seconds'), number('every')]
const started = performance.now()
const isTimeUp = (): boolean => seconds > 0 && performance.now() - started > seconds * 1000
const beat = watchdog(hangsAfter)
const kinds = new Map<string, { count: number; readonly seed: number }>()
const kept = values.replay.map((path) => JSON.parse(readFileSync(path, 'utf8')) as Kept)
const harm = values.harm === '' ? null : harmNamed(values.harm)
for (let i = 0; i < (kept.length || runs) && !isTimeUp(); i++) {
  const { seed, steps: drawn } = kept[i] ?? drawnFrom(first + i * every)
  beat(seed)
  const { failure, counts } = await play(seed, drawn, harm)
  add(counts)
  if (failure === null) continue
  if (!values.survey) {
    process.exitCode = 1
    if (values.quick) console.error(failure.detail)
    else await tell(seed, drawn, failure)
    break
  }
  const kind = kinds.get(kindOf(failure)) ?? { count: 0, seed }
  kind.count++
  kinds.set(kindOf(failure), kind)
}
for (const [kind, { count, seed }] of kinds) console.error(`${count} times, first with seed ${seed}: ${kind}`)
if (kinds.size > 0) process.exitCode = 1
console.log(
  JSON.stringify({
    ...totals,
    seconds: tenths(performance.now() - started),
    cpu: tenths(process.cpuUsage().user / 1000),
  }),
)
