import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadConfig } from './errors/bad-config.js'

/** What config.toml may say. */
export interface Config {
  /** false: no colours, as with --no-color. */
  readonly color?: boolean
  readonly context?: {
    /** What `context --format` is by default: openai, anthropic or plain. */
    readonly format?: string
  }
  readonly list?: {
    /** What `list --limit` is by default. */
    readonly limit?: number
  }
  /** `write`: secrets go to the vault, and never to a log. */
  readonly redact?: 'write' | 'off'
  readonly retention?: {
    /** How many sessions a workspace keeps when one is made. */
    readonly maxSessions?: number
  }
}

type Check = (value: unknown) => string | undefined

const keys: Readonly<Record<string, Check>> = {
  color: (value) => (typeof value === 'boolean' ? undefined : 'true or false'),
  'context.format': (value) =>
    value === 'openai' || value === 'anthropic' || value === 'plain'
      ? undefined
      : 'openai, anthropic or plain',
  'list.limit': (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'a whole number',
  redact: (value) => (value === 'write' || value === 'off' ? undefined : 'write or off'),
  'retention.maxSessions': (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1 ? undefined : 'a whole number, 1 or more',
}

/** Reads config.toml of a folder; {} where there is none. The parser loads only where there is one. */
export const readConfig = async (folder: string): Promise<Config> => {
  const path = join(folder, 'config.toml')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw new BadConfig(`the configuration cannot be read (${code})`, path, 'check its permissions')
  }
  const { parse } = await import('smol-toml')
  let table: Record<string, unknown>
  try {
    table = parse(text)
  } catch (error) {
    const [first = ''] = (error as Error).message.split('\n')
    const { line } = error as { line?: number }
    throw new BadConfig(first, `${path}${line === undefined ? '' : `, line ${line}`}`, 'mend the file')
  }
  check(table, '', path)
  return table as Config
}

const check = (table: Record<string, unknown>, prefix: string, path: string): void => {
  for (const [name, value] of Object.entries(table)) {
    const key = `${prefix}${name}`
    const isTable = Object.keys(keys).some((known) => known.startsWith(`${key}.`))
    if (isTable && typeof value === 'object' && value !== null) {
      check(value as Record<string, unknown>, `${key}.`, path)
      continue
    }
    const expected = isTable ? 'a table' : keys[key] === undefined ? undefined : keys[key](value)
    if (expected !== undefined) throw new BadConfig(`${key} should be ${expected}`, path, 'mend the file')
    if (!isTable && keys[key] === undefined)
      throw new BadConfig(`unknown key ${key}`, path, `known are ${Object.keys(keys).join(', ')}`)
  }
}
