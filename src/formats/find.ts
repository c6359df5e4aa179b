import { closeSync, type Dirent, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** How much of a file tells its format. */
const startBytes = 64 * 1024

const isJsonl = (name: string): boolean => name.endsWith('.jsonl')

/** A log whose first line is longer is looked into this far, for no line of it would be whole else. */
const longStartBytes = 4 * 1024 * 1024

/** One buffer for all: a folder may hold ten thousand files, and most are looked at once. */
const shared = Buffer.allocUnsafe(startBytes)

/** The first 64 KiB of a file as text, or its first line, where that is longer. Throws the system's error where it cannot be read. */
export const readStart = (path: string): string => {
  const file = openSync(path, 'r')
  try {
    const start = fill(file, shared)
    const isLong = start.length === startBytes && isJsonl(path) && !start.includes(10)
    const bytes = isLong ? fill(file, Buffer.allocUnsafe(longStartBytes)) : start
    const end = isLong ? bytes.indexOf(10) : -1
    return bytes.toString('utf8', 0, end < 0 ? bytes.length : end).replace(/^\uFEFF/, '')
  } finally {
    closeSync(file)
  }
}

const fill = (file: number, buffer: Buffer): Buffer => {
  let filled = 0
  for (let count = -1; count !== 0 && filled < buffer.length; filled += count)
    count = readSync(file, buffer, filled, buffer.length - filled, filled)
  return buffer.subarray(0, filled)
}

/** The same; '' where it cannot be read. */
export const startOf = async (path: string): Promise<string> => {
  try {
    return readStart(path)
  } catch {
    return ''
  }
}

/** The values of the first lines of a file that are whole and parse. */
export const firstRecords = (start: string): unknown[] =>
  start
    .split('\n')
    .slice(0, 50)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })

/** A log of Coppice's own: a store may lie below a folder that is looked through. */
const isOwnLog = (start: string): boolean => /^\{"id":"[0-9a-f]{32}","parent":null,"at":"/.test(start)

/** Which files are looked into, by their names (`.jsonl` where it is left out), and which folders are entered. */
export interface Finding {
  readonly isNamed?: (name: string) => boolean
  readonly isEntered?: (name: string, siblings: readonly string[]) => boolean
}

/** How the files of one format are found. */
export interface Seeker extends Finding {
  readonly detect: (path: string, start: string) => boolean
}

/** What is told of a search through folders. */
export interface Looking {
  /** A folder or a file that cannot be read, by its error's code. */
  readonly unreadable?: (path: string, code: string) => void
  /** How many files were come by. */
  readonly seen?: (files: number) => void
}

/**
 * The path itself where it is a file; below a folder, each file that is named so and `isWanted` by its path and start,
 * sorted so that `a.jsonl` comes before `a/…`. Links are followed, each folder is entered once.
 */
export const findFiles = async (
  path: string,
  detect: (path: string, start: string) => boolean,
  finding: Finding = {},
): Promise<readonly string[]> => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return []
  if (!stats.isDirectory()) return stats.isFile() ? [path] : []
  return [...(await findBelow(path, [{ ...finding, detect }])).keys()].sort()
}

/** The files below a folder that one of the seekers knows, and the first that does: each is read once, whoever seeks. */
export const findBelow = async <S extends Seeker>(
  folder: string,
  seekers: readonly S[],
  looking: Looking = {},
): Promise<ReadonlyMap<string, S>> => {
  const walk = new Walk<S>(looking)
  await walk.enter(folder, seekers)
  return walk.found
}

/** How many files are come by before other work gets its turn. */
const turn = 256

class Walk<S extends Seeker> {
  readonly found = new Map<string, S>()
  readonly #entered = new Set<string>()
  #files = 0

  constructor(readonly looking: Looking) {}

  async enter(folder: string, seekers: readonly S[]): Promise<void> {
    const entries = this.#entriesOf(folder)
    const names = entries.map(({ name }) => name)
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const kind = kindOf(entry, path)
      if (kind === 'folder') {
        const entering = seekers.filter(({ isEntered = () => true }) => isEntered(entry.name, names))
        if (entering.length > 0) await this.enter(path, entering)
      } else if (kind === 'file') await this.#look(path, entry.name, seekers)
    }
  }

  #entriesOf(folder: string): readonly Dirent[] {
    try {
      const real = realpathSync.native(folder)
      if (this.#entered.has(real)) return []
      this.#entered.add(real)
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      this.#unreadable(folder, error)
      return []
    }
  }

  async #look(path: string, name: string, seekers: readonly S[]): Promise<void> {
    if (++this.#files % turn === 0) {
      this.looking.seen?.(this.#files)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const named = seekers.filter(({ isNamed = isJsonl }) => isNamed(name))
    if (named.length === 0) return
    try {
      const start = readStart(path)
      const seeker = isOwnLog(start) ? undefined : named.find(({ detect }) => detect(path, start))
      if (seeker !== undefined) this.found.set(path, seeker)
    } catch (error) {
      this.#unreadable(path, error)
    }
  }

  #unreadable(path: string, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    // What is gone meanwhile is not there.
    if (code !== 'ENOENT') this.looking.unreadable?.(path, code)
  }
}

/** Links are followed; what is neither folder nor file, or leads nowhere, is passed over. */
const kindOf = (entry: Dirent, path: string): 'folder' | 'file' | null => {
  if (entry.isDirectory()) return 'folder'
  if (entry.isFile()) return 'file'
  if (!entry.isSymbolicLink()) return null
  try {
    const stats = statSync(path)
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : null
  } catch {
    return null
  }
}
