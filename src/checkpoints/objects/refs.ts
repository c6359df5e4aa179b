import { dirname, join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { isOid } from './git-format.js'
import { writeAll } from './loose.js'

/** The refs of a repository: one file each, and those that `git gc` packed. Whoever writes holds the lock of the refs. */
export class Refs {
  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly folder: string,
  ) {}

  /** The commit that a ref (`refs/heads/…`) points to; null where there is none. */
  read(name: string): string | null {
    return this.#loose(name) ?? this.#packed().get(name) ?? null
  }

  /** Every ref that begins so. */
  list(prefix = 'refs/'): ReadonlyMap<string, string> {
    const found = new Map([...this.#packed()].filter(([name]) => name.startsWith(prefix)))
    for (const name of this.#names('refs')) {
      const oid = name.startsWith(prefix) ? this.#loose(name) : null
      if (oid !== null) found.set(name, oid)
    }
    return found
  }

  /**
   * Points refs to commits, durably; null removes one. `first` is what must be durable before any ref points to it: the new
   * refs are written beside meanwhile, so that the disk is waited for once.
   */
  async write(moves: ReadonlyMap<string, string | null>, first: () => Promise<void>): Promise<void> {
    const isGone = (name: string): boolean => moves.get(name) === null
    const packed = this.#packed()
    const left = [...packed].filter(([name]) => !isGone(name)).sort()
    const texts: (readonly [name: string, text: string])[] = []
    for (const [name, oid] of moves) if (oid !== null) texts.push([name, `${oid}\n`])
    if (left.length < packed.size) {
      const lines = left.map(([ref, commit]) => `${commit} ${ref}\n`)
      texts.push(['packed-refs', `# pack-refs with: sorted \n${lines.join('')}`])
    }
    const waiting = texts.map(([name, text]) => ({ name, text, path: `tmp_ref_${this.random.hex(8)}` }))
    const written = waiting.map(({ path, text }) => this.#writeSynced(path, text))
    const failed = (await Promise.allSettled([first(), ...written])).find(
      ({ status }) => status === 'rejected',
    )
    if (failed !== undefined) {
      for (const { path } of waiting) this.fs.remove(join(this.folder, path))
      throw (failed as PromiseRejectedResult).reason
    }
    for (const { name, path } of waiting) this.#place(join(this.folder, path), join(this.folder, name))
    const gone = [...moves.keys()].filter(isGone)
    for (const name of gone) this.fs.remove(join(this.folder, name))
    const changed = new Set(waiting.map(({ name }) => dirname(name)))
    for (const folder of new Set(gone.map((name) => dirname(name))))
      if (this.fs.stat(join(this.folder, folder)) !== null) changed.add(folder)
    for (const folder of changed) await this.fs.syncDir(join(this.folder, folder))
  }

  /** The folder is there but for the first ref of its kind, or after git cleared an empty one away. */
  #place(from: string, to: string): void {
    try {
      this.fs.rename(from, to)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.fs.makeDir(dirname(to))
      this.fs.rename(from, to)
    }
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
