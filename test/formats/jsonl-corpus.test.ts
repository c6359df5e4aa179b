import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { acp } from '../../src/formats/acp/format.js'
import { codex } from '../../src/formats/codex/format.js'
import type { EventItem, Format, Item } from '../../src/formats/format.js'
import { gemini } from '../../src/formats/gemini/format.js'
import { pi } from '../../src/formats/pi/format.js'
import { detectFormat } from '../../src/formats/registry.js'
import type { Json } from '../../src/formats/remainder.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, idFor, itemsOf, linesOf, plain, problemsOf } from './check-items.js'
import { codexRecord } from './codex-records.js'
import { corpusFiles, corpusFolder } from './corpus.js'
import { geminiRecord } from './gemini-records.js'
import { piRecord } from './pi-records.js'

type RecordOf = (item: EventItem, items: readonly Item[], keyOf: (id: unknown) => string) => Json

const cases: readonly (readonly [string, Format, RecordOf | null])[] = [
  ['pi', pi, (item, _items, keyOf) => piRecord(item, keyOf)],
  ['codex', codex, codexRecord],
  ['gemini', gemini, geminiRecord],
  ['acp', acp, null],
]

const folder = mkdtempSync(join(tmpdir(), 'coppice-jsonl-corpus-'))
afterAll(() => rmSync(folder, { recursive: true }))

const told = (items: readonly Item[]): unknown[] => items.filter(({ kind }) => kind !== 'remark').map(plain)
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe.each(cases)(
  'real %s files (skipped without the corpus: set COPPICE_CORPUS)',
  (name, format, recordOf) => {
    const files = corpusFiles(name).filter((file) => file.endsWith('.jsonl'))
    const pathOf = (file: string): string => join(corpusFolder(name), file)
    const linesIn = (file: string): string[] => readFileSync(pathOf(file), 'utf8').split('\n')
    const readAs = async (file: string, text: string): Promise<Item[]> => {
      writeFileSync(join(folder, file), text)
      return itemsOf(format, join(folder, file))
    }

    it.skipIf(files.length === 0).each(files)('%s gives items that any importer can take', async (file) => {
      const items = await itemsOf(format, pathOf(file))
      expect(problemsOf(items)).toEqual([])
      expect(items.some(({ kind }) => kind === 'session')).toBe(true)
    })

    it.each(files)('%s: every line is in an item, a failure or a remark', async (file) => {
      const accounted = linesOf(await itemsOf(format, pathOf(file)))
      const lines = linesIn(file).flatMap((line, i) => (line.trim() === '' ? [] : [i + 1]))
      expect(lines.filter((line) => !accounted.has(line))).toEqual([])
    })

    it.each(files)('%s: payload and extra give each record back, member by member', async (file) => {
      if (recordOf === null) return
      const items = await itemsOf(format, pathOf(file))
      const keys = new Map(eventsOf(items).map(({ key }) => [idFor(key), key]))
      const lines = linesIn(file)
      // The first of a line stands for its record.
      const told = new Map(
        eventsOf(items)
          .filter(({ key }) => !isDerived(key))
          .reverse()
          .map((item) => [item.line, item]),
      )
      const without = new Set(
        items.flatMap((item): readonly (number | null | undefined)[] =>
          item.kind === 'remark' ? (item.lines ?? []) : item.kind === 'event' ? [] : [item.line],
        ),
      )
      for (const [i, line] of lines.entries()) {
        const source = parse(line)
        if (source === undefined || (without.has(i + 1) && !told.has(i + 1))) continue
        const item = told.get(i + 1)
        expect(item, `line ${i + 1}`).toBeDefined()
        if (item !== undefined)
          expect(
            recordOf(item, items, (id) => keys.get(String(id)) ?? ''),
            `line ${i + 1}`,
          ).toEqual(source)
      }
    })

    it.each(files)('%s: reading up to any record gives the first items of the whole', async (file) => {
      const lines = linesIn(file)
      const whole = told(await readAs(file, lines.join('\n')))
      const step = Math.max(1, Math.floor(lines.length / 12))
      for (let cut = 1; cut < lines.length; cut += step) {
        const part = told(await readAs(file, `${lines.slice(0, cut).join('\n')}\n`))
        // Of a trace, the message that streams at the cut is told as far as it goes.
        const isCut = name === 'acp' && !isDeepStrictEqual(part.at(-1), whole[part.length - 1])
        const firm = isCut ? part.slice(0, -1) : part
        expect(firm, `cut after line ${cut}`).toEqual(whole.slice(0, firm.length))
      }
    })

    it.skipIf(files.length === 0)(
      'each is told as this format, and a second import adds nothing',
      async () => {
        for (const file of files) expect((await detectFormat(pathOf(file)))?.name, file).toBe(format.name)
        const sources = files.map((file) => ({ format, path: pathOf(file) }))
        const store = await openStore(join(folder, `${name}-store`))
        try {
          const first = await importSources(store, sources, { workspace: folder })
          expect(first.imported.length).toBeGreaterThan(0)
          expect(first.imported.every(({ new: added }) => added > 0)).toBe(true)
          expect(first.failed.filter(({ line }) => line === null)).toEqual([])
          const again = await importSources(store, sources, { workspace: folder })
          expect(again.imported.filter(({ new: added }) => added > 0)).toEqual([])
          expect(again.failed).toEqual(first.failed)
        } finally {
          await store.close()
        }
      },
    )
  },
)

/** Events beside the one that stands for the record. */
const isDerived = (key: string): boolean => /#(status|move|checkpoint|result)$/.test(key)
