/** When a fuzzer is to end: after so many inputs, or so many milliseconds. */
export interface Until {
  readonly seed: number
  readonly inputs: number
  readonly ms: number
}

/** An input that did what none may do. */
export interface Finding {
  readonly what: string
  readonly seed: number
  readonly detail: string
}

export interface Tally {
  inputs: number
  /** The longest that one input took (ms). */
  slowest: number
  readonly findings: Finding[]
}

/** No input takes longer (ms); a machine that others use too is given its time. */
const patience = 10_000
/** What all of it may take at most of the memory beside what it had (bytes). */
const mostMemory = 1024 * 1024 * 1024

/** Gives a fuzzer its seeds one after the other, and gathers what it finds: errors, and inputs that take too long. */
export const fuzz = async (
  { seed: first, inputs, ms }: Until,
  feed: (seed: number) => Promise<void> | void,
  most = 20,
): Promise<Tally> => {
  const tally: Tally = { inputs: 0, slowest: 0, findings: [] }
  const until = performance.now() + ms
  const before = process.memoryUsage().rss
  for (let i = 0; i < inputs && performance.now() < until && tally.findings.length < most; i++) {
    const seed = first + i
    const started = performance.now()
    try {
      await feed(seed)
    } catch (error) {
      const { message, stack = '' } = error as Error
      tally.findings.push({ what: message, seed, detail: stack })
    }
    const took = performance.now() - started
    tally.inputs++
    tally.slowest = Math.max(tally.slowest, took)
    if (took > patience) tally.findings.push({ what: `it took ${Math.round(took)} ms`, seed, detail: '' })
  }
  const grown = process.memoryUsage().rss - before
  if (grown > mostMemory)
    tally.findings.push({ what: `it took ${grown} bytes of memory`, seed: first, detail: '' })
  return tally
}
