import { Worker } from 'node:worker_threads'

/** What runs beside, in a thread of its own. */
const code = `
  const { workerData: { beats, seconds } } = require('node:worker_threads')
  const { writeSync } = require('node:fs')
  let [last, quiet] = [-1, 0]
  setInterval(() => {
    const beat = Atomics.load(beats, 0)
    quiet = beat === last ? quiet + 1 : 0
    last = beat
    if (quiet < seconds) return
    writeSync(2, 'PROGRESS: seed ' + Atomics.load(beats, 1) + ' does not end within ' + seconds + ' s\\n')
    process.kill(process.pid, 'SIGKILL')
  }, 1000)`

/**
 * Kills this process, with a word, where `beat` is not called for so many seconds: a loop that waits for nothing and asks
 * the disk for nothing can be ended in no other way. `beat` is told the seed of the run that begins.
 */
export const watchdog = (seconds: number): ((seed: number) => void) => {
  const beats = new Int32Array(new SharedArrayBuffer(8))
  new Worker(code, { eval: true, workerData: { beats, seconds } }).unref()
  return (seed) => {
    Atomics.store(beats, 1, seed)
    Atomics.add(beats, 0, 1)
  }
}
