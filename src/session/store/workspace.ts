import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { sha256 } from '../../events/id.js'

/** What `workspace.json` holds: the path, and what tells the repository there apart when it moves. */
export interface Workspace {
  readonly format: 1
  readonly path: string
  readonly repo?: Repo
}

/** `inside`: the workspace's path within the repository, '' at its top. */
export interface Repo {
  readonly firstCommit?: string
  readonly remote?: string
  readonly inside?: string
}

const longest = 120
const kept = 107

/** URL-safe base64 of the path, cut and hashed where it is long: it never leaves the root (INV-12), and no two share one. */
export const workspaceKey = (path: string): string => {
  const key = Buffer.from(path).toString('base64url')
  return key.length <= longest ? key : `${key.slice(0, kept)}-${sha256(key).slice(0, 12)}`
}

/** The key where another path already holds the first one (a disk that ignores case). */
export const otherKey = (path: string): string => `${workspaceKey(path)}-${sha256(path).slice(0, 12)}`

/** The real absolute path; a folder that is not there (an imported session's) keeps the name it has. */
export const realWorkspace = (path: string): string => {
  const absolute = resolve(path)
  try {
    return realpathSync.native(absolute)
  } catch {
    return absolute
  }
}

const git = promisify(execFile)

/** Asks git, where there is one, what repository the workspace lies in; undefined where there is none. */
export const repoOf = async (path: string): Promise<Repo | undefined> => {
  const ask = async (...args: string[]): Promise<string> => {
    try {
      const { stdout } = await git('git', ['-C', path, ...args], {
        timeout: 2000,
        maxBuffer: 1024 * 1024,
        env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
      })
      return stdout.trim()
    } catch {
      return ''
    }
  }
  const inside = await ask('rev-parse', '--is-inside-work-tree')
  if (inside !== 'true') return undefined
  const [roots, remote, prefix] = await Promise.all([
    ask('rev-list', '--max-parents=0', 'HEAD'),
    ask('config', '--get', 'remote.origin.url'),
    ask('rev-parse', '--show-prefix'),
  ])
  const firstCommit = roots.split('\n').at(-1)
  return {
    ...(firstCommit ? { firstCommit } : {}),
    ...(remote ? { remote: withoutSecrets(remote) } : {}),
    inside: prefix.replace(/\/$/, ''),
  }
}

/** A remote's address may hold a token. */
const withoutSecrets = (remote: string): string => remote.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1')
