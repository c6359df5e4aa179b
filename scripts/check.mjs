// @ts-check
/** Every check but the tests, one after the other: all are run, what failed is shown in full and named at the end. */
import { spawnSync } from 'node:child_process'
import { root } from './built.mjs'

const checks = ['lint', 'typecheck', 'deps', 'unused', 'build', 'package-check']
const failed = []

for (const name of checks) {
  const startedAt = Date.now()
  const run = spawnSync('npm', ['run', '--silent', name], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  if (run.status === 0) {
    console.log(`ok      ${name} (${seconds} s)`)
    continue
  }
  failed.push(name)
  console.log(`FAILED  ${name} (${seconds} s)\n${run.error ?? ''}${run.stdout ?? ''}${run.stderr ?? ''}`)
}

if (failed.length > 0) {
  console.log(`check: failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
