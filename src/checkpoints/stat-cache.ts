import { join } from 'node:path'
import { sha256 } from '../events/id.js'
import type { Fs, Random } from '../events/ports.js'
import { writeAll } from './objects/loose.js'
import type { Entry } from './work-fs.js'

/** A file that changed this short before it was read (ms) may change again within one tick of its file system's clock. */
const tick = 50
/** The same where the file system keeps whole seconds, or two. */
const coarseTick = 2100

/**
 * The oid of each file's bytes, for as long as its stamp stays: an unchanged file costs one stat. Only a cache (INV-8):
 * what is in doubt is read again.
 */
export class StatCache {
  readonly #entries: Map<string, readonly [stamp: string, oid: string]>
  #isChanged = false

  constructor(entries: Iterable<readonly [string, readonly [string, string]]> = []) {
    this.#entries = new Map(entries)
  }

  get(path: string, entry: Entry): string | null {
    const held = this.#entries.get(path)
    return held !== undefined && held[0] === entry.stamp ? held[1] : null
  }

  /** `readAt`: the file system's clock before the first byte was read. */
  put(path: string, entry: Entry, oid: string, readAt: number): void {
    const isCoarse = entry.mtimeMs % 1000 === 0 && entry.ctimeMs % 1000 === 0
    const settled = Math.max(entry.mtimeMs, entry.ctimeMs) + (isCoarse ? coarseTick : tick)
    if (settled < readAt) this.#entries.set(path, [entry.stamp, oid])
    else if (!this.#entries.delete(path)) return
    this.#isChanged = true
  }

  /** Keeps it for the next process. Nothing depends on its being there, so it is not synced. */
  save(fs: Fs, random: Random, folder: string): void {
    if (!this.#isChanged) return
    const body = JSON.stringify([...this.#entries])
    const path = join(folder, name)
    const temporary = `${path}.${random.hex(8)}`
    const file = fs.open(temporary, 'new')
    try {
      writeAll(file, Buffer.from(`${sha256(body)}\n${body}`))
    } finally {
      file.close()
    }
    fs.rename(temporary, path)
    this.#isChanged = false
  }

  /** Empty where there is none, or one that does not prove itself. */
  static load(fs: Fs, folder: string): StatCache {
    try {
      const text = Buffer.from(fs.readFile(join(folder, name))).toString()
      const body = text.slice(65)
      return sha256(body) === text.slice(0, 64) ? new StatCache(JSON.parse(body)) : new StatCache()
    } catch {
      return new StatCache()
    }
  }
}

const name = 'stat-cache'
