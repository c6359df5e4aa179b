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

  /** Points a ref to a commit, durably; null removes it. */
  async write(name: string, oid: string | null): Promise<void> {
    if (oid !== null) return this.#replace(name, `${oid}\n`)
    const packed = this.#packed()
    if (packed.delete(name)) {
      const lines = [...packed].sort().map(([ref, commit]) => `${commit} ${ref}\n`)
      await this.#replace('packed-refs', `# pack-refs with: sorted \n${lines.join('')}`)
    }
    this.fs.remove(join(this.folder, name))
    if (this.fs.stat(dirname(join(this.folder, name))) !== null)
      await this.fs.syncDir(dirname(join(this.folder, name)))
  }

  async #replace(name: string, text: string): Promise<void> {
    const path = join(this.folder, name)
    const temporary = join(this.folder, `tmp_ref_${this.random.hex(8)}`)
    this.fs.makeDir(dirname(path))
    const file = this.fs.open(temporary, 'new')
    try {
      writeAll(file, Buffer.from(text))
      await file.sync()
    } catch (error) {
      file.close()
      this.fs.remove(temporary)
      throw error
    }
    file.close()
    this.fs.rename(temporary, path)
    await this.fs.syncDir(dirname(path))
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
