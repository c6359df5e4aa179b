import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Real files of other agents; tests that need them skip where they are not. */
const corpus = process.env.COPPICE_CORPUS ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url))

export const corpusFolder = (format: string): string => join(corpus, format)

/** The names of the files of a format, those in its folders included; [] where there is no corpus. */
export const corpusFiles = (format: string): string[] => {
  const folder = corpusFolder(format)
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
}
