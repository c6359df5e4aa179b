import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { entry, place } from '../cli/coppice.js'

/** As printf takes them: Node gives a program such bytes as U+FFFD. */
const raw = ['\\377\\376', '\\355\\240\\200', '\\300\\257..\\300\\257', '\\033[2J\\001']

const isWindows = process.platform === 'win32'

test.runIf(!isWindows).each(raw)('an argument of the bytes %s is refused with one plain line', (bytes) => {
  const { store, workspace } = place()
  const env = { PATH: process.env.PATH, HOME: store, COPPICE_HOME: store }
  const script = `"$1" "$2" show "$(printf '${bytes}')"`
  const ran = spawnSync('sh', ['-c', script, 'sh', process.execPath, entry], { cwd: workspace, env })
  const err = ran.stderr.toString()
  expect(ran.status).toBe(3)
  expect(err).toMatch(/^coppice: [^\n]*\n$/)
  expect(err).not.toContain('\u001b')
})
