import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import colors from 'picocolors'
import type { Store } from '../session/api.js'
import { type Config, readConfig } from './config.js'
import { notYet } from './errors/usage.js'
import type { Options } from './options.js'
import { Output } from './output.js'
import { safeName } from './safe-text.js'

export type Colours = ReturnType<typeof colors.createColors>

/** What a command works with: where it is, what it may ask, and where it speaks. */
export interface Context {
  readonly json: boolean
  readonly quiet: boolean
  readonly out: Output
  readonly err: Output
  readonly input: Readable
  /** For what goes to stdout: plain functions where colours are off. */
  readonly colours: Colours
  readonly cwd: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Real path. */
  readonly workspace: string
  readonly storePath: string
  readonly config: Config
  readonly now: () => number
  /** The folder of the installed package. */
  readonly packageFolder: string
  /** How this program was started, to be said in hints. */
  readonly program: string
  /** Opens the store, once; its code loads here. */
  readonly store: () => Promise<Store>
  /** One line on stderr that is no error. */
  readonly warn: (text: string) => Promise<void>
  /** Lets go of what was opened. */
  readonly close: () => Promise<void>
}

/** What a command's module exports: the arguments as given, those that were left out missing at the end. Gives the exit code. */
export type Run = (context: Context, args: readonly string[], options: Options) => Promise<number | undefined>

export interface GlobalOptions {
  readonly store?: string
  readonly workspace?: string
  readonly json?: boolean
  readonly color?: boolean
  readonly quiet?: boolean
}

export const makeContext = async (
  given: GlobalOptions,
  process: NodeJS.Process,
  packageFolder: string,
  withoutConfig = false,
): Promise<Context> => {
  const { env, stdout, stderr } = process
  const cwd = process.cwd()
  const home = homedir()
  const storePath = resolve(cwd, storeOf(given, env, home))
  const config = await readConfig(storePath).catch((error: unknown): Config => {
    if (withoutConfig) return {}
    throw error
  })
  const out = outputOf(stdout)
  const err = outputOf(stderr)
  const json = given.json === true
  const coloured =
    out.isTerminal && given.color !== false && config.color !== false && !env.NO_COLOR && env.TERM !== 'dumb'
  let store: Promise<Store> | undefined
  return {
    json,
    quiet: given.quiet === true,
    out,
    err,
    // Opened when it is asked for.
    get input() {
      return process.stdin
    },
    colours: colors.createColors(coloured),
    cwd,
    home,
    env,
    workspace: real(resolve(cwd, given.workspace ?? '.')),
    storePath,
    config,
    now: Date.now,
    packageFolder,
    program: programOf(process.argv[1], cwd),
    store: () => {
      store ??= open(storePath, config)
      return store
    },
    warn: (text) => err.line(`coppice: ${safeName(text)}`),
    close: async () => (await store?.catch(() => undefined))?.close(),
  }
}

const open = async (path: string, { redact, retention }: Config): Promise<Store> => {
  const { openStore } = await import('../session/store/store.js')
  return openStore(path, {
    ...(redact === undefined ? {} : { redact }),
    ...(retention === undefined ? {} : { retention }),
  })
}

const outputOf = (stream: NodeJS.WriteStream): Output =>
  new Output(stream, stream.isTTY === true, stream.columns || 100)

const storeOf = (given: GlobalOptions, env: NodeJS.ProcessEnv, home: string): string => {
  const store = given.store ?? (env.COPPICE_STORE || env.COPPICE_HOME || join(home, '.coppice'))
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(store)) throw notYet(`stores at a URL (${store.split('://')[0]})`)
  return store
}

/** A workspace that is gone keeps its name: its sessions can still be listed. */
const real = (path: string): string => {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

/** `coppice` where it was found by its name, else the way to its file. */
const programOf = (script: string | undefined, cwd: string): string => {
  if (script === undefined || !script.endsWith('.js')) return 'coppice'
  const path = relative(cwd, script)
  return `node ${path.startsWith('..') ? script : path}`
}
