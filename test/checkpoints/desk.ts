import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { Checkpoints, type CheckpointsOptions } from '../../src/checkpoints/checkpoints.js'
import type { Choice, Plan } from '../../src/checkpoints/plan-entry.js'
import type { CheckpointReason, Taken, TakeRequest } from '../../src/checkpoints/take.js'
import { restoredFiles } from '../../src/checkpoints/wanted.js'
import type { Event } from '../../src/events/event.js'
import type { CodeState } from '../../src/events/file-record.js'
import { systemPorts } from '../../src/events/system.js'
import { codeStateOf } from '../../src/projections/code-state.js'

export const hasGit = spawnSync('git', ['--version']).status === 0
export const noGit = 'git is not installed'

/** Git as a user without any configuration would run it. */
export const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    },
  })

export const done = async <A>(task: TaskEither<Error, A>): Promise<A> => {
  const result = await task()
  if (E.isLeft(result)) throw result.left
  return result.right
}

export const refusedBy = async <L extends Error, A>(task: TaskEither<L, A>): Promise<L> => {
  const result = await task()
  if (E.isRight(result)) throw new Error(`it was not refused, but gave ${JSON.stringify(result.right)}`)
  return result.left
}

let ids = 0
const nextId = (): string => (++ids).toString(16).padStart(32, '0')

/** A workspace in a temporary folder, with a store beside it. */
export class Desk {
  readonly root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'coppice-code-')))
  readonly workspace = join(this.root, 'w')
  readonly folder = join(this.root, 'store', 'file-history')
  readonly repository = join(this.folder, '.git')
  checkpoints: Checkpoints

  constructor(readonly options: Partial<CheckpointsOptions> = {}) {
    fs.mkdirSync(this.workspace, { recursive: true })
    this.checkpoints = this.open()
  }

  /** As another process would. */
  open(options: Partial<CheckpointsOptions> = {}): Checkpoints {
    return new Checkpoints({
      ...systemPorts,
      folder: this.folder,
      workspace: this.workspace,
      home: join(this.root, 'home'),
      exclude: [join(this.root, 'store')],
      ...this.options,
      ...options,
    })
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

  read(name: string): string | null {
    const path = this.path(name)
    return fs.lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : fs.readFileSync(path, 'utf8')
  }

  remove(name: string): void {
    fs.rmSync(this.path(name), { recursive: true, force: true })
  }

  /** Every file, link and folder of the workspace: what it is, its mode, its bytes or target. */
  tree(folder: string = this.workspace, under = ''): Record<string, string> {
    const found: Record<string, string> = {}
    for (const name of fs.readdirSync(folder).sort()) {
      const path = join(folder, name)
      const stat = fs.lstatSync(path)
      const shown = under + name
      if (stat.isDirectory()) Object.assign(found, { [`${shown}/`]: '' }, this.tree(path, `${shown}/`))
      else if (stat.isSymbolicLink()) found[shown] = `-> ${fs.readlinkSync(path)}`
      else found[shown] = `${(stat.mode & 0o7777).toString(8)} ${fs.readFileSync(path, 'latin1')}`
    }
    return found
  }

  fsck(): string {
    return git(this.repository, 'fsck', '--strict', '--full', '--no-dangling')
  }

  clear(): void {
    fs.rmSync(this.root, { recursive: true, force: true })
  }
}

/** A session as far as checkpoints see it: a tree of events, and where it stands. */
export class Talk {
  readonly id = nextId()
  readonly events = new Map<string, Event>()
  head: string
  scans = false
  lastTaken: Taken | null = null
  checkpoints: Checkpoints

  constructor(readonly desk: Desk) {
    this.checkpoints = desk.checkpoints
    this.events.set(this.id, { id: this.id, parent: null, at: new Date().toISOString(), type: 'session' })
    this.head = this.id
  }

