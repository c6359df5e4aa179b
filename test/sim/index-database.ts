import type { FileHandle, Fs } from '../../src/events/ports.js'
import type { Candidate, IndexedDoc, IndexedLog } from '../../src/session/search/database.js'

type Change =
  | { readonly set: readonly [name: string, log: IndexedLog] }
  | { readonly add: number; readonly docs: readonly IndexedDoc[] }
  | { readonly remove: number }

/**
 * Stands for the search index's SQLite file, which lies on a real disk, in its promises: what a transaction changes is
 * written when it ends, bit by bit, and never synced; a file that was cut in the midst of that is not known for one. Lines
 * of JSON; one that does not decode is passed over.
 */
export class IndexDatabase {
  readonly #file: FileHandle
  readonly #logs = new Map<string, IndexedLog>()
  #docs: (IndexedDoc & { readonly n: number })[] = []
  #waiting: Change[] | null = null

  constructor(path: string, _isNew: boolean, fs: Fs) {
    for (const line of Buffer.from(fs.readFile(path)).toString().split('\n')) this.#apply(decoded(line))
    this.#file = fs.open(path, 'append')
  }

  logs(): ReadonlyMap<string, IndexedLog> {
    return new Map(this.#logs)
  }

  setLog(name: string, log: Omit<IndexedLog, 'n'>): number {
    const n = this.#logs.get(name)?.n ?? Math.max(0, ...[...this.#logs.values()].map((one) => one.n)) + 1
    this.#change({ set: [name, { ...log, n }] })
    return n
  }

  addDocs(n: number, docs: readonly IndexedDoc[]): void {
    this.#change({ add: n, docs })
  }

  removeLog(n: number): void {
    this.#change({ remove: n })
  }

  wipe(): void {}

  async within(work: () => Promise<void>): Promise<void> {
    this.#waiting = []
    await work()
    const changes = this.#waiting
    this.#waiting = null
    for (const change of changes) this.#write(change)
  }

  /** Everything may hold the query: what is found is compared all the same. */
  candidates(_query: unknown, role: string | null): readonly Candidate[] {
    return this.#docs.filter((doc) => role === null || doc.role === role)
  }

  close(): void {
    this.#file.close()
  }

  #change(change: Change): void {
    this.#apply(change)
    if (this.#waiting === null) this.#write(change)
    else this.#waiting.push(change)
  }

  #write(change: Change): void {
    const bytes = Buffer.from(`${JSON.stringify(change)}\n`)
    if (this.#file.write(bytes) !== bytes.length) throw new Error('the disk is full')
  }

  #apply(change: Change | null): void {
    if (change === null) return
    if ('set' in change) this.#logs.set(...change.set)
    else if ('add' in change) this.#docs.push(...change.docs.map((doc) => ({ ...doc, n: change.add })))
    else {
      this.#docs = this.#docs.filter(({ n }) => n !== change.remove)
      for (const [name, { n }] of this.#logs) if (n === change.remove) this.#logs.delete(name)
    }
  }
}

const decoded = (line: string): Change | null => {
  try {
    return JSON.parse(line) as Change
  } catch {
    return null
  }
}
