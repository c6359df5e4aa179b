import { fileURLToPath } from 'node:url'
import type { Format } from '../../src/formats/format.js'

const at = (folder: string): string => fileURLToPath(new URL(`../../${folder}`, import.meta.url))

/** Composed sources of a format that are read line by line: the samples that ship, else the fixtures. */
export const lineSources = async (format: Format): Promise<readonly string[]> => {
  const samples = await format.find(at('samples'))
  const found = samples.length > 0 ? samples : await format.find(at(`test/fixtures/${format.name}`))
  return found.filter((path) => path.endsWith('.jsonl'))
}
