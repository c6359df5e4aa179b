import type { Writable } from 'node:stream'
import { safeJson } from './safe-text.js'

/** Whoever read our output has closed it (`| head`): the command ends quietly. */
export class ClosedPipe extends Error {}

/** One output stream: waits where the reader is slow, and notices when it is gone. */
export class Output {
  /** Set: writes into a closed pipe are dropped, and the work goes on. */
  keepGoing = false
  #closed = false
  #failure: Error | undefined
  /** Ends the wait of a write for a slow reader. */
  #goOn = (): void => {}

  constructor(
    private readonly stream: Writable,
    readonly isTerminal: boolean,
    /** Columns of the terminal, or what fits where there is none. */
    readonly columns: number,
  ) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#closed = true
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') this.#failure = error
      this.#goOn()
    })
    stream.on('drain', () => this.#goOn())
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    this.#check()
    if (this.#closed || this.stream.write(chunk)) return
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
    })
    this.#check()
  }

  line(text = ''): Promise<void> {
    return this.write(`${text}\n`)
  }

  /** One JSON value on one line. */
  json(value: unknown): Promise<void> {
    return this.line(this.#spelled(value))
  }

  /** One JSON array, an element at a time, so that a long one is never one string. */
  async jsonArray(items: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
    let before = '['
    for await (const item of items) {
      await this.write(before + this.#spelled(item))
      before = ',\n'
    }
    await this.write(before === '[' ? '[]\n' : ']\n')
  }

  /** Resolves when all that was written has left the process, or cannot. */
  async flush(): Promise<void> {
    if (this.#closed) return
    await new Promise<void>((resolve) => this.stream.write('', () => resolve()))
  }

  #spelled(value: unknown): string {
    const json = JSON.stringify(value)
    return this.isTerminal ? safeJson(json) : json
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closed && !this.keepGoing) throw new ClosedPipe()
  }
}
