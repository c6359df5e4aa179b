import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { claude } from '../../src/formats/claude/format.js'
import { deepcode } from '../../src/formats/deepcode/format.js'
import type { EventItem, Format, Item } from '../../src/formats/format.js'
import { zettcode } from '../../src/formats/zettcode/format.js'
import type { Store } from '../../src/session/api.js'
import { type ImportReport, importSources } from '../../src/session/import.js'
import { MemoryFs } from '../support/memory-fs.js'
import { contextOf, memoryStore, say, textsOf, user, workspace } from './stores.js'

const corpus = join(
  process.env.COPPICE_CORPUS ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url)),
  'claude',
)
const isCorpusThere = existsSync(corpus)
const skipped = 'no corpus here: set COPPICE_CORPUS to the folder that holds `claude/`'
const corpusFiles = isCorpusThere
  ? readdirSync(corpus).filter((name) => name.endsWith('.jsonl'))
  : ['(absent)']
const samples = fileURLToPath(new URL('../../samples', import.meta.url))
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'coppice-importing-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const bring = (store: Store, format: Format, ...paths: string[]): Promise<ImportReport> =>
  importSources(
    store,
    paths.map((path) => ({ format, path })),
    { workspace },
  )
const everyEvent = async (store: Store): Promise<readonly Event[]> => {
  const rows = await store.list({ sub: true })
  const all = await Promise.all(rows.map(async ({ session }) => (await store.reader(session)).events()))
  return all.flat()
}
const idsOf = async (store: Store): Promise<readonly string[]> =>
  (await everyEvent(store)).map(({ id }) => id).sort()
const newIn = ({ imported }: ImportReport): number => imported.reduce((sum, row) => sum + row.new, 0)
const problemsOf = async (store: Store) => {
  const { problems, diverged } = await store.verify()
  return { problems, diverged }
}
const nothing = { problems: [], diverged: [] }
const itemsOf = async (format: Format, path: string): Promise<readonly Item[]> => {
  const items: Item[] = []
  for await (const item of format.read(path)) items.push(item)
  return items
}
/** A copy of a source with what stands beside it, where its session's name may be that of its folder. */
let folders = 0
const copyOf = (path: string): string => {
  const folder = join(scratch, `${folders++}`)
  const home = dirname(dirname(path))
  cpSync(home, join(folder, basename(home)), { recursive: true })
  return join(folder, basename(home), basename(dirname(path)), basename(path))
}

const sourcesOf = async (
  format: Format,
  path: string,
): Promise<readonly (readonly [string, Format, string])[]> =>
  (await format.find(path)).map(
    (source) => [source.slice(source.indexOf(format.name)), format, source] as const,
  )
const shipped = (
  await Promise.all([
    sourcesOf(claude, join(samples, 'claude')),
    sourcesOf(deepcode, join(samples, 'deepcode')),
    sourcesOf(zettcode, join(samples, 'zettcode')),
    sourcesOf(deepcode, join(fixtures, 'deepcode')),
    sourcesOf(zettcode, join(fixtures, 'zettcode')),
  ])
).flat()

const laws = async (format: Format, path: string): Promise<void> => {
  const store = await memoryStore()
  const first = await bring(store, format, path)
  expect(await problemsOf(store)).toEqual(nothing)
  const events = await everyEvent(store)
  // Nothing dropped unsaid: each record that the reader gave is an event, or a failure that says so.
  const keys = new Set(events.map(({ origin }) => (origin as { id?: string } | undefined)?.id))
  const given = (await itemsOf(format, path)).filter((item): item is EventItem => item.kind === 'event')
  const missing = given.filter(({ key }) => !keys.has(key))
  expect(missing.length).toBeLessThanOrEqual(first.failed.length)
  expect(newIn(first)).toBe(events.length)
  const again = await bring(store, format, path)
  expect(newIn(again)).toBe(0)
  expect(await idsOf(store)).toEqual(events.map(({ id }) => id).sort())
}

/** A title stands in another file, which is not cut with the records: where its note hangs is not theirs to say. */
const recordIdsOf = async (store: Store): Promise<readonly string[]> =>
  (await everyEvent(store)).flatMap(({ id, type }) => (type === 'title' ? [] : [id])).sort()

/** Cuts at every tenth record with FC_RUNS over 1; else at a few of them, from the tenth on. */
const prefixes = async (format: Format, path: string, every: number): Promise<void> => {
  const whole = await memoryStore()
  await bring(whole, format, path)
  const due = await recordIdsOf(whole)
  const lines = readFileSync(path, 'utf8').split('\n')
  const copy = copyOf(path)
  const isLong = Number(process.env.FC_RUNS ?? 1) > 1
  const step = isLong ? every : Math.max(every, Math.ceil(lines.length / 50) * 10)
  for (let cut = 1; cut < lines.length; cut += step) {
    const store = await memoryStore()
    writeFileSync(copy, `${lines.slice(0, cut).join('\n')}\n`)
    await bring(store, format, copy)
    writeFileSync(copy, lines.join('\n'))
    await bring(store, format, copy)
    expect([cut, await recordIdsOf(store)]).toEqual([cut, due])
    expect(await problemsOf(store)).toEqual(nothing)
  }
}

