import { dirname, join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { isOid } from './git-format.js'
import { writeAll } from './loose.js'
import { RefLocks, waitingRef } from './ref-locks.js'

/** The refs of a repository: one file each, and those that `git gc` packed. Whoever writes holds the lock of the refs. */
export class Refs {
  readonly #locks: RefLocks

  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly folder: string,
  ) {
    this.#locks = new RefLocks(fs, folder)
  }

  /** The commit that a ref (`refs/heads/…`) points to; null where there is none. */
  read(name: string): string | null {
    return this.#loose(name) ?? this.#packed().get(name) ?? null
  }

  /** Every ref that begins so. */
  list(prefix = 'refs/'): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const name of this.#names('refs')) {
      const oid = name.startsWith(prefix) && !name.endsWith('.lock') ? this.#loose(name) : null
      if (oid !== null) found.set(name, oid)
    }
    // These come last: git packs a ref first, and then removes its file.
    for (const [name, oid] of this.#packed())
      if (name.startsWith(prefix) && !found.has(name)) found.set(name, oid)
    return found
  }

  /**
   * Points refs to commits, durably; null removes one. `first` is what must be durable before any ref points to it: the new
   * refs are written beside meanwhile, so that the disk is waited for once.
   */
  async write(moves: ReadonlyMap<string, string | null>, first: () => Promise<void>): Promise<void> {
    const put = [...moves].flatMap(([name, oid]) => (oid === null ? [] : [{ name, text: `${oid}\n` }]))
    const waiting = put.map((one) => ({ ...one, path: this.#waiting() }))
    try {
      const written = waiting.map(({ path, text }) => this.#writeSynced(path, text))
      // Their names too: a lock of which a power cut leaves no other name would not be known as ours.
      if (waiting.length > 0) written.push(this.#syncFolders(waiting.map(({ path }) => path)))
      const failed = (await Promise.allSettled([first(), ...written])).find(
        ({ status }) => status === 'rejected',
      )
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
      for (const { name, path } of waiting) await this.#place(path, name)
      await this.#syncFolders(waiting.map(({ name }) => name))
    } finally {
      for (const { path } of waiting) this.fs.remove(join(this.folder, path))
    }
    const gone = [...moves.keys()].filter((name) => moves.get(name) === null)
    if (gone.length > 0) await this.#drop(gone)
  }

  async #syncFolders(names: readonly string[]): Promise<void> {
    for (const folder of new Set(names.map((name) => dirname(join(this.folder, name)))))
      if (this.fs.stat(folder) !== null) await this.fs.syncDir(folder)
  }

  /** Removes what a crash left half-written. */
  tidy(): void {
    const locks = ['packed-refs.lock', ...this.#names('refs')].filter((name) => name.endsWith('.lock'))
    this.#locks.tidy(locks.map((name) => name.slice(0, -'.lock'.length)))
  }

  #waiting(): string {
    return `${waitingRef}${this.random.hex(8)}`
  }

  /** Gives a ref that waits its name. */
  async #place(path: string, name: string): Promise<void> {
    if (await this.#locks.take(path, name))
      try {
        this.#locks.place(name)
      } catch (error) {
        this.#locks.release(name)
        throw error
      }
    else {
      // No hard links, no locks of git's: it is renamed all the same.
      const to = join(this.folder, name)
      if (this.fs.stat(dirname(to)) === null) this.fs.makeDir(dirname(to))
      this.fs.rename(join(this.folder, path), to)
    }
  }

  /** Packed refs go first: a file alone would show the packed one again. */
  async #drop(names: readonly string[]): Promise<void> {
    const path = this.#waiting()
    await this.#writeSynced(path, '')
    await this.fs.syncDir(this.folder)
    const held: string[] = []
    try {
      for (const name of ['packed-refs', ...names]) if (await this.#locks.take(path, name)) held.push(name)
      await this.#unpack(names)
      for (const name of names) this.fs.remove(join(this.folder, name))
    } finally {
      for (const name of held) this.#locks.release(name)
      // The file goes last, on disk too: by it the locks are known as ours.
      await this.#syncFolders(['packed-refs', ...names])
      this.fs.remove(join(this.folder, path))
    }
  }

  async #unpack(names: readonly string[]): Promise<void> {
    const packed = this.#packed()
    const left = [...packed].filter(([name]) => !names.includes(name)).sort()
    if (left.length === packed.size) return
    const lines = left.map(([ref, commit]) => `${commit} ${ref}\n`)
    const path = this.#waiting()
    try {
      await this.#writeSynced(path, `# pack-refs with: sorted \n${lines.join('')}`)
      this.fs.rename(join(this.folder, path), join(this.folder, 'packed-refs'))
    } finally {
      this.fs.remove(join(this.folder, path))
    }
    await this.fs.syncDir(this.folder)
  }

  async #writeSynced(path: string, text: string): Promise<void> {
    const file = this.fs.open(join(this.folder, path), 'new')
    try {
      writeAll(file, Buffer.from(text))
      await file.sync()
    } finally {
      file.close()
    }
  }

  #loose(name: string): string | null {
    try {
      const text = Buffer.from(this.fs.readFile(join(this.folder, name)))
        .toString()
        .trim()
      return isOid(text) ? text : null
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return null
      throw error
    }
  }

  #packed(): Map<string, string> {
    const path = join(this.folder, 'packed-refs')
    if (this.fs.stat(path) === null) return new Map()
    const lines = Buffer.from(this.fs.readFile(path)).toString().split('\n')
    return new Map(
      lines.flatMap((line) => {
        const match = /^([0-9a-f]{40}) (refs\/\S+)$/.exec(line)
        return match === null ? [] : [[match[2] as string, match[1] as string] as const]
      }),
    )
  }

  #names(under: string): readonly string[] {
    return this.fs.readDir(join(this.folder, under)).flatMap((name) => {
      const inner = `${under}/${name}`
      return this.fs.stat(join(this.folder, inner))?.isDirectory === true ? this.#names(inner) : [inner]
    })
  }
}
