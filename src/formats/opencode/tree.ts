import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { FailureItem } from '../format.js'
import { inspect, maxDepth } from '../json-text.js'
import { parsedJson, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { createdAt } from './info.js'
import type { StoredMessage, StoredSession } from './stored.js'

/** A session in files of its own: `session/<project>/<id>.json`, its messages and their parts in folders beside. */

interface Found {
  readonly value: Json
  readonly raw?: string
}

/** Reads one session of a storage tree; a file that cannot be read is a failure that names it. */
export class StorageTree {
  readonly failures: FailureItem[] = []

  constructor(readonly source: string) {}

  async read(): Promise<StoredSession | null> {
    const found = await this.#json(this.source)
    if (found === null) return null
    const session = textIn(found.value, 'id') ?? basename(this.source, '.json')
    const { messages: folder, parts } = foldersOf(this.source, session)
    const messages: (StoredMessage & { readonly name: string })[] = []
    for (const path of await filesIn(folder)) {
      const message = await this.#json(path)
      if (message === null) continue
      const id = textIn(message.value, 'id') ?? basename(path, '.json')
      const { raw } = message
      messages.push({
        info: { ...message.value, id },
        parts: await this.#parts(partsFolder(parts, path, () => id)),
        name: path,
        ...(raw === undefined ? {} : { raw }),
      })
    }
    return { info: found.value, messages: messages.sort(byTime), line: 1 }
  }

  async #parts(folder: string): Promise<Json[]> {
    const parts: Json[] = []
    for (const path of await filesIn(folder)) {
      const part = await this.#json(path)
      if (part !== null) parts.push(part.value)
    }
    return parts
  }

  async #json(path: string): Promise<Found | null> {
    try {
      const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
      const value = parsedJson(text)
      if (!isObject(value)) return this.#fail(path, 'no JSON object')
      const { survives, depth } = inspect(text)
      if (depth > maxDepth) return this.#fail(path, `nested ${depth} deep, more than ${maxDepth}`)
      return { value, ...(survives ? {} : { raw: text }) }
    } catch (error) {
      return this.#fail(path, (error as Error).message)
    }
  }

  #fail(path: string, reason: string): null {
    const isSource = path === this.source
    const name = isSource ? '' : `${relative(dirname(dirname(dirname(this.source))), path)}: `
    this.failures.push({ kind: 'failed', line: isSource ? 1 : null, reason: `${name}${reason}` })
    return null
  }
}

/** Every file and folder that reading the session looks at. Of their content only its own record is read, which is small. */
export const filesBeside = (source: string): readonly string[] => {
  const session = textIn(recordAt(source), 'id') ?? basename(source, '.json')
  const { messages, parts } = foldersOf(source, session)
  const files = listed(messages)
  return [
    messages,
    ...files,
    ...files.flatMap((file) => {
      const folder = partsFolder(parts, file, () => textIn(recordAt(file), 'id') ?? basename(file, '.json'))
      return [folder, ...listed(folder)]
    }),
  ]
}

/** A message is named as its file is; where there is no such folder, its record tells. */
const partsFolder = (parts: string, file: string, idOf: () => string): string => {
  const folder = join(parts, basename(file, '.json'))
  return existsSync(folder) ? folder : join(parts, idOf())
}

const recordAt = (path: string): Json => {
  try {
    const value = parsedJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const listed = (folder: string): readonly string[] => {
  try {
    return jsonIn(readdirSync(folder), folder)
  } catch {
    return []
  }
}

const byTime = (a: { info: Json; name: string }, b: { info: Json; name: string }): number => {
  const [one, other] = [createdAt(a.info) ?? '', createdAt(b.info) ?? '']
  return one === other ? (a.name < b.name ? -1 : 1) : one < other ? -1 : 1
}

/** The oldest layout has all of a project in one folder: `session/info`, `session/message`, `session/part`. */
const foldersOf = (source: string, session: string): { messages: string; parts: string } => {
  const folder = dirname(source)
  if (basename(folder) === 'info') {
    const root = dirname(folder)
    return { messages: join(root, 'message', session), parts: join(root, 'part', session) }
  }
  const root = dirname(dirname(folder))
  return { messages: join(root, 'message', session), parts: join(root, 'part') }
}

const filesIn = async (folder: string): Promise<string[]> =>
  jsonIn(await readdir(folder).catch(() => []), folder)

const jsonIn = (names: readonly string[], folder: string): string[] =>
  names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(folder, name))
