import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { gemini } from '../../src/formats/gemini/format.js'
import { detectFormat } from '../../src/formats/registry.js'
import { isObject, type Json } from '../../src/formats/remainder.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'
import { eventsOf, itemsOf, plain, problemsOf } from './check-items.js'
import { corpusFiles, corpusFolder } from './corpus.js'
import { geminiRecord } from './gemini-records.js'

const folder = mkdtempSync(join(tmpdir(), 'coppice-gemini-corpus-'))
afterAll(() => rmSync(folder, { recursive: true }))
const files = corpusFiles('gemini').filter((file) => file.endsWith('.json'))
const pathOf = (file: string): string => join(corpusFolder('gemini'), file)
const documentIn = (file: string): Json => JSON.parse(readFileSync(pathOf(file), 'utf8')) as Json
const messagesIn = (value: Json): readonly Json[] => (value.messages ?? value.history) as Json[]

describe.skipIf(files.length === 0)(
  'real Gemini checkpoints (skipped without the corpus: set COPPICE_CORPUS)',
  () => {
    it.each(files)(
      '%s gives items that any importer can take, each message member by member',
      async (file) => {
        const items = await itemsOf(gemini, pathOf(file))
        expect(problemsOf(items)).toEqual([])
        expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
        const first = eventsOf(items).filter(
          ({ key, type }) => !key.includes('#status') && type !== 'title' && !/#.*#|#[a-z_]+[-_]/.test(key),
        )
        const records = first.flatMap((item) => (isCall(item) ? [] : [geminiRecord(item, items)]))
        expect(records).toEqual(messagesIn(documentIn(file)))
      },
    )

    it.each(files)('%s: every member of the document is in the session, or said', async (file) => {
      const items = await itemsOf(gemini, pathOf(file))
      const [session] = items
      const extra = session?.kind === 'session' ? ((session.extra ?? {}) as Json) : {}
      const said = JSON.stringify(items.filter(({ kind }) => kind !== 'session').map(plain))
      const { messages: _, history: __, sessionId, startTime, ...head } = documentIn(file)
      for (const [name, value] of Object.entries(head))
        expect(
          isDeepEqual(extra[name], value) || said.includes(name) || said.includes(String(value)),
          name,
        ).toBe(true)
      if (sessionId !== undefined) expect(session).toMatchObject({ session: sessionId })
      if (startTime !== undefined) expect(new Date(startTime as string).toISOString()).toBe(atOf(session))
    })

    it.each(files)(
      '%s: a document that holds fewer messages gives the first items of the whole',
      async (file) => {
        const document = documentIn(file)
        const list = 'messages' in document ? 'messages' : 'history'
        const keysOf = async (count: number): Promise<string[]> => {
          const path = join(folder, file)
          writeFileSync(
            path,
            JSON.stringify({ ...document, [list]: messagesIn(document).slice(0, count) }, null, 2),
          )
          return eventsOf(await itemsOf(gemini, path)).flatMap(({ key, type }) =>
            type === 'title' ? [] : [key],
          )
        }
        const whole = await keysOf(messagesIn(document).length)
        for (let count = 0; count < messagesIn(document).length; count++) {
          const part = await keysOf(count)
          expect(part).toEqual(whole.slice(0, part.length))
        }
      },
    )

    it('each is told as Gemini, and a second import adds nothing', async () => {
      for (const file of files) expect((await detectFormat(pathOf(file)))?.name, file).toBe('gemini')
      const sources = files.map((file) => ({ format: gemini, path: pathOf(file) }))
      const store = await openStore(join(folder, 'store'))
      try {
        const first = await importSources(store, sources, { workspace: folder })
        expect(first.failed).toEqual([])
        expect(first.imported).toHaveLength(files.length)
        const again = await importSources(store, sources, { workspace: folder })
        expect(again.imported.filter(({ new: added }) => added > 0)).toEqual([])
      } finally {
        await store.close()
      }
    })
  },
)

const isCall = (item: Parameters<typeof geminiRecord>[0]): boolean => {
  const payload = item.payload(() => null)
  return payload.toolCalls !== undefined || payload.role === 'tool'
}

const isDeepEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const atOf = (item: unknown): unknown => (isObject(item) ? item.at : undefined)
