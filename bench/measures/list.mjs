// @ts-check
/** The list of many sessions, against reading `metadata.jsonl` and parsing it. Opens no log: counted. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell, spreadOf } from '../cells.mjs'
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
  const name = `list of ${fixtures.manyCount} sessions`
  return [
    ...['cold', 'warm'].map((when) =>
      row(
        `${name}, to read and parse metadata.jsonl, ${when}`,
        'ms',
        { subject: of(subject, when), floor: of(floor, when) },
        { is: '≤', value: 3 },
      ),
    ),
    row(`${name}, logs opened (a count)`, 'logs', opened, { is: '≤', value: 0 }, (count) => count),
  ]
}

/** @param {() => unknown} run */
async function timed(run) {
  const times = []
  for (let i = 0; i < 10; i++) {
    const from = performance.now()
    await run()
    times.push(performance.now() - from)
  }
  return { cold: times[0] ?? 0, warm: spreadOf(times.slice(3)).median }
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
