// @ts-check
/**
 * Resuming: from a store that is not open yet to the context of a session's head, with a compaction near the end and
 * without one. Cold is the first time in a process (its modules loaded), warm the median of later ones.
 */
import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, runCell, spreadOf } from '../cells.mjs'
import { peakMiB } from '../memory.mjs'
import { row } from '../table.mjs'

const module = './measures/resume.mjs'

/** @param {import('../run.mjs').Bench} bench */
export function rows(bench) {
  return [...compacted(bench), ...whole(bench)]
}

/** @param {string} name @param {object} args */
const cell = (name, args) => runCell({ module, name, args })

/** @param {import('../run.mjs').Bench} bench */
function compacted({ fixtures, quick }) {
  const pairs = quick ? 5 : 11
  const [small, ...others] = fixtures.logs
  const large = others.at(-1)
  if (small === undefined || large === undefined) throw new Error('resume needs two logs')
  const args = (/** @type {import('../fixtures.mjs').Log} */ { events, session, compacted: file, neededFrom, recent }) => ({
    store: join(fixtures.folder, `compacted-${events}`),
    session,
    file,
    neededFrom,
    least: recent,
    repeats: 30,
  })
  const growth = byTurns(pairs, () => cell('context', args(large)), () => cell('context', args(small)))
  const floor = byTurns(pairs, () => cell('context', args(large)), () => cell('needed', args(large)))
  const writing = byTurns(pairs, () => cell('contextForWriting', args(large)), () => cell('needed', args(large)))
  const memory = byTurns(pairs, () => cell('context', args(large)), () => runCell({ module: './memory.mjs', name: 'bare', args: {} }))
  const loaded = byTurns(pairs, () => cell('context', args(large)), () => cell('loaded', {}))
  const name = `resume after a compaction, ${large.events} events`
  const above = (/** @type {number} */ a, /** @type {number} */ b) => a - b
  return [
    row(`${name}, to ${small.events}, cold`, 'ms', of(growth, 'cold'), { is: '≤', value: 1.5 }),
    row(`${name}, to ${small.events}, warm`, 'ms', of(growth, 'warm'), { is: '≤', value: 1.5 }),
    row(`${name}, to read, hash and parse its lines, cold`, 'ms', of(floor, 'cold'), { is: '≤', value: 2 }),
    row(`${name}, to read, hash and parse its lines, warm`, 'ms', of(floor, 'warm'), { is: '≤', value: 2 }),
    row(`${name}, open for writing, to the same, warm`, 'ms', of(writing, 'warm'), null),
    row(`${name}, peak above bare Node (a difference)`, 'MiB', of(memory, 'peakMiB'), { is: '<', value: 20 }, above),
    row(`${name}, peak above the library loaded (a difference)`, 'MiB', of(loaded, 'peakMiB'), null, above),
  ]
}

/** @param {import('../run.mjs').Bench} bench */
function whole({ fixtures, quick }) {
  const pairs = quick ? 5 : 7
  return fixtures.logs.slice(1).flatMap(({ events, session, plain: file }, i, { length }) => {
    const isGoal = i === length - 1
    const args = { store: join(fixtures.folder, `plain-${events}`), session, file, least: events, repeats: 0 }
    const pair = byTurns(pairs, () => cell('context', args), () => cell('everyLine', args))
    const name = `resume without a compaction, ${events} events`
    return [
      row(`${name}, to split, hash and parse`, 'ms', of(pair, 'cold'), isGoal ? { is: '≤', value: 1.3 } : null),
      row(`${name}, peak memory to the same`, 'MiB', of(pair, 'peakMiB'), isGoal ? { is: '<', value: 1 } : null),
    ]
  })
}

/** @param {{ subject: import('../cells.mjs').Reading[], floor: import('../cells.mjs').Reading[] }} pair @param {string} name */
const of = ({ subject, floor }, name) => ({
  subject: subject.map((reading) => reading[name] ?? Number.NaN),
  floor: floor.map((reading) => reading[name] ?? Number.NaN),
})

/** The first time, the process's peak then, and the median of the later times. @param {() => unknown} run @param {number} repeats */
async function timed(run, repeats) {
  const once = async () => {
    const from = performance.now()
    await run()
    return performance.now() - from
  }
  const cold = await once()
  const peak = peakMiB()
  const later = []
  for (let i = 0; i < repeats; i++) later.push(await once())
  return { cold, warm: spreadOf(later.slice(Math.floor(repeats / 3))).median, peakMiB: peak }
}

/** @param {any} args */
export async function context({ store, session, least, repeats }) {
  const { coppice, loadAll } = await import('../library.mjs')
  await loadAll()
  return timed(async () => {
    const opened = await coppice.openStore(store)
    const messages = await (await opened.reader(session)).context()
    if (/** @type {unknown[]} */ (messages).length < least) throw new Error('the context is too short')
    opened.close()
  }, repeats)
}

/** @param {any} args */
export async function contextForWriting({ store, session, least, repeats }) {
  const { coppice, loadAll } = await import('../library.mjs')
  await loadAll()
  return timed(async () => {
    const opened = await coppice.openStore(store)
    const held = await opened.open(session)
    const messages = await (await opened.reader(session)).context()
    if (/** @type {unknown[]} */ (messages).length < least) throw new Error('the context is too short')
    held.close()
    opened.close()
  }, repeats)
}

/** The lines from a known byte on: no one can resume from less. @param {any} args */
export async function needed({ file, neededFrom, repeats }) {
  return timed(() => {
    const fd = openSync(file, 'r')
    const bytes = Buffer.allocUnsafeSlow(fstatSync(fd).size - neededFrom)
    readSync(fd, bytes, 0, bytes.length, neededFrom)
    closeSync(fd)
    return parsed(bytes)
  }, repeats)
}

/** @param {any} args */
export async function everyLine({ file, least }) {
  return timed(() => {
    const events = parsed(readFileSync(file))
    if (events.length < least) throw new Error('the log is too short')
    return events
  }, 0)
}

/** @param {Buffer} bytes */
function parsed(bytes) {
  const events = []
  for (let at = 0, stop; (stop = bytes.indexOf(10, at)) >= 0; at = stop + 1) {
    const digest = hash('sha256', bytes.subarray(at, stop), 'hex')
    events.push({ digest, event: JSON.parse(bytes.utf8Slice(at, stop)) })
  }
  return events
}

export async function loaded() {
  const { loadAll } = await import('../library.mjs')
  await loadAll()
  return {}
}
