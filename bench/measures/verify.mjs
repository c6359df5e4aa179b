// @ts-check
/** Verifying a session, against splitting its file's buffer and hashing each line. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell } from '../cells.mjs'
import { stopwatch } from '../clock.mjs'
import { eachLine } from '../lines.mjs'
import { row } from '../table.mjs'

const module = './measures/verify.mjs'

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  return fixtures.logs.slice(1).flatMap(({ events, session, plain: file }, i, { length }) => {
    const isGoal = i === length - 1
    const args = { store: join(fixtures.folder, `plain-${events}`), session, file, least: events }
    const cell = (/** @type {string} */ name) => runCell({ module, name, args })
    const { subject, floor } = byTurns(quick ? 5 : 7, {
      subject: () => cell('verify'),
      floor: () => cell('hashes'),
    })
    const pair = (/** @type {string} */ member) => ({
      subject: of(subject, member),
      floor: of(floor, member),
    })
    const name = `verify, ${events} events`
    return [
      row(`${name}, to split and hash each line`, 'ms', pair('ms'), {
        goal: isGoal ? { is: '≤', value: 1.5 } : null,
        cpu: pair('cpu'),
      }),
      row(`${name}, peak memory to the same`, 'MiB', pair('peakMiB')),
    ]
  })
}

/** @param {any} args */
export async function verify({ store, session, least }) {
  const { coppice, loadAll } = await import('../library.mjs')
  await loadAll()
  const opened = await coppice.openStore(store)
  return stopwatch(async () => {
    const { events, problems } = await opened.verify([session])
    if (events < least || problems.length > 0)
      throw new Error(`verify: ${JSON.stringify(problems.slice(0, 3))}`)
  })
}

/** @param {any} args */
export const hashes = ({ file, least }) =>
  stopwatch(() => {
    const bytes = readFileSync(file)
    let lines = 0
    eachLine(bytes, (start, end) => {
      hash('sha256', bytes.subarray(start, end), 'hex')
      lines++
    })
    if (lines < least) throw new Error('the log is too short')
  })
