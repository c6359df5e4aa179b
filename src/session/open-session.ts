import type { Event, EventId } from '../events/event.js'
import type { Durability } from '../events/log.js'
import type { Command } from './command.js'
import type { SessionState } from './decide.js'
import { SessionLog, type SessionLogOptions, type Waiting } from './session-log.js'
import { closed } from './standing.js'
import type { Presence } from './store/presence.js'

/** Someone who waits for a read of the log. */
interface Asking {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Work that needs the session for itself: nothing else of this object is decided or appended while it runs. */
interface Task {
  readonly work: () => Promise<void>
  readonly reject: (error: unknown) => void
}

const isTask = (item: Waiting | Task): item is Task => 'work' in item

export interface OpenSessionOptions extends SessionLogOptions {
  /** Of appends that do not say. */
  readonly durability: Durability
  readonly others: readonly Presence[]
  readonly release: () => void
}

/** What work that has the session for itself may do with it. */
export interface Hold {
  readonly log: SessionLog
  /** Runs a command as if it had been asked for, deciding again where other writers come first. */
  run(command: Command): Promise<readonly Event[]>
  /** The same, synced, and only on the state as it is: null where another writer came first, and nothing was written. */
  tryOnce(command: Command): Promise<readonly Event[] | null>
}

/**
 * The thin shell round `decide` and `evolve`: it runs commands one batch after the other against the log. Commands that
 * arrive while an append is under way share the next one (group commit).
 */
export class OpenSession {
  readonly id: EventId
  readonly others: readonly Presence[]
  readonly #options: OpenSessionOptions
  readonly #log: SessionLog
  readonly #hold: Hold
  #queue: (Waiting | Task)[] = []
  #refreshes: Asking[] = []
  #isBusy = false
  #isClosed = false
  /** After a rejected append nothing is done before the log was read again (docs/FORMAT.md). */
  #mustReload = false

  constructor(options: OpenSessionOptions) {
    this.#options = options
    this.id = options.id
    this.others = options.others
    this.#log = new SessionLog(options)
    this.#hold = {
      log: this.#log,
      run: (command) =>
        new Promise((resolve, reject) => {
          void this.#runBatch([{ command, durability: options.durability, resolve, reject }])
        }),
      tryOnce: (command) => this.#tryOnce(command),
    }
  }

  get state(): SessionState {
    return this.#log.state
  }

  run(command: Command, durability: Durability = this.#options.durability): Promise<readonly Event[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed(this.id))
      this.#queue.push({ command, durability, resolve, reject })
      this.#wake()
    })
  }

  /** Runs something while the session stands still, on the log as it is by then. */
  alone<T>(work: (hold: Hold) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed(this.id))
      this.#queue.push({ work: () => work(this.#hold).then(resolve), reject })
      this.#wake()
    })
  }

  /** Reads what others appended since, once what is under way is done. */
  refresh(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed(this.id))
      this.#refreshes.push({ resolve, reject })
      this.#wake()
    })
  }

  /** Lets go once what was asked before is done; whatever is asked after it is refused. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isBusy) this.#letGo()
  }

  #letGo(): void {
    this.#log.save()
    this.#options.release()
  }

  #wake(): void {
    if (!this.#isBusy) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length + this.#refreshes.length > 0) {
      if (this.#refreshes.length > 0) await this.#refresh(this.#refreshes.splice(0))
      const [first] = this.#queue
      if (first === undefined) continue
      if (isTask(first)) await this.#runTask(first)
      else await this.#runBatch(this.#takeBatch())
    }
    this.#isBusy = false
    if (this.#isClosed) this.#letGo()
  }

  async #refresh(asked: readonly Asking[]): Promise<void> {
    try {
      await this.#reload()
      for (const { resolve } of asked) resolve()
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  async #reload(): Promise<void> {
    await this.#log.reload()
    this.#mustReload = false
  }

  /** The commands up to the next task. */
  #takeBatch(): readonly Waiting[] {
    const next = this.#queue.findIndex(isTask)
    const batch = this.#queue.splice(0, next < 0 ? this.#queue.length : next)
    return batch.flatMap((item) => (isTask(item) ? [] : [item]))
  }

  async #runTask(task: Task): Promise<void> {
    this.#queue.shift()
    try {
      await this.#reload()
      await task.work()
    } catch (error) {
      this.#mustReload = true
      task.reject(error)
    }
  }

  async #tryOnce(command: Command): Promise<readonly Event[] | null> {
    if (this.#mustReload) await this.#reload()
    let written: readonly Event[] | null = null
    let refused: { readonly error: unknown } | null = null
    await this.#log.attempt([
      {
        command,
        durability: 'sync',
        resolve: (events) => {
          written = events
        },
        reject: (error) => {
          refused = { error }
        },
      },
    ])
    if (refused !== null) throw (refused as { readonly error: unknown }).error
    return written
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      if (this.#mustReload) await this.#reload()
      for (let waiting = batch; waiting.length > 0; ) waiting = await this.#log.attempt(waiting)
    } catch (error) {
      // Whoever waits behind a rejected append decides again, on what the log then holds (docs/FORMAT.md).
      const all = [...batch, ...this.#queue.splice(0)]
      this.#mustReload = true
      await this.#reload().catch(() => {})
      for (const { reject } of all) reject(error)
    }
  }
}
