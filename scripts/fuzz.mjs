// @ts-check
/**
 * `npm run fuzz -- [--seconds T] [--seed N] [--inputs K] [--only lines|logs|readers|commands]`: feeds the line codec, logs,
 * the readers of other tools' files and the command line what nobody means. Ends with 1 where one of them crashes, hangs,
 * or touches what it may not.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundled } from './sim-bundle.mjs'

const { path, remove } = await bundled('test/fuzz/main.ts')
try {
  const env = { ...process.env, COPPICE_ROOT: fileURLToPath(new URL('..', import.meta.url)) }
  const { status } = spawnSync(process.execPath, [path, ...process.argv.slice(2)], { stdio: 'inherit', env })
  process.exitCode = status ?? 1
} finally {
  remove()
}
