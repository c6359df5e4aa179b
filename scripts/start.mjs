// @ts-check
/** `npm start`: builds what is missing or old, then plays the demo. */
import { spawnSync } from 'node:child_process'
import { builtEntry, ensureBuilt } from './built.mjs'

if (ensureBuilt()) {
  const demo = spawnSync(process.execPath, [builtEntry, 'demo', ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  process.exitCode = demo.status ?? 1
} else {
  process.exitCode = 1
}
