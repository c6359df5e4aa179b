// @ts-check
/** The list of many sessions, against reading `metadata.jsonl` and parsing it. Opens no log: counted. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, runCell, spreadOf } from '../cells.mjs'
import { row } from '../table.mjs'

const module = './measures/list.mjs'

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  const args = { store: fixtures.many, workspace: fixtures.workspace, count: fixtures.manyCount }
  const cell = (/** @type {string} */ name) => runCell({ module, name, args })
  const { subject, floor } = byTurns(quick ? 5 : 11, () => cell('list'), () => cell('index'))
  const of = (/** @type {'cold' | 'warm'} */ name) => ({
    subject: subject.map((reading) => reading[name] ?? Number.NaN),
    floor: floor.map((reading) => reading[name] ?? Number.NaN),
  })
  const opened = subject.map(({ opened: count }) => count ?? Number.NaN)
  const none = { subject: opened, floor: floor.map(() => 0) }
  const name = `list of ${fixtures.manyCount} sessions`
  return [
    row(`${name}, to read and parse metadata.jsonl, cold`, 'ms', of('cold'), { is: '≤', value: 3 }),
    row(`${name}, to read and parse metadata.jsonl, warm`, 'ms', of('warm'), { is: '≤', value: 3 }),
    row(`${name}, logs opened (a count)`, 'logs', none, { is: '≤', value: 0 }, (count) => count),
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
    const rows = []
    for (let at = 0, stop; (stop = bytes.indexOf(10, at)) >= 0; at = stop + 1)
      rows.push(JSON.parse(bytes.utf8Slice(at, stop)))
    return rows
  })
}
