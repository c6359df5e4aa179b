import { expect, it } from 'vitest'
import type { Format, Item } from '../../src/formats/format.js'
import { importSources } from '../../src/session/import.js'
import { memoryStore, textsOf, workspace } from './stores.js'

const at = '2026-12-01T09:00:00.000Z'
const begins = (session: string, more: object = {}): Item => ({
  kind: 'session',
  session,
  at,
  workspace,
  cwd: null,
  ...more,
})
const says = (session: string, key: string, parent: string | null, content: string): Item => ({
  kind: 'event',
  session,
  key,
  parent,
  at,
  type: 'message',
  payload: () => ({ role: 'user', content }),
})

/** A format whose sources are lists of items by name. */
const formatOf = (
  sources: Readonly<Record<string, readonly Item[]>>,
  more: Partial<Format> = {},
): Format => ({
  name: 'made',
  title: 'Made up',
  folders: () => [],
  find: async () => Object.keys(sources),
  detect: () => false,
  beside: () => [],
  read: async function* (source) {
    yield* sources[source] ?? []
  },
  ...more,
})

it('a session that another one started is linked to it, whichever is read first', async () => {
  const child = begins('child', { startedBy: { session: 'parent', event: 'p1' } })
  const format = formatOf({ a: [child], b: [begins('parent'), says('parent', 'p1', null, 'go')] })
  const store = await memoryStore()
  const sources = ['a', 'b'].map((path) => ({ format, path }))
  const { imported } = await importSources(store, sources, { workspace })
  expect(imported.map(({ source }) => source)).toEqual(['b', 'a'])
  const rows = await store.list({ sub: true })
  const [parent] = rows.filter(({ origin }) => origin?.id === 'parent')
  const [started] = rows.filter(({ origin }) => origin?.id === 'child')
  const events = await (await store.reader(parent!.session)).events()
  expect(started!.startedBy).toEqual({ session: parent!.session, event: events[1]!.id })
  expect(parent!.children).toEqual([started!.session])
})

it('a session whose parent is nowhere is imported all the same, with a word', async () => {
  const format = formatOf({ a: [begins('child', { startedBy: { session: 'gone', event: null } })] })
  const { imported } = await importSources(await memoryStore(), [{ format, path: 'a' }], { workspace })
  expect(imported).toHaveLength(1)
  expect(imported[0]!.notes.join()).toContain('not imported: gone')
})

it('a source that ends earlier than another one of the same session moves no head back', async () => {
  const short = [begins('s'), says('s', '1', null, 'one')]
  const format = formatOf({ short, long: [...short, says('s', '2', '1', 'two')] })
  const store = await memoryStore()
  const sources = ['long', 'short'].map((path) => ({ format, path }))
  const first = await importSources(store, sources, { workspace })
  const again = await importSources(store, sources, { workspace })
  expect(again.imported.map((row) => row.new)).toEqual([0, 0])
  expect(await textsOf(store, first.imported[0]!.session)).toEqual(['one', 'two'])
})

it('where a tool cuts its file at an undo, the head goes back to where the source ends', async () => {
  const short = [begins('s'), says('s', '1', null, 'one')]
  const sources: Record<string, readonly Item[]> = { s: [...short, says('s', '2', '1', 'two')] }
  const format = formatOf(sources, { isCutByUndo: true })
  const store = await memoryStore()
  const { imported } = await importSources(store, [{ format, path: 's' }], { workspace })
  sources.s = short
  const cut = await importSources(store, [{ format, path: 's' }], { workspace })
  expect(cut.imported[0]!.new).toBe(1)
  expect(await textsOf(store, imported[0]!.session)).toEqual(['one'])
})
