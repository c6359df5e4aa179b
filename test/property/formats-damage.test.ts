import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Format, Item } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { itemsOf, linesOf, plain, problemsOf } from '../formats/check-items.js'
import { lineSources } from '../formats/line-sources.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 60
const folder = mkdtempSync(join(tmpdir(), 'coppice-damage-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What may happen to the lines of a file. */
type Harm = {
  readonly what: 'drop' | 'repeat' | 'swap' | 'cut' | 'glue' | 'junk' | 'flip'
  readonly at: number
  readonly by: number
}
const harm = fc.record({
  what: fc.constantFrom<Harm['what']>('drop', 'repeat', 'swap', 'cut', 'glue', 'junk', 'flip'),
  at: fc.nat(200),
  by: fc.nat(500),
})
const junk = [
  '',
  '{}',
  'null',
  '[1]',
  '"x"',
  '{"type":"user"}',
  '{"kind":"message"}',
  '{"role":"user"}',
  '\0\0',
  '{"uuid":"u","message":{}}',
]

const harmed = (lines: readonly string[], { what, at, by }: Harm): string[] => {
  if (lines.length === 0) return [junk[by % junk.length] ?? '']
  const i = at % lines.length
  const line = lines[i] ?? ''
  const others = lines.filter((_, n) => n !== i)
  if (what === 'drop') return others
  if (what === 'repeat') return [...lines, line]
  if (what === 'swap')
    return [...others.slice(0, by % (others.length + 1)), line, ...others.slice(by % (others.length + 1))]
  if (what === 'cut') return lines.with(i, line.slice(0, by))
  if (what === 'glue')
    return [...lines.slice(0, i), line.slice(by) + (lines[i + 1] ?? ''), ...lines.slice(i + 2)]
  if (what === 'junk') return lines.toSpliced(i, 0, junk[by % junk.length] ?? '')
  return lines.with(i, line.slice(0, by) + (line[by] === '"' ? "'" : '"') + line.slice(by + 1))
}

const readAs = async (format: Format, source: string, lines: readonly string[]): Promise<Item[]> => {
  const file = join(folder, basename(dirname(source)), basename(source))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.join('\n'))
  return itemsOf(format, file)
}

const byLine = formats.filter(({ name }) => name !== 'opencode')

describe.each(byLine.map((format) => [format.name, format] as const))(
  'whatever happens to the lines of a %s session',
  (_name, format) => {
    it('its items are fit to import, every line is accounted for, and reading again gives the same', async () => {
      const sources = await lineSources(format)
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...sources),
          fc.array(harm, { maxLength: 8 }),
          async (source, harms) => {
            const lines = harms.reduce(harmed, readFileSync(source, 'utf8').split('\n'))
            const items = await readAs(format, source, lines)
            expect(problemsOf(items)).toEqual([])
            const accounted = linesOf(items)
            expect(
              lines.flatMap((line, i) => (line.trim() === '' || accounted.has(i + 1) ? [] : [i + 1])),
            ).toEqual([])
            expect((await readAs(format, source, lines)).map(plain)).toEqual(items.map(plain))
          },
        ),
        { numRuns: runs },
      )
    })
  },
)
