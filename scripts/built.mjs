// @ts-check
/** Is dist/ built, and newer than all that it is built from? */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const dist = join(root, 'dist')
export const builtEntry = join(dist, 'cli/coppice.js')

const madeFrom = [
  'src',
  'types',
  'scripts/build.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

/**
 * When a file, or anything in a folder, last changed (ms). A folder's own time tells of files that were removed.
 * @param {string} path
 * @returns {number}
 */
function changedAt(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))))
}

export function isBuilt() {
  const built = statSync(builtEntry, { throwIfNoEntry: false })
  return built !== undefined && madeFrom.every((path) => changedAt(join(root, path)) < built.mtimeMs)
}

/** Builds where it is needed. False where that failed: the build has then said why. */
export function ensureBuilt() {
  if (isBuilt()) return true
  const build = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return build.status === 0
}
