// @ts-check
/**
 * A vitest reporter that counts, for scripts/test.mjs: it writes what happened as JSON to the file that
 * COPPICE_TEST_SUMMARY names.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/**
 * @typedef {{ where: string, why: string }} Skip
 * @typedef {{ passed: number, failed: number, broken: string[], skips: Skip[] }} Summary
 *   failed: tests. broken: what failed outside a test (a file that did not load, a hook, an unhandled error).
 */

/** @param {import('vitest/node').TestCase} test @returns {Skip} */
function skip(test) {
  const { parent } = test
  const file = relative(process.cwd(), test.module.moduleId)
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  const failedSetup = parent.state() === 'failed' && parent.errors().length > 0
  const why =
    note ?? (failedSetup ? 'its setup failed' : test.options.mode === 'todo' ? 'todo' : 'no reason given')
  return { where: parent.type === 'suite' ? `${file} > ${parent.fullName}` : file, why }
}

export default class TestSummaryReporter {
  /**
   * @param {ReadonlyArray<import('vitest/node').TestModule>} modules
   * @param {ReadonlyArray<import('vitest').SerializedError>} unhandled
   */
  onTestRunEnd(modules, unhandled) {
    /** @type {Summary} */
    const summary = { passed: 0, failed: 0, broken: [], skips: [] }
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      if (module.errors().length > 0) summary.broken.push(`${file}: did not load or set up`)
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length > 0) summary.broken.push(`${file} > ${suite.fullName}: a hook failed`)
      }
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') summary.passed++
        else if (state === 'skipped') summary.skips.push(skip(test))
        else summary.failed++ // `pending` too: it did not end
      }
    }
    for (const error of unhandled) summary.broken.push(`unhandled error: ${error.message}`)
    const path = process.env.COPPICE_TEST_SUMMARY
    if (path) writeFileSync(path, JSON.stringify(summary))
  }
}
