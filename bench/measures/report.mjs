// @ts-check
/**
 * A session as a page: what it takes to write it, and to open it in Chromium (from a file, to the first paint of the
 * whole page, against an empty page). Left out where there is no Chromium.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium } from '../../scripts/chromium.mjs'
import { runCell } from '../cells.mjs'
import { coppice } from '../library.mjs'
import { row } from '../table.mjs'
import { drafts } from '../workload.mjs'

const cli = fileURLToPath(new URL('../../dist/cli/coppice.js', import.meta.url))
const peakAtExit = fileURLToPath(new URL('../peak-at-exit.mjs', import.meta.url))
const module = './measures/report.mjs'

/** @param {number} value */
const itself = (value) => value

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  return (quick ? [5_000] : [5_000, 50_000]).flatMap((events) => {
    const store = join(fixtures.folder, `report-${events}`)
    const args = { store, workspace: fixtures.workspace, events }
    runCell({ module, name: 'make', args })
    const file = join(fixtures.folder, `report-${events}.html`)
    const { ms, peak } = written(store, fixtures.workspace, file)
    const name = `report, ${events} events`
    const one = (/** @type {number} */ subject, /** @type {number} */ floor) => ({
      subject: [subject],
      floor: [floor],
    })
    const writing = [
      row(`${name}: writing it`, 'ms', one(ms, 1), { compare: itself }),
      row(`${name}: peak memory, MiB`, 'MiB', one(peak, 1), {
        compare: itself,
        goal: { is: '<', value: 300 },
      }),
      row(`${name}: its bytes, to the bytes of its text`, 'B', one(statSync(file).size, textBytes(file)), {
        goal: { is: '<', value: 1.5 },
      }),
    ]
    return findChromium() === null ? writing : [...writing, ...openedRows(name, file, events, quick ? 3 : 5)]
  })
}

/** @param {string} name @param {string} file @param {number} events @param {number} rounds */
function openedRows(name, file, events, rounds) {
  const empty = `${file}.empty.html`
  writeFileSync(empty, '<!doctype html><title>empty</title>')
  const read = () => runCell({ module, name: 'open', args: { file } })
  const readings = Array.from({ length: rounds }, read)
  const floors = Array.from({ length: rounds }, () =>
    runCell({ module, name: 'open', args: { file: empty } }),
  )
  const of = (/** @type {readonly Record<string, number>[]} */ list, /** @type {string} */ member) =>
    list.map((reading) => reading[member] ?? Number.NaN)
  return [
    row(
      `${name}: opening it in Chromium, ms`,
      'ms',
      { subject: of(readings, 'ms'), floor: of(floors, 'ms') },
      {
        compare: itself,
        ...(events === 5_000 ? { goal: /** @type {const} */ ({ is: '<', value: 2000 }) } : {}),
      },
    ),
    row(
      `${name}: elements in the page then`,
      '',
      { subject: of(readings, 'nodes'), floor: of(floors, 'nodes') },
      { compare: itself },
    ),
    row(
      `${name}: the slowest frame of a scroll through it, ms`,
      'ms',
      { subject: of(readings, 'slowest'), floor: of(floors, 'slowest') },
      { compare: itself },
    ),
  ]
}

/** @param {string} store @param {string} workspace @param {string} file */
function written(store, workspace, file) {
  const peakFile = `${file}.peak`
  const env = { ...process.env, COPPICE_BENCH_PEAK: peakFile }
  const sessions = JSON.parse(
    spawnSync(process.execPath, [cli, 'list', '--store', store, '-w', workspace, '--json'], {
      encoding: 'utf8',
    }).stdout,
  )
  const from = performance.now()
  const args = [
    '--import',
    peakAtExit,
    cli,
    'export',
    sessions[0].session,
    'html',
    file,
    '--force',
    '-q',
    '--store',
    store,
  ]
  const run = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  if (run.status !== 0) throw new Error(`export ended with ${run.signal ?? run.status}`)
  return { ms: performance.now() - from, peak: Number(readFileSync(peakFile, 'utf8')) }
}

/** The text of the page's body, images aside. @param {string} file */
function textBytes(file) {
  const html = readFileSync(file, 'utf8')
  const entities = /** @type {Record<string, string>} */ ({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#39': "'",
  })
  const text = html
    .slice(html.indexOf('<body'))
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '')
  return Buffer.byteLength(text)
}

/** @param {{ store: string, workspace: string, events: number }} wanted */
export async function make({ store: path, workspace, events }) {
  const store = await coppice.openStore(path, { durability: 'none' })
  const session = await store.create({
    workspace,
    title: `A session of ${events} events`,
    system: 'You are a coding agent.',
  })
  for (let at = 0; at < events; at += 200) await session.append(drafts(at, 200))
  session.close()
  store.close()
  return {}
}

/** Opens a page, waits for two frames, and scrolls through the first of it. @param {{ file: string }} what */
export async function open({ file }) {
  const { chromium } = await import('playwright-core')
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  const browser = await chromium.launch({ executablePath: findChromium() ?? '', headless: true, args })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.setDefaultTimeout(300_000)
    const from = performance.now()
    await page.goto(`file://${file}`, { timeout: 300_000 })
    const frames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    await page.evaluate(frames)
    const ms = performance.now() - from
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    const slowest = await page.evaluate(async () => {
      let last = performance.now()
      let most = 0
      for (let at = 0; at < 60; at++) {
        scrollBy(0, 400)
        await new Promise((resolve) => requestAnimationFrame(resolve))
        const now = performance.now()
        most = Math.max(most, now - last)
        last = now
      }
      return most
    })
    return { ms, nodes, slowest }
  } finally {
    await browser.close()
  }
}
