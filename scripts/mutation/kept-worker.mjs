// @ts-check
/**
 * A pool of Vitest that keeps its thread from one run to the next. A thread costs half a second until it has loaded
 * Vitest and the engine; most mutants are judged in a few milliseconds, and the engine is the same for all of them, as
 * Stryker switches mutants on and off in the loaded code. A mutant of code that runs as a module loads (`static`) gets a
 * thread of its own.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Runs of a thread before a new one takes its place: each leaves a listener behind. */
const runsOfAThread = 100

/** @type {{ readonly thread: Worker, runs: number } | undefined} */
let kept

class KeptWorker {
  name = 'kept'
  /** @type {Worker | undefined} */
  #thread
  /** @type {[event: string, listener: (message: unknown) => void][]} */
  #listeners = []
  #isKept

  /** @param {import('vitest/node').PoolOptions} options */
  constructor(options) {
    this.options = options
    this.#isKept = Object(options.project.getProvidedContext()).mutantActivation === 'runtime'
  }

  get thread() {
    if (this.#thread === undefined) throw new Error('the thread was not started')
    return this.#thread
  }

  async start() {
    if (this.#thread !== undefined) return
    if (!this.#isKept) {
      this.#thread = this.#newThread()
      return
    }
    if (kept === undefined) {
      const thread = this.#newThread()
      thread.once('exit', () => {
        if (kept?.thread === thread) kept = undefined
      })
      kept = { thread, runs: 0 }
    }
    kept.runs += 1
    this.#thread = kept.thread
  }

  #newThread() {
    const { distPath, env, execArgv } = this.options
    return new Worker(join(distPath, 'workers', 'threads.js'), { env, execArgv, stdout: true, stderr: true })
  }

  async stop() {
    for (const [event, listener] of this.#listeners.splice(0)) this.thread.off(event, listener)
    if (this.#isKept && this.thread === kept?.thread && kept.runs < runsOfAThread) return
    await this.thread.terminate()
  }

  /** @param {any} message A `stop` is answered here: it would end the thread's part. */
  send(message) {
    const ends = message?.__vitest_worker_request__ === true && message.type === 'stop'
    if (!ends || !this.#isKept) return this.thread.postMessage(message)
    const answer = { type: 'stopped', __vitest_worker_response__: true }
    for (const [event, listener] of this.#listeners)
      if (event === 'message') queueMicrotask(() => listener(answer))
  }

  /** @param {string} event @param {(message: any) => void} listener */
  on(event, listener) {
    this.#listeners.push([event, listener])
    this.thread.on(event, listener)
  }

  /** @param {string} event @param {(message: any) => void} listener */
  off(event, listener) {
    this.#listeners = this.#listeners.filter(([name, one]) => name !== event || one !== listener)
    this.thread.off(event, listener)
  }

  /** @param {unknown} data */
  deserialize(data) {
    return data
  }
}

/** Puts the pool in the place of the one that Stryker asks for. */
export const keepWorkers = () => ({
  name: 'keep-workers',
  /** @param {{ readonly project: import('vitest/node').TestProject }} context */
  configureVitest({ project }) {
    Object.assign(project.config, {
      pool: 'kept',
      poolRunner: {
        name: 'kept',
        /** @param {import('vitest/node').PoolOptions} options */
        createPoolWorker: (options) => new KeptWorker(options),
      },
    })
  },
})