  path(to = this.head): readonly Event[] {
    const path: Event[] = []
    for (let at: string | null = to; at !== null; ) {
      const event = this.events.get(at) as Event
      path.unshift(event)
      at = event.parent
    }
    return path
  }

  state(at = this.head): CodeState {
    return codeStateOf(this.path(at))
  }

  append(type: string, payload: object, parent = this.head, id = nextId()): string {
    const at = new Date().toISOString()
    // As it would be read again.
    const event = JSON.parse(JSON.stringify({ id, parent, at, type, ...payload })) as Event
    this.events.set(id, event)
    this.head = id
    return id
  }

  async take(reason: CheckpointReason, more: Partial<TakeRequest> = {}): Promise<Taken> {
    const taken = await done(
      this.checkpoints.take({ session: this.id, reason, known: this.state(), ...more }),
    )
    this.lastTaken = taken
    if (taken.checkpoint !== null) this.append('checkpoint', taken.checkpoint)
    return taken
  }

  /** What a tool does that says which files it is about to change. */
  async tool(paths: readonly string[], change: () => void): Promise<void> {
    await this.take('before-tool', { paths })
    change()
    await this.take('after-tool', { paths })
  }

  edit(name: string, content: string | Uint8Array, mode?: number): Promise<void> {
    return this.tool([name], () => this.desk.write(name, content, mode))
  }

  /** A user message, with the checkpoint before it; gives its id. */
  async prompt(): Promise<string> {
    await this.take('prompt', { scan: this.scans })
    return this.append('message', { role: 'user', content: 'go on' })
  }

  preview(to: string, choice: Choice = {}): Promise<Plan> {
    return done(this.checkpoints.preview({ current: this.state(), target: this.state(to), choice }))
  }

  /** Moves head and code to a node. */
  restoring(to: string, choice: Choice = {}, reason = 'checkout') {
    const from = this.head
    const target = this.state(to)
    return this.checkpoints.restore({
      session: this.id,
      current: this.state(),
      target,
      choice,
      secured: async (safety) => this.append('checkpoint', safety),
      event: (plan, safety) => {
        const id = nextId()
        const restore = { checkpoint: target.checkpoint, safety, files: restoredFiles(plan, target, 'head') }
        const payload = { to, from: safety ?? from, reason, row: {}, restore }
        const line = JSON.stringify({ id, parent: to, payload })
        return {
          event: id,
          line,
          append: async () => {
            this.append('head', payload, to, id)
            return true
          },
        }
      },
    })
  }

  goTo(to: string, choice: Choice = {}): Promise<Plan> {
    return done(this.restoring(to, choice))
  }

  /** To just before a message. */
  undo(message: string, choice: Choice = {}): Promise<Plan> {
    return this.goTo(this.events.get(message)?.parent as string, choice)
  }

  /** Back to where the last move came from. */
  redo(choice: Choice = {}): Promise<Plan> {
    const moved = this.path().findLast(({ type }) => type === 'head') as Event
    return this.goTo(moved.from as string, choice)
  }

  /** Puts the code of a node back, and stays where the conversation is. */
  async restoreCode(to: string, choice: Choice = {}): Promise<Plan> {
    const target = this.state(to)
    return done(
      this.checkpoints.restore({
        session: this.id,
        current: this.state(),
        target,
        choice,
        secured: async (safety) => this.append('checkpoint', safety),
        event: (plan, safety) => ({
          event: nextId(),
          line: '{}',
          append: async () => {
            const files = restoredFiles(plan, target, 'restore')
            this.append('restore', { checkpoint: target.checkpoint, safety, files })
            return true
          },
        }),
      }),
    )
  }
}

/** The actions of a plan, by path, what stays as it is left out. */
export const actionsOf = (plan: Plan): Record<string, string> =>
  Object.fromEntries(
    plan.entries
      .filter(({ action, why }) => action !== 'keep' || why !== null)
      .map((e) => [e.path, e.action]),
  )
