import { statSync } from 'node:fs'
import { sha256 } from '../../events/id.js'
import type { Home } from '../store/home.js'
import type { Failure, Imported, SourceRead } from './report.js'
import type { Source } from './source.js'

/** What came of a source when it was read last. */
export interface KnownSource {
  readonly stamp: string
  readonly format: string
  readonly rows: readonly Omit<Imported, 'events' | 'new'>[]
  readonly failed: readonly Failure[]
  readonly lines: SourceRead['lines']
}

/** Raised where what is kept here changes. */
const version = 2
/** A file written to so lately (ms) may be written to again within the same tick of its file system's clock. */
const settledMs = 2_000

/**
 * `imports`: which sources were read, by their stamps, so that one that did not change since costs a look at its stat. A
 * cache (INV-8): one line that proves the rest, which is JSON; a file that does not prove itself is as if it were not there.
 */
export class KnownSources {
  readonly #known: Map<string, KnownSource>
  #isChanged = false

  constructor(
    readonly home: Home,
    readonly reader: string,
  ) {
    this.#known = new Map(Object.entries(this.#read()))
  }

  /** What came of a source, where it is as it was. */
  unchanged({ path, format }: Source): KnownSource | null {
    const known = this.#known.get(path)
    return known !== undefined &&
      known.format === format.name &&
      known.stamp === this.stampOf({ path, format })
      ? known
      : null
  }

  /** Of device, inode, size and time of a source and of all that is read with it; null where that may still be written to. */
  stampOf({ path, format }: Source): string | null {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return null
    const settled = this.home.ports.clock.now() - settledMs
    const stamps: string[] = []
    for (const read of [path, ...format.beside(path)]) {
      const { stamp, at } = stampAt(read)
      if (at > settled) return null
      stamps.push(`${read} ${stamp}`)
    }
    return sha256(stamps.join('\n'))
  }

  set(path: string, known: KnownSource): void {
    this.#known.set(path, known)
    this.#isChanged = true
  }

  /** Writes what is known. What cannot be written is not: the next import reads again. */
  save(): void {
    if (!this.#isChanged) return
    const { fs, random } = this.home.ports
    const temporary = `${this.home.layout.imports}.${random.hex(4)}`
    try {
      const json = JSON.stringify(Object.fromEntries(this.#known))
      const file = fs.open(temporary, 'new')
      file.write(Buffer.from(`${version} ${this.reader} ${sha256(json)}\n${json}\n`))
      file.close()
      fs.rename(temporary, this.home.layout.imports)
      this.#isChanged = false
    } catch {
      // A cache is only a cache.
    }
  }

  #read(): Readonly<Record<string, KnownSource>> {
    try {
      const text = Buffer.from(this.home.ports.fs.readFile(this.home.layout.imports)).toString()
      const json = text.slice(text.indexOf('\n') + 1, -1)
      const isSound = text.startsWith(`${version} ${this.reader} ${sha256(json)}\n`)
      return isSound ? (JSON.parse(json) as Record<string, KnownSource>) : {}
    } catch {
      return {}
    }
  }
}

const stampAt = (path: string): { readonly stamp: string; readonly at: number } => {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path)
    return { stamp: `${dev}:${ino}:${size}:${mtimeMs}`, at: mtimeMs }
  } catch {
    return { stamp: '-', at: 0 }
  }
}
