import { join } from 'node:path'
import type { FileHandle, FileStat } from '../../events/ports.js'
import { systemPorts } from '../../events/system.js'
import type { Home } from '../store/home.js'
import { IndexDatabase } from './database.js'

/** Raised where what is searched, how it is folded, or the schema changes: an index of another version is made anew. */
const version = 3
/** How long a search waits for another process's work on the index before it reads the logs instead (ms). */
const patience = 3_000
/** How long one that must have it waits (ms). */
const longPatience = 60_000
const pause = 5

/**
 * The index's files: `index.db`, SQLite's; `mark`, which says that it is whole, by its version, inode, size and time; `lock`.
 * The index is used under a kernel lock of ours: SQLite's build for WebAssembly locks by a folder, which outlives a process that is
 * killed, and never rolls back what such a process left.
 */
export class IndexFile {
  readonly #folder: string
  readonly #path: string
  readonly #mark: string

  private constructor(readonly home: Home) {
    this.#folder = home.layout.search
    this.#path = join(this.#folder, 'index.db')
    this.#mark = join(this.#folder, 'mark')
  }

  /** Null where the store lies in no file system of this machine: SQLite reads by itself. */
  static of(home: Home): IndexFile | null {
    return home.ports.fs.readFile === systemPorts.fs.readFile ? new IndexFile(home) : null
  }

  get isThere(): boolean {
    return this.home.ports.fs.stat(this.#path) !== null
  }

  /**
   * Runs work on the index, which it may make first. Null where the index cannot be had (another process works on it, the store
   * is read-only, SQLite fails): a cache is only a cache (INV-8).
   */
  async use<T>(kind: 'read' | 'write', work: (database: IndexDatabase) => Promise<T>): Promise<T | null> {
    try {
      return await this.#locked(patience, () => this.#open(kind, work))
    } catch {
      return null
    }
  }

  /** The same for work that must be done: rejects where the index is there and cannot be changed; null where there is none. */
  async change(work: (database: IndexDatabase) => void): Promise<void> {
    if (!this.isThere) return
    await this.#locked(longPatience, async () => {
      try {
        await this.#open('write', async (database) => work(database))
      } catch {
        this.#remove()
      }
    })
  }

  /** Removes the index: the next search makes it anew. */
  async remove(): Promise<void> {
    if (this.isThere) await this.#locked(longPatience, async () => this.#remove())
  }

  async #locked<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    const { fs } = this.home.ports
    fs.makeDir(this.#folder)
    const file = fs.open(join(this.#folder, 'lock'), 'create')
    try {
      await take(file, deadline)
      return await work()
    } finally {
      file.close()
    }
  }

  async #open<T>(kind: 'read' | 'write', work: (database: IndexDatabase) => Promise<T>): Promise<T> {
    const { fs } = this.home.ports
    // Under our lock, SQLite's can only be one that a process left when it was killed.
    fs.remove(`${this.#path}.lock`)
    const isWhole = this.#isWhole()
    if (!isWhole) this.#remove()
    if (kind === 'write') fs.remove(this.#mark)
    fs.open(this.#path, 'create').close()
    const database = new IndexDatabase(this.#path, !isWhole)
    let result: T
    try {
      result = await work(database)
    } finally {
      database.close()
    }
    if (kind === 'write' || !isWhole) await this.#setMark()
    return result
  }

  #isWhole(): boolean {
    const { fs } = this.home.ports
    const stat = fs.stat(this.#path)
    if (stat === null || fs.stat(this.#mark) === null) return false
    return Buffer.from(fs.readFile(this.#mark)).toString() === markOf(stat)
  }

  /** A power cut after this leaves the index as it is now. */
  async #setMark(): Promise<void> {
    const { fs, random } = this.home.ports
    const database = fs.open(this.#path, 'append')
    try {
      await database.sync()
      const temporary = `${this.#mark}.${random.hex(4)}`
      const file = fs.open(temporary, 'new')
      file.write(Buffer.from(markOf(database.stat())))
      file.close()
      fs.rename(temporary, this.#mark)
    } finally {
      database.close()
    }
  }

  #remove(): void {
    const { fs } = this.home.ports
    for (const path of [this.#mark, this.#path, `${this.#path}-journal`]) fs.remove(path)
  }
}

const markOf = ({ dev, ino, size, mtimeMs }: FileStat): string =>
  `${version} ${dev} ${ino} ${size} ${mtimeMs}\n`

const take = async (file: FileHandle, deadline: number): Promise<void> => {
  for (let waited = 0; !file.tryLock('exclusive'); waited += pause) {
    if (waited >= deadline) throw new Error('another process works on the search index')
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
