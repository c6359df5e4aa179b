import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { readdirSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isObject, type Json } from '../remainder.js'
import type { ClaudeRecord, SideFile, SideFiles } from './records.js'

/** Stands in the key of an event that a copy of `file-history/` gave. */
export const backupKey = '#backup:'

const noFiles: SideFiles = new Map()
/** A larger one stays where it is, and is told. */
const largest = 64 * 1024 * 1024

/** The file in `tool-results/` that holds the whole of an output of which the model saw the beginning; null for none. */
export const outputFileIn = (block: Json): string | null => {
  const { content } = block
  const texts = Array.isArray(content)
    ? content.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    : typeof content === 'string'
      ? [content]
      : []
  for (const text of texts) {
    const named = text.includes('tool-results') ? outputPath.exec(text)?.[1] : undefined
    if (named !== undefined) return named
  }
  return null
}
const outputPath = /[\\/]tool-results[\\/]([^\s\\/"'<>]+)/

/** What a `file-history-snapshot` says of files as they were before an edit: the copy's name by the file's path. */
export const backupsIn = ({ type, value }: ClaudeRecord): ReadonlyMap<string, string> => {
  const snapshot = type === 'file-history-snapshot' && isObject(value.snapshot) ? value.snapshot : {}
  const tracked = isObject(snapshot.trackedFileBackups) ? snapshot.trackedFileBackups : {}
  return new Map(
    Object.entries(tracked).flatMap(([path, backup]) =>
      isObject(backup) && typeof backup.backupFileName === 'string' ? [[path, backup.backupFileName]] : [],
    ),
  )
}

/** Where the side files of a transcript stand; a sub-agent's are its session's. */
const foldersBeside = (source: string): { readonly results: string; readonly backups: string } => {
  const session = source.replace(/\.jsonl$/, '')
  const main = basename(dirname(session)) === 'subagents' ? dirname(dirname(session)) : session
  return {
    results: join(main, 'tool-results'),
    backups: join(dirname(dirname(dirname(main))), 'file-history', basename(main)),
  }
}

/** The folders that a reader of side files looks at, and all that is in them. */
export const sidePaths = (source: string): readonly string[] =>
  Object.values(foldersBeside(source)).flatMap((folder) => [folder, ...filesIn(folder)])

const filesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Reads the files that the lines of one transcript name. Each is given once, however often it is named. */
export class SideReader {
  readonly #given = new Set<string>()
  readonly #results: string
  readonly #backups: string

  /** `tell` is told of what stays behind. */
  constructor(
    source: string,
    readonly tell: (text: string) => void,
  ) {
    const { results, backups } = foldersBeside(source)
    this.#results = results
    this.#backups = backups
  }

  /** Whether a file of `tool-results/` was given. */
  has(name: string): boolean {
    return this.#given.has(join(this.#results, name))
  }

  async of(record: ClaudeRecord): Promise<SideFiles> {
    const files = new Map<string, SideFile>()
    const take = async (folder: string, name: string): Promise<void> => {
      const found = await this.#read(folder, name)
      if (found !== null) files.set(name, found)
    }
    for (const name of outputsIn(record)) await take(this.#results, name)
    for (const name of backupsIn(record).values()) await take(this.#backups, name)
    return files.size === 0 ? noFiles : files
  }

  /** Only a plain file of that folder: a name that leads elsewhere is none. */
  async #read(folder: string, name: string): Promise<SideFile | null> {
    const path = join(folder, name)
    if (dirname(path) !== folder || this.#given.has(path)) return null
    const stat: Stats | null = await lstat(path).catch(() => null)
    if (stat === null || !stat.isFile()) return null
    if (stat.size > largest) {
      this.tell(`file beside the transcript is larger than ${largest} bytes and is not carried`)
      return null
    }
    try {
      const bytes = await readFile(path)
      this.#given.add(path)
      return isUtf8(bytes)
        ? { file: name, text: bytes.toString() }
        : { file: name, base64: bytes.toString('base64') }
    } catch (error) {
      this.tell(`file beside the transcript cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return null
    }
  }
}

const outputsIn = ({ type, value }: ClaudeRecord): readonly string[] => {
  const content = type === 'user' && isObject(value.message) ? value.message.content : undefined
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => {
    const name = isObject(block) && block.type === 'tool_result' ? outputFileIn(block) : null
    return name === null ? [] : [name]
  })
}
