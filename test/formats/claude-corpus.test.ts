import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { claude } from '../../src/formats/claude/format.js'
import type { Item } from '../../src/formats/format.js'
import { detectFormat } from '../../src/formats/registry.js'
import { itemsOf, linesOf, plain, problemsOf } from './check-items.js'
import { recordsOf } from './claude-records.js'

const corpus = join(
  process.env.COPPICE_CORPUS ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url)),
  'claude',
)
const files = existsSync(corpus) ? readdirSync(corpus).filter((name) => name.endsWith('.jsonl')) : []
const folder = mkdtempSync(join(tmpdir(), 'coppice-claude-'))
afterAll(() => rmSync(folder, { recursive: true }))

const readAs = async (name: string, bytes: string): Promise<Item[]> => {
  writeFileSync(join(folder, name), bytes)
  return itemsOf(claude, join(folder, name))
}
const textOf = (name: string): string => readFileSync(join(corpus, name), 'utf8')
const told = (items: readonly Item[]): unknown[] => items.filter(({ kind }) => kind !== 'remark').map(plain)

describe.skipIf(files.length === 0)(
  'real Claude Code transcripts (skipped without the corpus: set COPPICE_CORPUS)',
  () => {
    it.each(files)('%s gives items that any importer can take', async (name) => {
      const items = await itemsOf(claude, join(corpus, name))
      expect(problemsOf(items)).toEqual([])
      expect(items.some(({ kind }) => kind === 'session')).toBe(true)
    })

    it.each(files)('%s: every line is in an item, a failure or a remark', async (name) => {
      const accounted = linesOf(await itemsOf(claude, join(corpus, name)))
      const lines = textOf(name)
        .split('\n')
        .flatMap((line, i) => (line.trim() === '' ? [] : [i + 1]))
      expect(lines.filter((line) => !accounted.has(line))).toEqual([])
    })

    it.each(files)('%s: payload and extra give each record back, member by member', async (name) => {
      const items = await itemsOf(claude, join(corpus, name))
      const records = recordsOf(items)
      const lines = textOf(name).split('\n')
      const without = items.flatMap((item): readonly (number | null)[] =>
        item.kind === 'failed' ? [item.line] : item.kind === 'remark' ? (item.lines ?? []) : [],
      )
      const objects = lines.flatMap((line, i) =>
        parse(line) !== undefined && !without.includes(i + 1) && !isEdit(items, i + 1) ? [i + 1] : [],
      )
      expect(objects.filter((line) => !records.has(line))).toEqual([])
      for (const [line, record] of records) {
        const source = parse(lines[line - 1] ?? '')
        if (source !== undefined) expect(record, `line ${line}`).toEqual(source)
      }
    })

    it.each(files)('%s: reading up to any record gives the first items of the whole', async (name) => {
      const lines = textOf(name).split('\n')
      const whole = told(await readAs(name, lines.join('\n')))
      const step = Math.max(1, Math.floor(lines.length / 12))
      for (let cut = 1; cut < lines.length; cut += step) {
        const part = told(await readAs(name, `${lines.slice(0, cut).join('\n')}\n`))
        expect(part, `cut after line ${cut}`).toEqual(whole.slice(0, part.length))
      }
    })

    it('tells each of them as Claude Code', async () => {
      for (const name of files) expect((await detectFormat(join(corpus, name)))?.name, name).toBe('claude')
    })

    it('takes parallel calls and hook progress as one line of conversation, not as branches', async () => {
      const busy = files.filter((name) => /entire-\d+branches|entire-local-command|entire-pr-link/.test(name))
      for (const name of busy) expect(await branchingsOf(name), name).toBe(0)
      expect(await branchingsOf('forked-session.jsonl')).toBe(1)
    })

    const branchingsOf = async (name: string): Promise<number> => {
      let head: string | null = null
      let count = 0
      for (const item of await itemsOf(claude, join(corpus, name))) {
        if (item.kind !== 'event' || ['title', 'status'].includes(item.type)) continue
        if (head !== item.parent) count++
        head = item.key
      }
      return count
    }
  },
)

/** A record that stands twice with another content: the edit's `extra` is the record. */
const isEdit = (items: readonly Item[], line: number): boolean =>
  items.some((item) => item.kind === 'event' && item.line === line && item.type === 'edit')

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
