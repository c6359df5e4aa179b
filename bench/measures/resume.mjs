// @ts-check
/**
 * Resuming: from a store that is not open yet to the context of a session's head, with a compaction near the end and
 * without one. Cold is the first time in a process (its modules loaded), warm what later times take.
 */
import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell } from '../cells.mjs'
import { stopwatch, warmed } from '../clock.mjs'
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

/** @typedef {readonly import('../cells.mjs').Reading[]} Readings */
/** @param {Readings} subject @param {Readings} floor @param {string} name */
const pair = (subject, floor, name) => ({ subject: of(subject, name), floor: of(floor, name) })

/** @param {import('../run.mjs').Bench} bench */
function compacted({ fixtures, quick }) {
  const [small, ...others] = fixtures.logs
  const large = others.at(-1)
  if (small === undefined || large === undefined) throw new Error('resume needs two logs')
  const args = (/** @type {import('../fixtures.mjs').Log} */ log) => ({
    store: join(fixtures.folder, `compacted-${log.events}`),
    session: log.session,
    file: log.compacted,
    neededFrom: log.neededFrom,
    least: log.recent,
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
  const timeRow = (
    /** @type {string} */ called,
    /** @type {Readings} */ a,
    /** @type {Readings} */ b,
    /** @type {string} */ when,
    /** @type {number | null} */ most,
  ) =>
    row(`${name}, ${called}, ${when}`, 'ms', pair(a, b, when), {
      goal: most === null ? null : { is: '≤', value: most },
      cpu: pair(a, b, `${when}Cpu`),
    })
  const compare = (/** @type {number} */ a, /** @type {number} */ b) => a - b
  const peaks = (/** @type {Readings} */ others) => pair(subject, others, 'peakMiB')
  return [
    ...['cold', 'warm'].flatMap((when) => [
      timeRow(`to ${small.events}`, subject, before, when, 1.5),
      timeRow('to read, hash and parse its lines', subject, floor, when, 2),
      timeRow('held for writing, to the same', writing, floor, when, null),
    ]),
    row(`${name}, peak above bare Node (a difference)`, 'MiB', peaks(bare), {
      goal: { is: '<', value: 20 },
      compare,
    }),
    row(`${name}, peak above the library loaded (a difference)`, 'MiB', peaks(loaded), { compare }),
  ]
}

/** @param {import('../run.mjs').Bench} bench */
function whole({ fixtures, quick }) {
  return fixtures.logs.slice(1).flatMap(({ events, session, plain: file }, i, { length }) => {
    const args = { store: join(fixtures.folder, `plain-${events}`), session, file, least: events, repeats: 0 }
    const { subject, floor } = byTurns(quick ? 5 : 7, {
      subject: () => cell('context', args),
      floor: () => cell('everyLine', args),
    })
    const name = `resume without a compaction, ${events} events`
    const isGoal = i === length - 1
    return [
      row(`${name}, to split, hash and parse`, 'ms', pair(subject, floor, 'cold'), {
        goal: isGoal ? { is: '≤', value: 1.3 } : null,
        cpu: pair(subject, floor, 'coldCpu'),
      }),
      row(`${name}, peak memory to the same`, 'MiB', pair(subject, floor, 'peakMiB'), {
        goal: isGoal ? { is: '<', value: 1 } : null,
      }),
    ]
  })
}

/** The first time, the process's peak then, and the later times. @param {() => unknown} run @param {number} repeats */
async function timed(run, repeats) {
  const first = await stopwatch(run)
  const peak = peakMiB()
  const later = await warmed(run, repeats)
  return { cold: first.ms, coldCpu: first.cpu, warm: later.ms, warmCpu: later.cpu, peakMiB: peak }
}

/** @param {any} args @param {boolean} isWriting */
async function resumed({ store, session, least, repeats }, isWriting) {
  const { coppice, loadAll } = await import('../library.mjs')
  await loadAll()
  return timed(async () => {
    const opened = await coppice.openStore(store)
    const held = isWriting ? await opened.open(session) : null
    const messages = await (await opened.reader(session)).context()
    if (/** @type {unknown[]} */ (messages).length < least) throw new Error('the context is too short')
    held?.close()
    opened.close()
  }, repeats)
}

/** @param {any} args */
export const context = (args) => resumed(args, false)
/** @param {any} args */
export const contextForWriting = (args) => resumed(args, true)

/** The lines from a known byte on: no one can resume from less. @param {any} args */
export const needed = ({ file, neededFrom, repeats }) =>
  timed(() => {
    const fd = openSync(file, 'r')
    const bytes = Buffer.allocUnsafeSlow(fstatSync(fd).size - neededFrom)
    readSync(fd, bytes, 0, bytes.length, neededFrom)
    closeSync(fd)
    return parsed(bytes)
  }, repeats)

/** @param {any} args */
export const everyLine = ({ file, least }) =>
  timed(() => {
    const events = parsed(readFileSync(file))
    if (events.length < least) throw new Error('the log is too short')
    return events
  }, 0)

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

/** The library, and nothing done with it. */
export async function loaded() {
  const { loadAll } = await import('../library.mjs')
  await loadAll()
  return {}
}
