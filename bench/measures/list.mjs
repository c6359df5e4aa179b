// @ts-check
/** The list of many sessions, against reading `metadata.jsonl` and parsing it. Opens no log: counted. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell } from '../cells.mjs'
import { stopwatch, warmed } from '../clock.mjs'
import { eachLine } from '../lines.mjs'
import { row } from '../table.mjs'

const module = './measures/list.mjs'

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  const args = { store: fixtures.many, workspace: fixtures.workspace, count: fixtures.manyCount }
  const cell = (/** @type {string} */ name) => runCell({ module, name, args })
  const { subject, floor } = byTurns(quick ? 5 : 11, {
    subject: () => cell('list'),
    floor: () => cell('index'),
  })
  const opened = { subject: of(subject, 'opened'), floor: floor.map(() => 0) }
  const pair = (/** @type {string} */ member) => ({ subject: of(subject, member), floor: of(floor, member) })
  const name = `list of ${fixtures.manyCount} sessions`
  return [
    ...['cold', 'warm'].map((when) =>
      row(`${name}, to read and parse metadata.jsonl, ${when}`, 'ms', pair(when), {
        goal: { is: '≤', value: 3 },
        cpu: pair(`${when}Cpu`),
      }),
    ),
    row(`${name}, logs opened (a count)`, 'logs', opened, {
      goal: { is: '≤', value: 0 },
      compare: (count) => count,
    }),
  ]
}

/** @param {() => unknown} run */
async function timed(run) {
  const first = await stopwatch(run)
  const later = await warmed(run, 20)
  return { cold: first.ms, coldCpu: first.cpu, warm: later.ms, warmCpu: later.cpu }
}

/** @param {any} args */
export async function list({ store, workspace, count }) {
  const { coppice, loadAll } = await import('../library.mjs')
  await loadAll()
  let opened = 0
  const { fs } = coppice.systemPorts
  /** @type {import('../../src/index.js').Fs} */
  const counting = {
    ...fs,
    open: (path, mode) => {
      if (path.endsWith('data.jsonl')) opened++
      return fs.open(path, mode)
    },
  }
  const times = await timed(async () => {
    const held = await coppice.openStore(store, { fs: counting })
    const rows = await held.list({ workspace })
    if (rows.length !== count) throw new Error(`listed ${rows.length} of ${count} sessions`)
    held.close()
  })
  return { ...times, opened }
}

/** @param {any} args */
export async function index({ store, workspace }) {
  const file = join(store, 'projects', Buffer.from(workspace).toString('base64url'), 'metadata.jsonl')
  return timed(() => {
    const bytes = readFileSync(file)
    /** @type {unknown[]} */
    const rows = []
    eachLine(bytes, (start, end) => rows.push(JSON.parse(bytes.toString('utf8', start, end))))
    return rows
  })
}
