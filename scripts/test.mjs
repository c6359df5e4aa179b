// @ts-check
/**
 * `npm test [-- ARGUMENTS OF VITEST]`: builds dist/ where it is old, runs the tests once, and ends with one line
 * `N passed, N failed[, N skipped]`. What failed outside a test (a file that did not load, an unhandled error, vitest
 * itself, the build) counts as failed. With CI=true a skipped test does too: there, everything that tests need is installed.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBuilt, root } from './built.mjs'
import { ensureChromium } from './chromium.mjs'
import { ensureFaultTools } from './faults.mjs'

/** @typedef {import('./test-summary-reporter.mjs').Summary} Summary */

const args = process.argv.slice(2)
const inCi = process.env.CI === 'true'
// Vitest counts what a name filter leaves out as skipped, without a note.
const filtersByName = args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg))

/** @param {string} why @returns {Summary} */
const nothingRan = (why) => ({ passed: 0, failed: 0, broken: [why], skips: [] })

// Tests in a browser skip themselves where there is none, and say why.
const noChromium = ensureChromium()
if (noChromium !== null) process.env.COPPICE_NO_CHROMIUM = noChromium
ensureFaultTools()

/** @returns {Summary} */
function runVitest() {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-test-'))
  const summaryFile = join(folder, 'summary.json')
  const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')))
  const reporters = ['--reporter=default', '--reporter=./scripts/test-summary-reporter.mjs']
  try {
    const colours = process.stdout.isTTY || process.env.FORCE_COLOR ? [] : ['--no-color']
    const run = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...colours, ...args], {
      cwd: root,
      env: { ...process.env, COPPICE_TEST_SUMMARY: summaryFile },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const ended = `vitest ended with ${run.signal ?? run.error?.message ?? `exit code ${run.status}`}`
    const summary = readSummary(summaryFile) ?? nothingRan(`${ended}, and counted no test`)
    const explained = run.status === 0 || summary.failed + summary.broken.length > 0
    return explained ? summary : { ...summary, broken: [ended] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} path @returns {Summary | undefined} */
function readSummary(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {Summary['skips']} skips */
function printSkips(skips) {
  /** @type {Map<string, number>} */
  const groups = new Map()
  for (const { where, why } of skips) {
    const group = JSON.stringify([where, why])
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  for (const [group, count] of groups) {
    const [where, why] = JSON.parse(group)
    console.log(`skipped ${count}: ${where}: ${why}`)
  }
}

/** @param {Summary} summary */
function report({ passed, failed, broken, skips: all }) {
  const skips = filtersByName ? all.filter(({ why }) => why !== 'no reason given') : all
  for (const what of broken) console.log(`failed outside a test: ${what}`)
  printSkips(skips)
  if (inCi && skips.length > 0) console.log(`CI: the ${skips.length} skipped count as failed`)
  if (passed + failed === 0) console.log('no test ran')
  const failures = failed + broken.length + (inCi ? skips.length : 0)
  const skipped = inCi || skips.length === 0 ? '' : `, ${skips.length} skipped`
  console.log(`${passed} passed, ${failures} failed${skipped}`)
  process.exitCode = failures > 0 || passed === 0 ? 1 : 0
}

report(ensureBuilt() ? runVitest() : nothingRan('the build'))
