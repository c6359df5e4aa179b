import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtEntry, ensureBuilt } from '../../scripts/built.mjs'
import { newFolder } from './folders.js'

/** The entry that is tested: the built one, or the one that COPPICE_BIN names (an installed package, say). */
export const entry = process.env.COPPICE_BIN ?? builtEntry
if (process.env.COPPICE_BIN === undefined && !ensureBuilt()) throw new Error('the build failed')

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** stdout as one JSON value. */
  readonly json: () => unknown
}

export interface Place {
  /** A folder of its own, empty. */
  readonly folder: string
  readonly store: string
  readonly workspace: string
}

/** What the command sees of the world: nothing of the machine's own stores. */
const surroundings = (store: string, env: Record<string, string>): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: store,
  COPPICE_HOME: store,
  ...env,
})

export interface RunOptions {
  readonly input?: string | Buffer
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Runs one command to its end, in a store. */
export const runIn = (store: string, args: readonly string[], options: RunOptions = {}): Ran => {
  const { input = '', cwd = newestFolder(store), env = {} } = options
  const ran = spawnSync(process.execPath, [entry, ...args], {
    input,
    cwd,
    env: surroundings(store, env),
    maxBuffer: 1 << 30,
    timeout: 120_000,
  })
  const out = ran.stdout.toString()
  return { code: ran.status, out, err: ran.stderr.toString(), json: () => JSON.parse(out) as unknown }
}

const workspaces = new Map<string, string>()
const newestFolder = (store: string): string => workspaces.get(store) ?? tmpdir()

/** A store and a workspace of their own, and the command run there. */
export const place = (): Place & { readonly run: (args: readonly string[], options?: RunOptions) => Ran } => {
  const folder = newFolder()
  const store = join(folder, 'store')
  const workspace = newFolder()
  workspaces.set(store, workspace)
  return { folder, store, workspace, run: (args, options) => runIn(store, args, options) }
}

/** Starts a command that goes on. */
export const startIn = (
  store: string,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [entry, ...args], { cwd: newestFolder(store), env: surroundings(store, env) })

/** Drafts as lines. */
export const draftLines = (...drafts: readonly object[]): string =>
  drafts.map((draft) => `${JSON.stringify(draft)}\n`).join('')

export const user = (content: string): object => ({ type: 'message', role: 'user', content })
export const assistant = (content: string): object => ({ type: 'message', role: 'assistant', content })

/** A session with these drafts, and the ids that `append` printed. */
export const sessionWith = (
  { run }: { readonly run: (args: readonly string[], options?: RunOptions) => Ran },
  ...drafts: readonly object[]
): { readonly session: string; readonly ids: readonly string[] } => {
  const session = run(['new']).out.trim()
  const { out } = run(['append', session], { input: draftLines(...drafts) })
  return { session, ids: out.split('\n').filter((id) => id !== '') }
}
