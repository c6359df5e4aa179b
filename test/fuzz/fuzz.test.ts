import { describe, expect, test } from 'vitest'
import { fuzzCommands } from './cli.js'
import { fuzzLines, fuzzLogs } from './lines.js'
import { fuzzReaders } from './readers.js'

/** Of each target so many inputs, and no longer than so many milliseconds; `npm run fuzz` goes on from there. */
const scale = Number(process.env.FC_RUNS ?? 1)
const share = (inputs: number, ms: number) => ({ seed: 1, inputs: Math.ceil(inputs * scale), ms: ms * scale })

describe('what nobody means', () => {
  test('as a line: is none, or proves itself; nothing is thrown', async () => {
    const { inputs, findings } = await fuzzLines(share(3000, 4000))
    expect(findings).toEqual([])
    expect(inputs).toBeGreaterThan(50)
  })

  test('as a log: is read, folded, appended to and repaired, or refused with a tagged error', async () => {
    const { inputs, findings } = await fuzzLogs(share(300, 4000))
    expect(findings).toEqual([])
    expect(inputs).toBeGreaterThan(20)
  })

  test('as a file of another tool: its reader gives items that are fit to import, and never rejects', async () => {
    const { inputs, findings } = await fuzzReaders(share(300, 5000))
    expect(findings).toEqual([])
    expect(inputs).toBeGreaterThan(20)
  })

  test('as arguments and stdin: ends with a code of the table and one line, and touches no file elsewhere', async () => {
    const { inputs, findings } = await fuzzCommands(share(150, 5000))
    expect(findings).toEqual([])
    expect(inputs).toBeGreaterThan(20)
  })
})
