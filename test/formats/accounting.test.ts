import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findBelow } from '../../src/formats/find.js'
import { formats } from '../../src/formats/registry.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { newFolder } from '../cli/folders.js'
import { corpusFolder } from './corpus.js'

const seekers = formats.map((format) => ({ format, detect: format.detect, ...format.finding }))

const sourcesBelow = async (folder: string) =>
  [...(await findBelow(folder, seekers))].map(([path, { format }]) => ({ path, format }))

const fixtures = new URL('../fixtures', import.meta.url).pathname
const corpus = join(corpusFolder('claude'), '..')
const folders = [fixtures, new URL('../../samples', import.meta.url).pathname, corpus]

describe('what an import tells of a source', () => {
  it.each(folders)(
    'accounts for every line of every file in %s (skipped where it is not there)',
    async (folder) => {
      const sources = await sourcesBelow(folder)
      const store = await openStore(join(newFolder(), 'store'), { durability: 'none' })
      const report = await importSources(store, sources, { workspace: newFolder() })
      store.close()
      expect(report.sources.map(({ source }) => source).sort()).toEqual(
        sources.map(({ path }) => path).sort(),
      )
      for (const { source, lines } of report.sources) {
        if (lines === null) {
          expect(source).not.toMatch(/\.jsonl?$/)
          continue
        }
        const { total, ...fates } = lines
        const text = readFileSync(source, 'latin1')
        expect([source, total]).toEqual([source, text.split('\n').length - (text.endsWith('\n') ? 1 : 0)])
        expect(Object.values(fates).reduce((sum, count) => sum + count, 0)).toBe(total)
        expect([source, fates.unaccounted]).toEqual([source, 0])
        const named = new Set(report.failed.filter((one) => one.source === source).map(({ line }) => line))
        expect(named.size).toBeGreaterThanOrEqual(fates.failed)
      }
    },
  )
})
