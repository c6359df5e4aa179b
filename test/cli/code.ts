import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { openStore, type Session } from '../../src/index.js'
import { entry, type Place, place, type Ran, type RunOptions } from './coppice.js'

/** One file of a plan, as `--json` prints it. */
export interface PlanRow {
  readonly path: string
  readonly action: string
  readonly why: string | null
  readonly outside: boolean
}

/** A session and its workspace, worked on as an agent would that knows nothing but the command line. */
export class Agent implements Place {
  readonly folder: string
  readonly store: string
  readonly workspace: string
  readonly session: string
  readonly #run: (args: readonly string[], options?: RunOptions) => Ran

  constructor(
    readonly env: Record<string, string> = {},
    newOptions: readonly string[] = [],
    here: Place & { readonly run: (args: readonly string[], options?: RunOptions) => Ran } = place(),
    session?: string,
  ) {
    this.folder = here.folder
    this.store = here.store
    this.workspace = here.workspace
    this.#run = here.run
    this.session = session ?? this.run('new', ...newOptions).out.trim()
  }

  /** With a session that is made in this process: a command takes longer to start than to run. */
  static async ready(): Promise<Agent> {
    const here = place()
    const store = await openStore(here.store, { durability: 'none', userHome: here.store })
    const session = await store.create({ workspace: here.workspace })
    session.close()
    store.close()
    return new Agent({}, [], here, session.id)
  }

  run(...args: readonly string[]): Ran {
    return this.runWith({}, ...args)
  }

  runWith(options: RunOptions, ...args: readonly string[]): Ran {
    return this.#run(args, { cwd: this.workspace, ...options, env: { ...this.env, ...options.env } })
  }

  /** Where no file may grow past some 64 kB, as on a disk that is nearly full. */
  runWithoutRoom(input: string, ...args: readonly string[]): Ran {
    const limited = ['-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, entry, ...args]
    const env = { PATH: process.env.PATH, HOME: this.store, COPPICE_HOME: this.store }
    const ran = spawnSync('sh', limited, { cwd: this.workspace, env, input, encoding: 'utf8' })
    return { code: ran.status, out: ran.stdout, err: ran.stderr, json: () => JSON.parse(ran.stdout) }
  }

  /** Another session of the same store and workspace. */
  another(): Agent {
    const run = (args: readonly string[], options?: RunOptions): Ran => this.#run(args, options)
    return new Agent(this.env, [], { ...this.place, run })
  }

  get place(): Place {
    const { folder, store, workspace } = this
    return { folder, store, workspace }
  }

  path(name: string): string {
    return name.startsWith('/') ? name : join(this.workspace, name)
  }

  write(name: string, content: string | Uint8Array, mode?: number): void {
    const path = this.path(name)
    fs.mkdirSync(dirname(path), { recursive: true })
    fs.writeFileSync(path, content)
    if (mode !== undefined) fs.chmodSync(path, mode)
  }

  read(name: string): string {
    return fs.readFileSync(this.path(name), 'utf8')
  }

  /** Appends a user message; gives its id. In this process, as `tool`. */
  prompt(text = 'go on'): Promise<string> {
    return this.#held(async (session) => {
      const events = await session.append({ type: 'message', role: 'user', content: text }, { notice: false })
      return events.at(-1)?.id ?? ''
    })
  }

  /** What a tool does that tells which files it is about to change, and has changed. */
  tool(paths: readonly string[], change: () => void): Promise<void> {
    return this.#held(async (session) => {
      await session.checkpoint(paths, { reason: 'before-tool' })
      change()
      await session.checkpoint(paths, { reason: 'after-tool' })
    })
  }

  /** The same by commands alone. */
  toolByCommand(paths: readonly string[], change: () => void): void {
    this.done('checkpoint', this.session, ...paths, '--reason', 'before-tool')
    change()
    this.done('checkpoint', this.session, ...paths, '--reason', 'after-tool')
  }

  edit(name: string, content: string | Uint8Array, mode?: number): Promise<void> {
    return this.tool([name], () => this.write(name, content, mode))
  }

  async #held<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const store = await openStore(this.store, { durability: 'none', userHome: this.env.HOME ?? this.store })
    try {
      const session = await store.open(this.session)
      const result = await work(session)
      session.close()
      return result
    } finally {
      store.close()
    }
  }

  /** Runs a command that must end well. */
  done(...args: readonly string[]): Ran {
    const ran = this.run(...args)
    if (ran.code !== 0) throw new Error(`coppice ${args.join(' ')} ended with ${ran.code}: ${ran.err}`)
    return ran
  }

  undo(target: string, ...options: readonly string[]): Ran {
    return this.run('undo', this.session, target, ...options)
  }

  /** The actions of a plan by path, what stays as it is left out. */
  actions(...args: readonly string[]): Record<string, string> {
    const { plan } = this.run(...args, '--json').json() as { readonly plan: readonly PlanRow[] }
    const told = plan.filter(({ action, why }) => action !== 'keep' || why !== null)
    return Object.fromEntries(told.map(({ path, action }) => [path, action]))
  }

  head(): string {
    return (this.done('tree', this.session, '--json').json() as { readonly head: string }).head
  }

  /** Every file and link of the workspace: its mode, and its bytes or target. */
  tree(folder: string = this.workspace, under = ''): Record<string, string> {
    const found: Record<string, string> = {}
    for (const name of fs.readdirSync(folder).sort()) {
      const path = join(folder, name)
      const stat = fs.lstatSync(path)
      if (stat.isDirectory()) Object.assign(found, this.tree(path, `${under}${name}/`))
      else if (stat.isSymbolicLink()) found[under + name] = `-> ${fs.readlinkSync(path)}`
      else found[under + name] = `${(stat.mode & 0o777).toString(8)} ${fs.readFileSync(path, 'latin1')}`
    }
    return found
  }

  /** The bare repository that holds the checkpoints of the workspace. */
  get repository(): string {
    const projects = join(this.store, 'projects')
    const [key = ''] = fs.readdirSync(projects)
    return join(projects, key, 'file-history', '.git')
  }
}
