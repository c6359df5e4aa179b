import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Format } from '../../src/formats/format.js'
import { corpusFolder } from './corpus.js'

/** What a reader reads: the corpus where there is one, and what is `own` to the project, its samples and fixtures. */
export const sourcesOf = async (
  formats: readonly Format[],
  from: 'all' | 'own' = 'all',
): Promise<readonly { readonly format: Format; readonly source: string }[]> => {
  const found = formats.map(async (format) => {
    const real = from === 'all' ? [corpusFolder(format.name)] : []
    const folders = [...real, at('samples'), at(`test/fixtures/${format.name}`)]
    const sources = await Promise.all(
      folders.map((folder) => (existsSync(folder) ? format.find(folder) : [])),
    )
    return sources.flat().map((source) => ({ format, source }))
  })
  return (await Promise.all(found)).flat()
}

const at = (folder: string): string => fileURLToPath(new URL(`../../${folder}`, import.meta.url))
