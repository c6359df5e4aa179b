import { dirname } from 'node:path'
import { StoreUnusable } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import type { Ports } from '../../events/system.js'
import { endsLine } from '../store/index-file.js'

/** A value that stands in no log: what the log holds in its place names it by `ref`. */
interface Entry {
  readonly ref: string
  readonly at: string
  /** null where it was not yet made. */
  readonly session: EventId | null
  readonly kind: string
  readonly value: string
}

/** What stands in a log in the place of a value of the vault: no part of the value, nor a hash, which could be guessed. */
export const placeholder = (kind: string, ref: string): string => `[redacted: ${kind} ${ref}]`

const placeholders = /\[redacted: [a-z0-9-]{1,40} ([0-9a-f]{16})\]/g

/** `vault.jsonl` of a store, 0600: one entry a line, only ever appended to. */
export class Vault {
  readonly #byValue = new Map<string, Entry>()
  readonly #byRef = new Map<string, Entry>()
  #waiting: Entry[] = []
  #isRead = false

  constructor(
    readonly path: string,
    readonly ports: Ports,
  ) {}

  /** What to write in a value's place; the same value has the same, whichever session it stands in. Then `flush`. */
  keep(session: EventId | null, kind: string, value: string): string {
    this.#read()
    const known = this.#byValue.get(value)
    if (known !== undefined) return placeholder(known.kind, known.ref)
    const { clock, random } = this.ports
    const entry: Entry = {
      ref: random.hex(8),
      at: new Date(clock.now()).toISOString(),
      session,
      kind,
      value,
    }
    this.#take(entry)
    this.#waiting.push(entry)
    return placeholder(kind, entry.ref)
  }

  /** Puts what was kept since on disk: before the event that names it. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const entries = this.#waiting
    try {
      const file = this.ports.fs.open(this.path, 'create')
      try {
        const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
        const bytes = Buffer.from(`${endsLine(file) ? '' : '\n'}${lines}`)
        if (file.write(bytes) !== bytes.length) throw new Error('the disk is full')
        await file.sync()
      } finally {
        file.close()
      }
      // Its name too: whoever made the file may not have come so far.
      await this.ports.fs.syncDir(dirname(this.path))
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      throw new StoreUnusable(
        `the vault cannot be written (${why})`,
        this.path,
        'check its permissions and its disk',
        error,
      )
    }
    this.#waiting = this.#waiting.filter((entry) => !entries.includes(entry))
  }

  /** A text with what the vault knows put back. A placeholder whose entry is gone stays. */
  reveal(text: string): string {
    if (!text.includes('[redacted: ')) return text
    this.#read()
    return text.replace(placeholders, (whole, ref: string) => this.#byRef.get(ref)?.value ?? whole)
  }

  #take(entry: Entry): void {
    this.#byValue.set(entry.value, entry)
    this.#byRef.set(entry.ref, entry)
  }

  #read(): void {
    if (this.#isRead) return
    this.#isRead = true
    const { fs } = this.ports
    if (fs.stat(this.path) === null) return
    for (const line of Buffer.from(fs.readFile(this.path)).toString().split('\n')) {
      try {
        const entry = JSON.parse(line) as Entry
        if (typeof entry.ref === 'string' && typeof entry.value === 'string') this.#take(entry)
      } catch {
        // A line that a crash cut short: no event names it.
      }
    }
  }
}