describe.skipIf(!isCorpusThere)('importing the corpus', () => {
  it.each(corpusFiles)(
    '%s: sound, nothing dropped unsaid, a second import adds nothing',
    async (name) => {
      await laws(claude, join(corpus, name))
    },
    120_000,
  )

  it.each(corpusFiles)(
    '%s: a beginning, then the whole, is the whole',
    async (name) => {
      await prefixes(claude, join(corpus, name), 10)
    },
    300_000,
  )

  it('all at once, twice, and in a dry run, which writes nothing', async () => {
    const paths = await claude.find(corpus)
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const sources = paths.map((path) => ({ format: claude, path }))
    const told = await importSources(store, sources, { workspace, dryRun: true })
    expect(fs.paths()).toEqual([])
    const done = await importSources(store, sources, { workspace })
    expect(told.imported.map(({ session, new: added }) => [session, added])).toEqual(
      done.imported.map(({ session, new: added }) => [session, added]),
    )
    expect(await problemsOf(store)).toEqual(nothing)
    const before = fs.paths().map((path) => [path, fs.bytesOf(path).length])
    expect(newIn(await importSources(store, sources, { workspace, dryRun: true }))).toBe(0)
    expect(newIn(await importSources(store, sources, { workspace }))).toBe(0)
    const logs = before.filter(([path]) => String(path).endsWith('data.jsonl'))
    expect(logs.map(([path]) => [path, fs.bytesOf(String(path)).length])).toEqual(logs)
  }, 120_000)
})
if (!isCorpusThere)
  describe('importing the corpus', () => it('is left out', (context) => context.skip(skipped)))

describe('importing what ships with the project', () => {
  it.each(shipped)('%s', async (_, format, path) => {
    await laws(format, path)
  })

  it.each(shipped.filter(([, format]) => format !== deepcode))(
    '%s: a beginning, then the whole, is the whole',
    async (_, format, path) => {
      await prefixes(format, path, 3)
    },
  )
})

describe('records of Deep Code that change in place', () => {
  const project = join(fixtures, 'deepcode/projects/-home-u-projects-api')
  const base = join(project, '3f0b7a52-6c1e-4d0a-9a77-0f5d2f7c1b10.jsonl')
  const edit = (path: string, change: (records: Record<string, unknown>[]) => unknown): void => {
    const records = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const changed = (change(records) ?? records) as Record<string, unknown>[]
    writeFileSync(path, changed.map((record) => `${JSON.stringify(record)}\n`).join(''))
  }
  const imported = async (path: string) => {
    const store = await memoryStore()
    const report = await bring(store, deepcode, path)
    return { store, session: report.imported[0]?.session as string }
  }

  it('messages that a compaction marks: the compaction, and the context that it leaves', async () => {
    const path = copyOf(join(project, 'compacted.jsonl'))
    const after = readFileSync(path)
    cpSync(join(dirname(path), 'compacted.before.txt'), path)
    const { store, session } = await imported(path)
    const before = await textsOf(store, session)
    writeFileSync(path, after)
    const report = await bring(store, deepcode, path)
    expect(newIn(report)).toBeGreaterThan(0)
    expect((await everyEvent(store)).filter(({ type }) => type === 'compaction')).toHaveLength(1)
    const fresh = await imported(path)
    expect(await contextOf(store, session)).toEqual(await contextOf(fresh.store, fresh.session))
    expect(await textsOf(store, session)).toEqual(await textsOf(fresh.store, fresh.session))
    expect((await textsOf(store, session)).slice(0, before.length)).toEqual(before)
    expect(newIn(await bring(store, deepcode, path))).toBe(0)
    expect(await problemsOf(store)).toEqual(nothing)
  })

  it('a checkpoint that a message names later is an event, once', async () => {
    const path = copyOf(base)
    edit(path, (records) => {
      for (const record of records) delete record.checkpointHash
    })
    const { store } = await imported(path)
    const count = async () => (await everyEvent(store)).filter(({ type }) => type === 'checkpoint').length
    expect(await count()).toBe(0)
    cpSync(base, path)
    const report = await bring(store, deepcode, path)
    expect(await count()).toBeGreaterThan(0)
    expect(report.failed).toEqual([])
    expect(newIn(await bring(store, deepcode, path))).toBe(0)
    expect(await problemsOf(store)).toEqual(nothing)
  })

  it('an undo that cuts the file: the head goes back, what was there stays, and goes on from there', async () => {
    const path = copyOf(base)
    const { store, session } = await imported(path)
    const all = await textsOf(store, session)
    const records = readFileSync(path, 'utf8').trimEnd().split('\n')
    edit(path, (list) => list.slice(0, 3))
    const fresh = await imported(path)
    const report = await bring(store, deepcode, path)
    expect(report.imported[0]?.notes.join()).toContain('head moved back')
    expect(await textsOf(store, session)).toEqual(await textsOf(fresh.store, fresh.session))
    expect(await textsOf(store, session)).not.toEqual(all)
    expect(newIn(await bring(store, deepcode, path))).toBe(0)
    const next = {
      ...(JSON.parse(records[1] as string) as object),
      id: 'new',
      content: 'another way',
      checkpointHash: undefined,
    }
    edit(path, (list) => [...list, next as Record<string, unknown>])
    await bring(store, deepcode, path)
    expect((await textsOf(store, session)).at(-1)).toBe('another way')
    expect(newIn(await bring(store, deepcode, path))).toBe(0)
    expect(await problemsOf(store)).toEqual(nothing)
    expect(await (await store.reader(session)).row()).toMatchObject({ branches: 2, problem: null })
  })

  it('a message whose text changed is kept, with an edit; one that changed otherwise is told, and not edited', async () => {
    const path = copyOf(base)
    const { store, session } = await imported(path)
    edit(path, (records) => {
      for (const record of records)
        if (record.role === 'user') record.content = `${String(record.content)}, changed`
    })
    const report = await bring(store, deepcode, path)
    expect(report.imported[0]?.notes.join()).toContain('edit of its content')
    expect((await contextOf(store, session)).join()).toContain(', changed')
    expect((await textsOf(store, session)).join()).not.toContain(', changed')
    expect(newIn(await bring(store, deepcode, path))).toBe(0)
    expect(await problemsOf(store)).toEqual(nothing)
  })
})

