/** `npm run fuzz`: started by scripts/fuzz.mjs, which bundles it. Prints one line a target, and what was found. */
import { parseArgs } from 'node:util'
import { fuzzCommands } from './cli.js'
import { fuzzLines, fuzzLogs } from './lines.js'
import { fuzzReaders } from './readers.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    inputs: { type: 'string', default: '1000000000' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
})
const targets = { lines: fuzzLines, logs: fuzzLogs, readers: fuzzReaders, commands: fuzzCommands }
const wanted = Object.entries(targets).filter(([name]) => values.only === '' || values.only === name)
if (wanted.length === 0) throw new Error(`--only takes one of ${Object.keys(targets).join(', ')}`)
const ms = (Number(values.seconds) * 1000) / wanted.length
for (const [name, run] of wanted) {
  const { inputs, slowest, findings } = await run({
    seed: Number(values.seed),
    inputs: Number(values.inputs),
    ms,
  })
  console.log(
    JSON.stringify({ target: name, inputs, slowestMs: Math.round(slowest), findings: findings.length }),
  )
  for (const { what, seed, detail } of findings) console.error(`${name}, seed ${seed}: ${what}\n${detail}`)
  if (findings.length > 0) process.exitCode = 1
}
