import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { NotFound } from '../events/errors/not-found.js'
import type { Format } from '../formats/format.js'
import { detectFormat, formatNamed, formats } from '../formats/registry.js'
import type { Source } from '../session/import.js'
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

/** The sources at or below a path, each once, sorted by path. Rejects with NotFound where the path is not there. */
export const sourcesAt = async (
  context: Context,
  wanted: readonly Format[],
  name: string,
): Promise<readonly Source[]> => {
  const path = resolve(context.cwd, name)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new NotFound('file', path, '', 'check the path')
  if (found.isFile() && wanted.length > 1) {
    const format = await detectFormat(path)
    return format === undefined ? [] : [{ format, path }]
  }
  const sources = new Map<string, Source>()
  for (const format of wanted)
    for (const source of await format.find(path))
      if (!sources.has(source)) sources.set(source, { format, path: source })
  return [...sources.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A folder in which an agent keeps its sessions. */
export interface Found {
  readonly format: Format
  readonly path: string
  readonly sources: readonly string[]
}

/** The folders of other agents that exist on this machine and hold sessions. */
export const discovered = async ({ home, env }: Pick<Context, 'home' | 'env'>): Promise<readonly Found[]> => {
  const found: Found[] = []
  for (const format of formats)
    for (const path of new Set(format.folders({ home, env }))) {
      const sources = await format.find(path)
      if (sources.length > 0) found.push({ format, path, sources })
    }
  return found
}
