// @ts-check
/**
 * Resuming: from a store that is not open yet to the context of a session's head, with a compaction near the end and
 * without one. Cold is the first time in a process (its modules loaded), warm the median of later ones.
 */
import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell, spreadOf } from '../cells.mjs'
import { eachLine } from '../lines.mjs'
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
  const [small, ...others] = fixtures.logs
  const large = others.at(-1)
  if (small === undefined || large === undefined) throw new Error('resume needs two logs')
  const args = (
    /** @type {import('../fixtures.mjs').Log} */ { events, session, compacted: file, neededFrom, recent },
  ) => ({
    store: join(fixtures.folder, `compacted-${events}`),
    session,
    file,
    neededFrom,
    least: recent,
    repeats: 60,
  })
  const { subject, before, floor, writing, bare, loaded } = byTurns(quick ? 5 : 11, {
    subject: () => cell('context', args(large)),
    before: () => cell('context', args(small)),
    floor: () => cell('needed', args(large)),
    writing: () => cell('contextForWriting', args(large)),
    bare: () => runCell({ module: './memory.mjs', name: 'bare', args: {} }),
    loaded: () => cell('loaded', {}),
  })
  const name = `resume after a compaction, ${large.events} events`
  const above = (/** @type {number} */ a, /** @type {number} */ b) => a - b
  const peak = of(subject, 'peakMiB')
  return [
    ...['cold', 'warm'].flatMap((when) => [
      row(`${name}, to ${small.events}, ${when}`, 'ms', pair(subject, before, when), { is: '≤', value: 1.5 }),
      row(`${name}, to read, hash and parse its lines, ${when}`, 'ms', pair(subject, floor, when), {
        is: '≤',
        value: 2,
      }),
      row(`${name}, held for writing, to the same, ${when}`, 'ms', pair(writing, floor, when), null),
    ]),
    row(
      `${name}, peak above bare Node (a difference)`,
      'MiB',
      { subject: peak, floor: of(bare, 'peakMiB') },
      { is: '<', value: 20 },
      above,
    ),
    row(
      `${name}, peak above the library loaded (a difference)`,
      'MiB',
      { subject: peak, floor: of(loaded, 'peakMiB') },
      null,
      above,
    ),
  ]
}

/** @typedef {readonly import('../cells.mjs').Reading[]} Readings */
/** @param {Readings} subject @param {Readings} floor @param {string} name */
const pair = (subject, floor, name) => ({ subject: of(subject, name), floor: of(floor, name) })

/** @param {import('../run.mjs').Bench} bench */
function whole({ fixtures, quick }) {
  return fixtures.logs.slice(1).flatMap(({ events, session, plain: file }, i, { length }) => {
    const isGoal = i === length - 1
    const args = { store: join(fixtures.folder, `plain-${events}`), session, file, least: events, repeats: 0 }
    const { subject, floor } = byTurns(quick ? 5 : 7, {
      subject: () => cell('context', args),
      floor: () => cell('everyLine', args),
    })
    const name = `resume without a compaction, ${events} events`
    const goals = /** @type {const} */ ([
      { is: '≤', value: 1.3 },
      { is: '<', value: 1 },
    ])
    return [
      row(`${name}, to split, hash and parse`, 'ms', pair(subject, floor, 'cold'), isGoal ? goals[0] : null),
      row(
        `${name}, peak memory to the same`,
        'MiB',
        pair(subject, floor, 'peakMiB'),
        isGoal ? goals[1] : null,
      ),
    ]
  })
}

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
  return { cold, warm: spreadOf(later.slice(Math.floor(repeats / 2))).median, peakMiB: peak }
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
  /** @type {{ digest: string, event: unknown }[]} */
  const events = []
  eachLine(bytes, (start, end) => {
    const digest = hash('sha256', bytes.subarray(start, end), 'hex')
    events.push({ digest, event: JSON.parse(bytes.toString('utf8', start, end)) })
  })
  return events
}

export async function loaded() {
  const { loadAll } = await import('../library.mjs')
  await loadAll()
  return {}
}
