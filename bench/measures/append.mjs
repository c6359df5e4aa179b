// @ts-check
/** Appending without a sync, against writeSync of the same bytes; and with one, against one fdatasync an event. */
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCell } from '../cells.mjs'
import { stopwatch } from '../clock.mjs'
import { eachLine } from '../lines.mjs'
import { row } from '../table.mjs'

const module = './measures/append.mjs'
const writers = 64
/** Rounds that only warm up. */
const warmUp = 3

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  const rounds = quick ? 7 : 15
  const args = { folder: fixtures.folder, workspace: fixtures.workspace, rounds, events: quick ? 600 : 2000 }
  const run = (/** @type {string} */ name, /** @type {object} */ more) =>
    runCell({ module, name, args: { ...args, ...more } })
  return [
    ...unsyncedRows('Session.append', 'session', run),
    ...unsyncedRows('EventLog.append', 'log', run),
    syncedRow('Session.append', 'session', run, quick ? 5 : 9),
    syncedRow('EventLog.append', 'log', run, quick ? 5 : 9),
  ]
}

const batched = /** @type {const} */ ({ is: '≥', value: 0.9 })
const single = /** @type {const} */ ({ is: '≥', value: 0.6 })
const shared = /** @type {const} */ ({ is: '≥', value: 20 })

/** @typedef {import('../table.mjs').Pair} Pair */
/** @typedef {{ ms: Pair, cpu: Pair }} Rates events in a millisecond, by the clock and of the CPU */

/** @param {string} called @param {string} through @param {(name: string, more: object) => any} run */
function unsyncedRows(called, through, run) {
  /** @type {Record<string, Rates>} */
  const many = run('unsynced', { through, batch: 100 })
  /** @type {Record<string, Rates>} */
  const one = run('unsynced', { through, batch: 1 })
  const rated = (
    /** @type {string} */ what,
    /** @type {Rates | undefined} */ rates,
    /** @type {import('../table.mjs').Goal | null} */ goal,
  ) => (rates === undefined ? [] : [row(`${called}, ${what}`, 'kev/s', rates.ms, { goal, cpu: rates.cpu })])
  return [
    ...rated('100 at a time, to JSON.stringify and writeSync an event', many.perEvent, batched),
    ...rated("100 at a time, to writeSync of an event's ready bytes", many.ready, batched),
    ...rated("100 at a time, to writeSync of 100 events' ready bytes", many.perBatch, null),
    ...rated('one at a time, to JSON.stringify and writeSync', one.perEvent, single),
    ...rated('one at a time, to writeSync of ready bytes', one.ready, single),
  ]
}

/** @param {string} called @param {string} through @param {(name: string, more: object) => any} run @param {number} rounds */
const syncedRow = (called, through, run, rounds) =>
  row(
    `${called}, synced, 64 writers, to an fdatasync an event`,
    'kev/s',
    run('syncing', { through, rounds }).ms,
    { goal: shared },
  )

/**
 * Something that appends `count` events of the workload, `batch` at a time, and the file that it appends to.
 * @typedef {{ file: string, prepare(count: number): void, append(batch: number, durability: 'sync' | 'none'): Promise<void>, concurrent(): Promise<void>, close(): void }} Appender
 */

/** @param {string} path @param {string} workspace @returns {Promise<Appender>} */
async function sessionAppender(path, workspace) {
  const { coppice } = await import('../library.mjs')
  const { drafts } = await import('../workload.mjs')
  const store = await coppice.openStore(path)
  const session = await store.create({ workspace })
  let at = 0
  /** @type {import('../../src/index.js').Draft[]} */
  let ready = []
  return {
    file: join(path, 'projects', Buffer.from(workspace).toString('base64url'), session.id, 'data.jsonl'),
    prepare: (count) => {
      ready = drafts(at, count)
      at += count
    },
    append: async (batch, durability) => {
      if (batch === 1) for (const draft of ready) await session.append(draft, { durability })
      else
        for (let from = 0; from < ready.length; from += batch)
          await session.append(ready.slice(from, from + batch), { durability })
    },
    concurrent: () => eachOf(ready, (draft) => session.append(draft, { durability: 'sync' })),
    close: () => session.close(),
  }
}

/** The log alone: its lines are made beforehand. @param {string} path @returns {Promise<Appender>} */
async function logAppender(path) {
  const { coppice } = await import('../library.mjs')
  const { drafts } = await import('../workload.mjs')
  const log = coppice.fileLog({ ...coppice.systemPorts, folder: path })
  const at = (/** @type {number} */ i) => new Date(1_800_000_000_000 + i).toISOString()
  const nonce = `${process.pid}-${Date.now()}`
  const root = coppice.encodeLine(
    { parent: null, at: at(0), type: 'session', note: false },
    { format: 1, nonce },
  )
  const made = await log.create([root], 'none')()
  if (made._tag === 'Left') throw made.left
  let given = 0
  let last = root.id
  let tail = root.id
  /** @type {import('../../src/index.js').Line[]} */
  let ready = []
  const put = async (
    /** @type {readonly import('../../src/index.js').Line[]} */ lines,
    /** @type {'sync' | 'none'} */ durability,
  ) => {
    const expected = tail
    tail = lines.at(-1)?.id ?? tail
    const appended = await log.append(root.id, expected, lines, durability)()
    if (appended._tag === 'Left') throw appended.left
  }
  return {
    file: join(path, root.id, 'data.jsonl'),
    prepare: (count) => {
      ready = drafts(given, count).map(({ type, ...payload }, i) => {
        const line = coppice.encodeLine({ parent: last, at: at(given + i + 1), type, note: false }, payload)
        last = line.id
        return line
      })
      given += count
    },
    append: async (batch, durability) => {
      for (let from = 0; from < ready.length; from += batch)
        await put(ready.slice(from, from + batch), durability)
    },
    concurrent: () => eachOf(ready, (line) => put([line], 'sync')),
    close: () => log.close(),
  }
}

