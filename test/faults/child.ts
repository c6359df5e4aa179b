import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { library } from './engine.js'

/** What a worker said in one line (worker.mjs). */
export interface Said {
  readonly ready?: boolean
  readonly began?: boolean
  readonly done?: boolean
  readonly session?: string
  readonly acked?: readonly string[]
  readonly redacted?: readonly string[]
  readonly place?: 'live' | 'archived'
  readonly phase?: 'editing' | 'moving'
  readonly version?: number
  readonly prompt?: string
  readonly records?: number
  readonly moved?: 'undo' | 'redo'
  readonly failed?: readonly unknown[]
  /** Of racer.mjs. */
  readonly id?: string
  readonly tag?: string
  readonly actual?: string
}

export const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A child that works on a store with the built library, and says line by line what was acknowledged to it. */
export class Worker {
  readonly child: ChildProcessWithoutNullStreams
  readonly said: Said[] = []
  readonly closed: Promise<unknown>
  err = ''
  #rest = ''
  #waiting: (() => void)[] = []

  constructor(
    args: readonly string[],
    {
      program = 'worker.mjs',
      env = {},
    }: { readonly program?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ) {
    this.child = spawn(process.execPath, [script(program), ...args], {
      env: { PATH: process.env.PATH, COPPICE_LIBRARY: library, ...env },
    })
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text
    })
    this.child.stdin.on('error', () => {})
    this.closed = once(this.child, 'close').then(() => this.#wake())
  }

  tell(line: string): void {
    this.child.stdin.write(`${line}\n`)
  }

  /** The first of the lines from `from` on for which `is` holds, once it was said. */
  async when(is: (said: Said) => boolean, from = 0): Promise<Said> {
    for (;;) {
      const found = this.said.slice(from).find(is)
      if (found !== undefined) return found
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`the worker ended (${this.child.exitCode ?? this.child.signalCode}): ${this.err}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Starts its work, and gives back when it has begun. */
  async begin(times = ''): Promise<void> {
    await this.when(({ ready }) => ready === true)
    this.tell(times)
    await this.when(({ began }) => began === true)
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal)
    await this.closed
  }

  /** A line cut short was not said. */
  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.said.push(JSON.parse(line) as Said)
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
