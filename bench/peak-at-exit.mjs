// @ts-check
/** Imported before a program: writes the most memory it ever held (MiB) to the file that COPPICE_BENCH_PEAK names. */
import { writeFileSync } from 'node:fs'
import { peakMiB } from './memory.mjs'

process.on('exit', () => {
  const path = process.env.COPPICE_BENCH_PEAK
  if (path) writeFileSync(path, `${peakMiB()}`)
})