/** 64 writers, each of which waits for its own event before it gives the next. @template T @param {readonly T[]} items @param {(item: T) => Promise<unknown>} write */
async function eachOf(items, write) {
  let next = 0
  const writer = async () => {
    while (next < items.length) await write(/** @type {T} */ (items[next++]))
  }
  await Promise.all(Array.from({ length: writers }, writer))
}

/** @param {any} args */
const appender = ({ through, folder, workspace }) =>
  through === 'session'
    ? sessionAppender(join(folder, `append-${process.pid}`), workspace)
    : logAppender(join(folder, `append-${process.pid}`))

/** The lines that were written last, newline included. @param {string} file @param {number} from */
function linesIn(file, from) {
  const bytes = readFileSync(file).subarray(from)
  /** @type {Buffer[]} */
  const lines = []
  eachLine(bytes, (start, end) => lines.push(Buffer.from(bytes.subarray(start, end + 1))))
  return lines
}

/** Syncs a file outside the time, so that neither side pays for what the other left to be written back. @param {string} path */
function settle(path) {
  const fd = openSync(path, 'r+')
  fsyncSync(fd)
  closeSync(fd)
}

/** @param {() => unknown} run */
function settled(run) {
  globalThis.gc?.()
  return stopwatch(run)
}

/** @returns {{ ms: { subject: number[], floor: number[] }, cpu: { subject: number[], floor: number[] } }} */
const noRates = () => ({ ms: { subject: [], floor: [] }, cpu: { subject: [], floor: [] } })

/** @typedef {{ ms: number, cpu: number }} Taken */
/** @param {ReturnType<typeof noRates>} rates @param {Taken} subject @param {number} events @param {Taken} floor @param {number} floorEvents */
function note(rates, subject, events, floor, floorEvents) {
  for (const by of /** @type {const} */ (['ms', 'cpu'])) {
    rates[by].subject.push(events / subject[by])
    rates[by].floor.push(floorEvents / floor[by])
  }
}

/** @param {any} args */
export async function unsynced(args) {
  const { rounds, events, batch, folder } = args
  const subject = await appender(args)
  const plain = join(folder, `plain-${process.pid}`)
  const out = openSync(plain, 'a')
  const rates = { perEvent: noRates(), ready: noRates(), perBatch: noRates() }
  let size = statSync(subject.file).size
  for (let round = 0; round < rounds + warmUp; round++) {
    subject.prepare(events)
    const taken = await settled(() => subject.append(batch, 'none'))
    const lines = linesIn(subject.file, size)
    if (lines.length !== events) throw new Error(`${lines.length} of ${events} events in the log`)
    size = statSync(subject.file).size
    settle(subject.file)
    const floors = await floorsOf(lines, batch, out)
    settle(plain)
    if (round < warmUp) continue
    for (const name of /** @type {const} */ (['perEvent', 'ready', 'perBatch']))
      note(rates[name], taken, events, floors[name], events)
  }
  subject.close()
  closeSync(out)
  rmSync(plain)
  return rates
}

/**
 * The same bytes by `writeSync`: ready, a line or a batch at once; and spelled from their events first, as any JSONL
 * writer must.
 * @param {Buffer[]} lines @param {number} batch @param {number} out
 */
async function floorsOf(lines, batch, out) {
  /** @type {Buffer[]} */
  const batches = []
  for (let from = 0; from < lines.length; from += batch)
    batches.push(Buffer.concat(lines.slice(from, from + batch)))
  const events = lines.map((line) => JSON.parse(line.toString()))
  return {
    ready: await settled(() => {
      for (const line of lines) writeSync(out, line)
    }),
    perBatch: await settled(() => {
      for (const bytes of batches) writeSync(out, bytes)
    }),
    perEvent: await settled(() => {
      for (const event of events) writeSync(out, `${JSON.stringify(event)}\n`)
    }),
  }
}

/** @param {any} args */
export async function syncing(args) {
  const { rounds, folder } = args
  const events = writers * 20
  const few = 100
  const subject = await appender(args)
  const plain = join(folder, `plain-${process.pid}`)
  const out = openSync(plain, 'a')
  const rates = noRates()
  let size = statSync(subject.file).size
  for (let round = 0; round < rounds + 1; round++) {
    subject.prepare(events)
    const taken = await settled(() => subject.concurrent())
    const lines = linesIn(subject.file, size)
    size = statSync(subject.file).size
    const floor = await settled(() => {
      for (const line of lines.slice(0, few)) {
        writeSync(out, line)
        fdatasyncSync(out)
      }
    })
    if (round > 0) note(rates, taken, events, floor, few)
  }
  subject.close()
  closeSync(out)
  rmSync(plain)
  return rates
}
