import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Format } from '../../src/formats/format.js'
import { formatNamed } from '../../src/formats/registry.js'
import { type ImportReport, importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'

const samples = fileURLToPath(new URL('../../samples', import.meta.url))
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coppice-reimport-'))
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

const named = (name: string): Format => formatNamed(name) as Format

describe.each(['claude', 'zettcode'])('a %s session imported as it grows', (name) => {
  it('becomes event for event what one import of the whole becomes', async () => {
    for (const source of await named(name).find(samples)) {
      const lines = readFileSync(source, 'utf8').split('\n')
      const folder = join(root, `${made++}`, name === 'zettcode' ? basename(dirname(source)) : 'project')
      const file = join(folder, basename(source))
      mkdirSync(folder, { recursive: true })
      const growing = join(root, `growing-${made}`)
      for (const share of [0.2, 0.45, 0.7, 1]) {
        writeFileSync(file, lines.slice(0, Math.ceil(lines.length * share)).join('\n'))
        await importInto(growing, named(name), file)
      }
      const whole = join(root, `whole-${made}`)
      await importInto(whole, named(name), file)
      expect(eventIds(growing)).toEqual(eventIds(whole))
      const again = await importInto(growing, named(name), file)
      expect(again.imported.map((row) => row.new)).toEqual([0])
    }
  })
})

describe('a Deep Code session that is compacted twice, and undone, between imports', () => {
  const project = join(fixtures, 'deepcode/projects/-home-u-projects-api')
  const text = (name: string, id: string): string =>
    readFileSync(join(project, name), 'utf8').replaceAll(`"sessionId":"${id}"`, '"sessionId":"two"')
  const states = [
    text('compacted.before.txt', 'compacted'),
    text('compacted.jsonl', 'compacted'),
    text('second-compaction.jsonl', 'second-compaction'),
  ]
  const folder = join(root, 'two')
  const store = join(root, 'two-store')
  const file = join(folder, 'two.jsonl')
  const put = async (state: string): Promise<ImportReport> => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, state)
    return importInto(store, named('deepcode'), file)
  }
  const said = async (): Promise<string[]> => {
    const opened = await openStore(store)
    try {
      const [row] = await opened.list({})
      const reader = await opened.reader(row?.session ?? '')
      const context = await reader.context({ format: 'openai' })
      expect(row?.diverged).toEqual([])
      return context.map(({ content }) => String(content).replace(/^There are earlier parts[^\n]*\n\n/, ''))
    } finally {
      await opened.close()
    }
  }

  it('keeps all it ever held, and tells the model what Deep Code would', async () => {
    await put(states[0] ?? '')
    expect(await said()).toEqual(['prompt', ...[0, 1, 2, 3, 4, 5].map((n) => `message ${n}`)])
    expect((await put(states[1] ?? '')).imported[0]?.new).toBe(3)
    expect(await said()).toEqual([
      'prompt',
      expect.stringContaining('first summary'),
      ...[4, 5, 6, 7].map((n) => `message ${n}`),
    ])
    await put(states[2] ?? '')
    expect(await said()).toEqual([
      'prompt',
      expect.stringContaining('first summary'),
      expect.stringContaining('second summary'),
      ...[8, 9, 10, 11].map((n) => `message ${n}`),
    ])
    const undone = (states[2] ?? '').split('\n').slice(0, -3).join('\n')
    await put(`${undone}\n`)
    expect((await said()).at(-1)).toBe('message 9')
    expect((await put(`${undone}\n`)).imported[0]?.new).toBe(0)
  })
})
