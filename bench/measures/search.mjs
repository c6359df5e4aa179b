// @ts-check
/**
 * A search over many sessions, once they are indexed, against a plain scan of the same logs: with Node's own functions
 * (read, split, parse, compare in lower case), and by the store without its index. And what making the index costs, and what a
 * session that grew.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { byTurns, of, runCell } from '../cells.mjs'
import { stopwatch } from '../clock.mjs'
import { eachLine } from '../lines.mjs'
import { row } from '../table.mjs'
import { draft } from '../workload.mjs'

const module = './measures/search.mjs'

/** What is searched for: in one session's title; a phrase of a tool's result, in some of the sessions; nowhere. */
const texts = () => {
  const { content } = /** @type {{ content: string }} */ (/** @type {unknown} */ (draft(2)))
  return { title: 'Session 17: ', phrase: content.slice(200, 240), nothing: 'connection refused' }
}

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  const base = { store: fixtures.many, few: fixtures.few, workspace: fixtures.workspace }
  const cell = (/** @type {string} */ name, more = {}) =>
    runCell({ module, name, args: { ...base, ...more } })
  rmSync(join(fixtures.many, 'search'), { recursive: true, force: true })
  const made = cell('indexed')
  const grown = cell('grown')
  const rounds = quick ? 3 : 5
  const what = `in ${fixtures.manyCount} sessions`
  const goal = /** @type {import('../table.mjs').Goal} */ ({ is: '≤', value: 0.05 })
  const searches = Object.entries(texts()).flatMap(([name, text]) => {
    const sides = (/** @type {string} */ floor) =>
      byTurns(rounds, { subject: () => cell('search', { text }), floor: () => cell(floor, { text }) })
    const pairs = { plain: sides('plain'), scan: sides('scan') }
    const pair = (/** @type {'plain' | 'scan'} */ floor, /** @type {string} */ member) => ({
      subject: of(pairs[floor].subject, member),
      floor: of(pairs[floor].floor, member),
    })
    const hits = pairs.scan.subject[0]?.hits
    return [
      row(`search ${what} (${name}, ${hits} hits), to a plain scan`, 'ms', pair('plain', 'ms'), {
        goal,
        cpu: pair('plain', 'cpu'),
      }),
      row(`search ${what} (${name}), to the store without its index`, 'ms', pair('scan', 'ms'), {
        cpu: pair('scan', 'cpu'),
      }),
    ]
  })
  const read = [cell('plain', { text: texts().nothing }).ms ?? 0]
  return [
    ...searches,
    row(`making the index ${what}, to a plain scan`, 'ms', { subject: [made.ms ?? 0], floor: read }),
    row(`a search after one session of them grew, to a plain scan`, 'ms', {
      subject: [grown.ms ?? 0],
      floor: read,
    }),
    row('the index, to the logs', 'MB', { subject: [made.index ?? 0], floor: [made.logs ?? 0] }),
  ]
}

/** @param {import('../../src/index.js').Store} store @param {import('../../src/index.js').SearchOptions} options */
async function hitsOf(store, options) {
  let hits = 0
  for await (const _ of store.search(options)) hits++
  return hits
}

/** In a new process, its modules loaded: what a person waits for. @param {any} args */
export async function search({ store, few, text, workspace, scan = false }) {
  const { coppice } = await import('../library.mjs')
  const other = await coppice.openStore(few)
  await hitsOf(other, { text })
  other.close()
  let hits = 0
  const took = await stopwatch(async () => {
    const held = await coppice.openStore(store)
    hits = await hitsOf(held, { text, workspace, scan })
    held.close()
  })
  return { ...took, hits }
}

/** @param {any} args */
export const scan = (args) => search({ ...args, scan: true })

/** @param {any} args */
export async function indexed({ store, few, workspace }) {
  const took = await search({ store, few, workspace, text: texts().nothing })
  const sizes = logsOf(store, workspace).map((path) => statSync(path).size)
  const logs = sizes.reduce((sum, size) => sum + size, 0) / 1e6
  return { ...took, logs, index: statSync(join(store, 'search', 'index.db')).size / 1e6 }
}

/** @param {any} args */
export async function grown({ store, few, workspace }) {
  const { coppice } = await import('../library.mjs')
  const held = await coppice.openStore(store)
  const [first] = await held.list({ workspace, limit: 1 })
  const session = await held.open(first?.session ?? '')
  await session.append({ type: 'message', role: 'user', content: 'one more' })
  session.close()
  held.close()
  return search({ store, few, workspace, text: texts().nothing })
}

/** @param {string} store @param {string} workspace */
function logsOf(store, workspace) {
  const folder = join(store, 'projects', Buffer.from(workspace).toString('base64url'))
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}$/.test(name))
    .map((name) => join(folder, name, 'data.jsonl'))
}

/** @param {any} args */
export async function plain({ store, workspace, text }) {
  const wanted = text.toLowerCase()
  let hits = 0
  const took = await stopwatch(() => {
    for (const path of logsOf(store, workspace)) {
      const bytes = readFileSync(path)
      eachLine(bytes, (start, end) => {
        const { content } = JSON.parse(bytes.toString('utf8', start, end))
        if (typeof content === 'string' && content.toLowerCase().includes(wanted)) hits++
      })
    }
  })
  return { ...took, hits }
}