describe('sessions that went on here', () => {
  const line = (uuid: string, parentUuid: string | null, text: string, second: number): string =>
    `${JSON.stringify({
      type: 'user',
      uuid,
      parentUuid,
      sessionId: 'e0000000-0000-4000-8000-000000000001',
      cwd: '/nowhere/app',
      version: '2.0.0',
      isSidechain: false,
      userType: 'external',
      timestamp: `2026-12-01T09:00:0${second}.000Z`,
      message: { role: 'user', content: text },
    })}\n`
  const path = join(scratch, 'e0000000-0000-4000-8000-000000000001.jsonl')

  it('show both ends when their source goes on too (INV-7), and nothing is hidden', async () => {
    const store = await memoryStore()
    writeFileSync(path, line('u1', null, 'one', 1) + line('u2', 'u1', 'two', 2))
    const { imported } = await bring(store, claude, path)
    const id = imported[0]?.session as string
    const open = await store.open(id)
    const here = await say(open, user('went on here'))
    writeFileSync(
      path,
      line('u1', null, 'one', 1) + line('u2', 'u1', 'two', 2) + line('u3', 'u2', 'went on there', 3),
    )
    await bring(store, claude, path)
    const row = await (await store.reader(id)).row()
    expect(row.diverged.map(({ leaf }) => leaf)).toEqual([here.id])
    expect(await textsOf(store, id)).toEqual(['one', 'two', 'went on there'])
    expect(await textsOf(store, id, here.id)).toEqual(['one', 'two', 'went on here'])
    await open.append(user('and on'))
    expect(await textsOf(store, id)).toEqual(['one', 'two', 'went on here', 'and on'])
    expect(newIn(await bring(store, claude, path))).toBe(0)
    expect((await store.verify()).problems).toEqual([])
  })

  it('keep their head where the source has nothing new', async () => {
    const store = await memoryStore()
    writeFileSync(path, line('u1', null, 'one', 1) + line('u2', 'u1', 'two', 2))
    const { imported } = await bring(store, claude, path)
    const open = await store.open(imported[0]?.session as string)
    await say(open, user('went on here'))
    writeFileSync(path, line('u1', null, 'one', 1))
    await bring(store, claude, path)
    expect(await textsOf(store, open.id)).toEqual(['one', 'two', 'went on here'])
    expect((await (await store.reader(open.id)).row()).diverged).toEqual([])
  })

  it('are taken over while another process writes to them', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    writeFileSync(path, line('u1', null, 'one', 1))
    const { imported } = await bring(store, claude, path)
    const open = await (await memoryStore(fs)).open(imported[0]?.session as string)
    writeFileSync(path, line('u1', null, 'one', 1) + line('u2', 'u1', 'two', 2))
    const [report] = await Promise.all([
      bring(store, claude, path),
      ...Array.from({ length: 5 }, (_, i) =>
        open.append({ type: 'status', status: 'processing', reason: `${i}` }),
      ),
    ])
    expect(report.failed).toEqual([])
    expect(await textsOf(store, open.id)).toEqual(['one', 'two'])
    expect((await store.verify()).problems).toEqual([])
  })
})
