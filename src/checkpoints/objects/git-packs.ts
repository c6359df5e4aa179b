import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Reached } from './reachable.js'

/**
 * Has the installed git pack objects, which it does better than we do, and gives the names of the packs; null where there is
 * no git, or it fails. Nothing of the user's configuration is read, no hook runs, and nothing is removed.
 */
export const gitPacks = (
  repository: string,
  reached: Iterable<readonly [string, Reached]>,
): Promise<readonly string[] | null> =>
  new Promise((resolve) => {
    const target = join(repository, 'objects', 'pack', 'pack')
    const options = ['--quiet', '--window=20', '--depth=50', '--threads=1', '--max-pack-size=256m']
    // Whatever the umask, what git makes is for its owner alone (INV-12).
    const git = ['-c', 'core.sharedRepository=0600', '--git-dir', repository]
    const child = spawn('git', [...git, 'pack-objects', ...options, target], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: ownEnvironment(),
    })
    const names: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => names.push(bytes))
    child.on('error', () => resolve(null))
    child.on('close', (code) => {
      const made = Buffer.concat(names)
        .toString()
        .split('\n')
        .filter((name) => name !== '')
      resolve(code === 0 ? made.map((name) => `pack-${name}`) : null)
    })
    // It may have ended before it read everything; `close` tells.
    child.stdin.on('error', () => undefined)
    for (const [oid, { path }] of reached) child.stdin.write(`${oid} ${path.replaceAll('\n', ' ')}\n`)
    child.stdin.end()
  })

const ownEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  SystemRoot: process.env.SystemRoot,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
})
