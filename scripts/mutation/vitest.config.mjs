// @ts-check
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import { keepWorkers } from './kept-worker.mjs'

/** The projections' own tests, and properties that concern them. */
const ofProjections = [
  'test/projections/*.test.ts',
  'test/checkpoints/code-state.test.ts',
  'test/property/{context-repair,divergence,projections-replay,tree,undo-redo}.test.ts',
]
const ofEvents = [
  'test/events/*.test.ts',
  'test/contract/{file,memory}-log.test.ts',
  'test/property/{blobs,file-log,lines,walk-back}.test.ts',
]

/** Units whose code only some tests run. @type {Readonly<Record<string, string[]>>} */
const testsOf = {
  projections: ofProjections,
  blobs: ['test/events/{blob,draft}*.test.ts', 'test/property/blobs.test.ts'],
  reading: ofEvents,
  writing: ofEvents,
}

/** A mutant is done with at the first test that fails, so plain examples come before the logs, and properties last. */
const order = [
  /test.(projections|checkpoints|events.(draft|line|format-1|tree))/,
  /test.events/,
  /test.contract/,
]

class CheapFirst extends BaseSequencer {
  /** @override @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    /** @param {import('vitest/node').TestSpecification} file */
    const placeOf = ({ moduleId }) => {
      const at = order.findIndex((pattern) => pattern.test(moduleId))
      return at < 0 ? order.length : at
    }
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

/** The tests that judge mutants: those of events and projections, less what is slow or wants processes of its own. */
export default defineConfig({
  plugins: process.env.MUTATE_FRESH === '1' ? [] : [keepWorkers()],
  test: {
    include: testsOf[process.env.MUTATE_UNIT ?? ''] ?? [...ofProjections, ...ofEvents],
    exclude: ['test/events/{processes,flipped-bits,cuts,umask}.test.ts', 'test/projections/deep.test.ts'],
    setupFiles: ['test/support/seed.ts', 'scripts/mutation/no-mutant.mjs'],
    sequence: { sequencer: CheapFirst },
    isolate: false,
    testTimeout: 60_000,
  },
})
