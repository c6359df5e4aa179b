import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Format } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { type ImportReport, importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { lineSources } from '../formats/line-sources.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 4
const root = mkdtempSync(join(tmpdir(), 'coppice-growing-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const importInto = async (folder: string, format: Format, path: string): Promise<ImportReport> => {
  const store = await openStore(folder)
  try {
    return await importSources(store, [{ format, path }], { workspace: root })
  } finally {
    await store.close()
  }
}

const eventIds = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => basename(name) === 'data.jsonl')
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => (JSON.parse(line) as { id: string }).id)
    .sort()

/** Formats whose tools only ever append to a session's file. */
const appending = ['claude', 'zettcode', 'pi', 'codex', 'gemini']
const cases = formats.filter(({ name }) => appending.includes(name)).map((one) => [one.name, one] as const)

describe.each(cases)('a %s session that is imported while it grows', (_name, format) => {
  it('becomes event for event what one import of the whole becomes, wherever it was cut', async () => {
    const sources = await lineSources(format)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sources),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 2 }),
        async (source, cuts) => {
          const lines = readFileSync(source, 'utf8').split('\n')
          const at = join(root, `${made++}`)
          const file = join(at, basename(dirname(source)), basename(source))
          mkdirSync(dirname(file), { recursive: true })
          for (const share of [...cuts.sort(), 1]) {
            writeFileSync(file, lines.slice(0, Math.ceil(lines.length * share)).join('\n'))
            await importInto(join(at, 'growing'), format, file)
          }
          await importInto(join(at, 'whole'), format, file)
          expect(eventIds(join(at, 'growing'))).toEqual(eventIds(join(at, 'whole')))
          const again = await importInto(join(at, 'growing'), format, file)
          expect(again.imported.every((row) => row.new === 0)).toBe(true)
        },
      ),
      { numRuns: runs },
    )
  })
})
