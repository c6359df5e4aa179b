// @ts-check
/** Installs an agent from the registry, in a folder of its own that stays for the next run. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** $COPPICE_RESUME_CACHE, else a folder in the system's own for temporary files. */
const cache = process.env.COPPICE_RESUME_CACHE || join(tmpdir(), 'coppice-resume')

/**
 * The folder of a package in `node_modules`. No script of it or of what it needs is run. Throws where it cannot be had.
 * @param {string} name
 * @param {string} version
 */
export function packageAt(name, version) {
  const folder = join(cache, `${name.replaceAll(/[^a-z0-9]+/g, '-')}-${version}`)
  const installed = join(folder, 'node_modules', name)
  if (existsSync(join(installed, 'package.json'))) return installed
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const asked = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
  const { status, stderr, error } = spawnSync('npm', asked, { cwd: folder, encoding: 'utf8' })
  if (status !== 0)
    throw new Error(
      `${name} ${version} cannot be installed: ${error?.message ?? stderr.trim().split('\n')[0]}`,
    )
  return installed
}

/** @param {string} folder */
export const versionAt = (folder) =>
  String(
    /** @type {{ version: string }} */ (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
      .version,
  )
