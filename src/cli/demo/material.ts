import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formats } from '../../formats/registry.js'
import type { Source } from '../../session/import.js'
import type { Context } from '../context.js'
import { counted } from '../quantity.js'
import { discovered } from '../sources.js'

/** What the tour imports, and how it says where that is from. */
export interface Material {
  readonly sources: readonly Source[]
  readonly said: readonly string[]
}

/** The newest sessions of each agent are enough, and large ones would keep a newcomer waiting. */
const mostOfEach = 6
const mostBytes = 4_000_000

/** Sessions of other agents on this machine; where there are none, those that ship with Coppice. */
export const material = async (context: Context): Promise<Material> => {
  const found = await discovered(context)
  const sources: Source[] = []
  const said: string[] = []
  for (const { format, path, sources: paths } of found) {
    const newest = await newestOf(paths)
    said.push(
      `${format.title}: ${counted(paths.length, 'session')} in ${path}${newest.length < paths.length ? `, the newest ${newest.length} taken` : ''}`,
    )
    sources.push(...newest.map((source) => ({ format, path: source })))
  }
  return sources.length > 0 ? { sources, said } : samples(context)
}

const newestOf = async (paths: readonly string[]): Promise<readonly string[]> => {
  const stats = await Promise.all(
    paths.map(async (path) => ({ path, found: await stat(path).catch(() => undefined) })),
  )
  return stats
    .filter(({ found }) => found !== undefined && found.size > 0 && found.size < mostBytes)
    .sort((a, b) => (b.found?.mtimeMs ?? 0) - (a.found?.mtimeMs ?? 0))
    .slice(0, mostOfEach)
    .map(({ path }) => path)
}

const samples = async ({ packageFolder }: Context): Promise<Material> => {
  const sources: Source[] = []
  for (const format of formats)
    for (const path of await format.find(join(packageFolder, 'samples', format.name)))
      sources.push({ format, path })
  const names = formats.map(({ title }) => title).join(', ')
  return {
    sources,
    said: ['none found: taking the samples that ship with Coppice', `in the formats of ${names}`],
  }
}
