export {
  type Deed,
  historyArbitrary,
  hostileEventsArbitrary,
  logArbitrary,
} from '../../src/testing/arbitraries.js'

/** How often a property runs, times `FC_RUNS`. */
export const runs = (base: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base),
})
