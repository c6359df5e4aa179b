// @ts-check
/** Finds programs that tests need, and installs Debian's packages that bring them, where this process may. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'

/** @param {string} path */
export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export const isDebian = () => existsSync('/etc/debian_version') && isProgram('/usr/bin/apt-get')

/** Installs packages, as root on Debian. Says which step failed; null where all is well. @param {readonly string[]} packages @returns {string | null} */
export function install(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update', '-q'],
    ['install', '-qy', '--no-install-recommends', ...packages],
  ]) {
    const run = spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    if (run.status !== 0) return `\`apt-get ${args[0]}\` failed`
  }
  return null
}
