// @ts-check
/**
 * Mutation tests of src/events and src/projections (docs/RELIABILITY.md). `npm run mutate` runs them folder by folder
 * and sets what is to be mutated, the seed and the files of results.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'scripts/mutation/vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  // What only runs as a module loads is judged in a run of its own (`npm run mutate -- --static`): every test has a say.
  ignoreStatic: process.env.MUTATE_STATIC !== '1',
  mutate: ['src/{events,projections}/**/*.ts'],
  ignorePatterns: ['/*', '!/src', '!/test', '!/scripts', '!/package.json', '!/tsconfig.json'],
  disableTypeChecks: false,
  reporters: ['progress-append-only', 'json'],
  incremental: true,
  tempDirName: '.mutation/sandbox',
  concurrency: 1,
  timeoutMS: 10_000,
}
