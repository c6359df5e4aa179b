import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { itemsOf } from './check-items.js'
import { corpusFiles } from './corpus.js'
import { sourcesOf } from './corpus-sources.js'
import { sessionsIn } from './round-trip.js'

/**
 * What each pair of formats loses, over all sources at hand, is what docs/FORMATS.md says. `COPPICE_UPDATE_DOCS=1` writes
 * it there; that takes the corpus.
 */

const doc = fileURLToPath(new URL('../../docs/FORMATS.md', import.meta.url))
const updates = process.env.COPPICE_UPDATE_DOCS === '1'
const hasCorpus = corpusFiles('claude').length > 0
const isWhole = updates || (hasCorpus && Number(process.env.FC_RUNS ?? 1) > 1)
const begin = '<!-- losses: written by test/formats/round-trip-losses.test.ts -->'
const end = '<!-- end of losses -->'

const writers = formats.flatMap((format) =>
  format.writer === undefined ? [] : [{ ...format, writer: format.writer }],
)

/** Kinds of loss by `<source> <target>`, and what is said of each kind. */
const lossesOf = async (every: number) => {
  const pairs = new Map<string, Set<string>>()
  const texts = new Map<string, string>()
  const sources = (await sourcesOf(formats)).filter((_, i) => i % every === 0)
  for (const { format, source } of sources)
    for (const session of sessionsIn(format, await itemsOf(format, source)))
      for (const { name, writer } of writers) {
        const { files, losses } = await writer.write(session)
        for (const { content, merge } of files)
          if (merge === undefined) for await (const _piece of content());
        const key = `${format.name} ${name}`
        const kinds = pairs.get(key) ?? new Set()
        for (const { kind, text } of losses()) {
          kinds.add(kind)
          texts.set(kind, text)
        }
        pairs.set(key, kinds)
      }
  return { pairs, texts }
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const tableOf = ({ pairs, texts }: Awaited<ReturnType<typeof lossesOf>>): string => {
  const head = [
    row(['from \\ to', ...writers.map(({ title }) => title)]),
    row(Array(writers.length + 1).fill('---')),
  ]
  const rows = formats.map(({ name, title }) =>
    row([
      title,
      ...writers.map(
        ({ name: to }) => [...(pairs.get(`${name} ${to}`) ?? [])].sort().join(', ') || 'nothing',
      ),
    ]),
  )
  const kinds = [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, text]) => row([kind, text]))
  return [...head, ...rows, '', '| kind | what the report says |', '|---|---|', ...kinds].join('\n')
}

const written = (): string => readFileSync(doc, 'utf8').split(begin)[1]?.split(end)[0]?.trim() ?? ''

/** Kinds by pair, as the table has them. */
const pairsIn = (table: string): Map<string, Set<string>> => {
  const byTitle = new Map(formats.map(({ title, name }) => [title, name]))
  const cells = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const targets = (cells[0] ?? []).slice(1).map((title) => byTitle.get(title))
  return new Map(
    cells.flatMap(([title = '', ...lists]) => {
      const from = byTitle.get(title)
      return from === undefined
        ? []
        : lists.map((list, i) => [`${from} ${targets[i]}`, new Set(list.split(', '))] as const)
    }),
  )
}

describe('what is lost between two formats', () => {
  it('is in the table of docs/FORMATS.md', async () => {
    const found = await lossesOf(isWhole ? 1 : 5)
    if (updates) {
      const [before, rest] = readFileSync(doc, 'utf8').split(begin)
      const after = rest?.split(end)[1]
      expect(after).toBeDefined()
      writeFileSync(doc, `${before}${begin}\n\n${tableOf(found)}\n\n${end}${after}`)
    }
    const said = pairsIn(written())
    for (const [pair, kinds] of found.pairs)
      for (const kind of kinds)
        expect(said.get(pair), `${pair}: run again with COPPICE_UPDATE_DOCS=1`).toContain(kind)
    if (isWhole) expect(written()).toBe(tableOf(found))
  })
})
