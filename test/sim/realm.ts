import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Context, createContext, Script } from 'node:vm'
import { timersOf } from './scheduler.js'

/** Who waits, in time of its own. */
interface Waiting {
  after(ms: number, run: () => void): () => void
}

/** Whose timers are those of a program whose process is gone: no one's. */
export const nobody: Waiting = { after: () => () => {} }

interface Globals extends Context {
  job: () => void
  readonly program: unknown
}

const go = new Script('job()')

/**
 * Where a process runs: globals and a queue of promises of its own, which is empty whenever `run` returns. So one process
 * can be stopped in the midst of a call, and another do all that it does, before the first goes on. Everything that its
 * program waits for must be of the realm's own promises.
 */
export class Realm {
  process: Waiting = nobody
  readonly #context: Globals
  /** What its script gives. */
  readonly program: unknown

  constructor(script: Script) {
    const globals = {
      job: () => {},
      console,
      process,
      Buffer,
      Uint8Array,
      ArrayBuffer,
      Error,
      AbortController,
      AbortSignal,
      URL,
      TextDecoder,
      TextEncoder,
      performance,
      structuredClone,
      require: createRequire(import.meta.url),
      ...timersOf((ms, run) => this.process.after(ms, run)),
    }
    this.#context = createContext(globals, { microtaskMode: 'afterEvaluate' }) as Globals
    script.runInContext(this.#context)
    this.program = this.#context.program
  }

  /** Does the job, and what follows from it until everything waits for events. */
  run(job: () => void): void {
    this.#context.job = job
    go.runInContext(this.#context)
  }
}

/** So many realms, with the program that stands beside this one. */
export const realms = (count: number): readonly Realm[] => {
  const path = new URL('./program.js', import.meta.url)
  const script = new Script(readFileSync(path, 'utf8'), { filename: path.pathname })
  return Array.from({ length: count }, () => new Realm(script))
}
