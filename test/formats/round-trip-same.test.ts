import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { canonical } from './canonical.js'
import { itemsOf } from './check-items.js'
import { sourcesOf } from './corpus-sources.js'
import { put, sessionsIn } from './round-trip.js'

/** Read, then written in the same format: the same records, member by member. */

const folder = mkdtempSync(join(tmpdir(), 'coppice-same-'))
afterAll(() => rmSync(folder, { recursive: true }))

const recordsIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [{ line: line.replace(/^\uFEFF/, ''), at: i + 1 }]))
    .map(({ line }) => canonical(JSON.parse(line) as unknown))

const isDamaged = (text: string): boolean => {
  try {
    recordsIn(text)
    return false
  } catch {
    return true
  }
}

const cases = (await sourcesOf(formats.filter(({ writer }) => writer !== undefined))).map(
  ({ format, source }) => [format.name, basename(source), format, source] as const,
)

describe.skipIf(cases.length === 0)('a session that is written in the format that it came from', () => {
  it.each(cases)('%s %s: gives its records back', async (_name, file, format, source) => {
    const items = await itemsOf(format, source)
    const text = readFileSync(source, 'utf8')
    if (items.some(({ kind }) => kind === 'failed') || isDamaged(text)) return
    const without = new Set(items.flatMap((item) => (item.kind === 'remark' ? (item.lines ?? []) : [])))
    const written: string[] = []
    for (const session of sessionsIn(format, items)) {
      const made = await format.writer?.write(session)
      if (made === undefined) continue
      const files = await put(made, join(folder, format.name, file))
      for (const { name, merge } of made.files)
        if (merge === undefined) written.push(...recordsIn(files.get(name)?.toString() ?? ''))
      expect(made.losses()).toEqual([])
    }
    const lines = text.split('\n').map((line, i) => (without.has(i + 1) ? '' : line))
    const found = recordsIn(lines.join('\n'))
    // Sub-agents' lines may stand among the others, and come after them where they are written.
    const isOne = items.filter(({ kind }) => kind === 'session').length === 1
    expect(isOne ? written : written.toSorted()).toEqual(isOne ? found : found.toSorted())
  })
})
