import fc from 'fast-check'

/**
 * In CI every property runs from one seed, so that a change is judged by what it changes. Everywhere else each run looks
 * at cases that nobody has seen yet: `FC_RUNS=20 npm test -- test/property`. `FC_SEED` sets another seed.
 */
const seed = process.env.FC_SEED ?? (process.env.CI === 'true' ? '20261201' : undefined)
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
