import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { NotFound } from '../events/errors/not-found.js'
import { findBelow, readStart } from '../formats/find.js'
import type { Format } from '../formats/format.js'
import { formatNamed, formats } from '../formats/registry.js'
import { seenIn } from '../formats/seen.js'
import type { Failure, Source } from '../session/import.js'
import type { Context } from './context.js'
import { Usage } from './errors/usage.js'

/** The formats that FORMAT means: one by its name, every one for `auto`. */
export const formatsOf = (name: string): readonly Format[] => {
  if (name === 'auto') return formats
  const format = formatNamed(name)
  if (format !== undefined) return [format]
  throw new Usage(
    `no format ${name}`,
    '',
    `give auto or one of ${formats.map((known) => known.name).join(', ')}`,
  )
}

/** What was found at paths: what can be imported, what cannot be and why, and how many files were come by. */
export interface Sought {
  readonly sources: readonly Source[]
  readonly failed: readonly Failure[]
}

/**
 * The sources at or below paths, each once, sorted by path. What cannot be read, or is of no known format though it was
 * named, is a failure. Rejects with NotFound where nothing that was named is there.
 */
export const sourcesAt = async (
  context: Context,
  wanted: readonly Format[],
  names: readonly string[],
  seen?: (files: number) => void,
): Promise<Sought> => {
  const sought = new Seeking(wanted, seen)
  const paths = names.map((name) => resolve(context.cwd, name))
  for (const path of paths) await sought.at(path)
  const [first] = sought.missing
  if (first !== undefined && sought.missing.length === paths.length)
    throw new NotFound('file', first, '', 'check the path')
  return sought.result()
}

/** The formats as a search through folders takes them. */
const seekersOf = (wanted: readonly Format[]) =>
  wanted.map((format) => ({ format, detect: format.detect, ...format.finding }))

class Seeking {
  readonly missing: string[] = []
  readonly #sources = new Map<string, Source>()
  readonly #failed: Failure[] = []

  constructor(
    readonly wanted: readonly Format[],
    readonly seen: ((files: number) => void) | undefined,
  ) {}

  async at(path: string): Promise<void> {
    try {
      const stats = statSync(path)
      if (stats.isDirectory()) await this.#below(path)
      else if (stats.isFile()) this.#file(path)
      else this.#fail(path, 'neither a file nor a folder')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      if (code === 'ENOENT' || code === 'ENOTDIR') this.missing.push(path)
      else this.#fail(path, unreadable(code))
    }
  }

  async #below(folder: string): Promise<void> {
    const found = await findBelow(folder, seekersOf(this.wanted), {
      unreadable: (path, code) => this.#fail(path, unreadable(code)),
      ...(this.seen === undefined ? {} : { seen: this.seen }),
    })
    for (const [path, { format }] of found) this.#sources.set(path, { format, path })
    if (found.size === 0) this.#fail(folder, 'no sessions of a known format here')
  }

  /** A file that is named is looked at closely: its name says nothing of what it holds. */
  #file(path: string): void {
    const start = readStart(path)
    const claimed = formats.find(({ detect }) => detect(path, start))
    const [only, ...others] = this.wanted
    if (only !== undefined && others.length === 0) {
      if (claimed === undefined || claimed === only || only.detect(path, start))
        this.#sources.set(path, { format: only, path })
      else
        this.#fail(
          path,
          `it is of ${claimed.title}, not of ${only.title}: import it as ${claimed.name}, or auto`,
        )
    } else if (claimed !== undefined) this.#sources.set(path, { format: claimed, path })
    else this.#fail(path, `of no known format: ${seenIn(start)}`)
  }

  #fail(source: string, reason: string): void {
    this.#failed.push({ source, line: null, reason })
  }

  result(): Sought {
    const gone = this.missing.map((source) => ({ source, line: null, reason: 'nothing is there' }))
    const sources = [...this.#sources.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
    return { sources, failed: [...gone, ...this.#failed] }
  }
}

const unreadable = (code: string): string =>
  code === 'EACCES' || code === 'EPERM' ? `may not be read (${code})` : `cannot be read (${code})`

/** A folder in which an agent keeps its sessions. */
export interface Found {
  readonly format: Format
  readonly path: string
  readonly sources: readonly string[]
}

/** The folders of other agents that exist on this machine and hold sessions. */
export const discovered = async (
  { home, env }: Pick<Context, 'home' | 'env'>,
  unreadable?: (path: string, code: string) => void,
): Promise<readonly Found[]> => {
  const found: Found[] = []
  for (const format of formats)
    for (const path of new Set(format.folders({ home, env }))) {
      if (!existsSync(path)) continue
      const below = await findBelow(path, seekersOf([format]), unreadable === undefined ? {} : { unreadable })
      const sources = [...below.keys()].sort()
      if (sources.length > 0) found.push({ format, path, sources })
    }
  return found
}
