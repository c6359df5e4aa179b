import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { eventsOf, itemsOf, linesOf, plain } from './check-items.js'
import { lineSources } from './line-sources.js'

const folder = mkdtempSync(join(tmpdir(), 'coppice-spread-'))
afterAll(() => rmSync(folder, { recursive: true }))

const byLine = formats.filter(({ name }) => name !== 'opencode')

describe.each(byLine.map((format) => [format.name, format] as const))('a %s file', (_name, format) => {
  const readAs = async (source: string, text: string): ReturnType<typeof itemsOf> => {
    const file = join(folder, basename(source))
    writeFileSync(file, text)
    return itemsOf(format, file)
  }
  const told = (items: Awaited<ReturnType<typeof itemsOf>>): unknown[] =>
    eventsOf(items).map(({ type, parent, at, payload }) => [type, parent === null, at, payload(() => null)])

  it('whose records a formatter spread over lines gives the same events', async () => {
    for (const source of await lineSources(format)) {
      const text = readFileSync(source, 'utf8')
      const records = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
      const spread = records.map((record) => JSON.stringify(record, null, 2)).join('\n')
      const whole = await readAs(source, text)
      const items = await readAs(source, `${spread}\n`)
      expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
      expect(told(items)).toEqual(told(whole))
      expect(linesOf(items).size).toBe(spread.split('\n').length)
    }
  })

  it('with a record that begins and never ends gives all the others', async () => {
    const [source = ''] = await lineSources(format)
    const lines = readFileSync(source, 'utf8').trim().split('\n')
    const items = await readAs(
      source,
      [...lines.slice(0, 1), '{', '  "torn": {', ...lines.slice(1)].join('\n'),
    )
    const whole = await readAs(source, lines.join('\n'))
    expect(items.filter(({ kind }) => kind === 'failed')).toMatchObject([{ line: 2 }, { line: 3 }])
    const shifted = (line: number | undefined): number | undefined =>
      line !== undefined && line > 1 ? line + 2 : line
    expect(eventsOf(items).map(plain)).toEqual(
      eventsOf(whole).map((item) => {
        const { line, ...rest } = plain(item) as { line?: number }
        return line === undefined ? rest : { ...rest, line: shifted(line) }
      }),
    )
  })
})
