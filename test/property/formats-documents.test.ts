import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { gemini } from '../../src/formats/gemini/format.js'
import { opencode } from '../../src/formats/opencode/format.js'
import { eventsOf, itemsOf, plain, problemsOf } from '../formats/check-items.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 60
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coppice-documents-'))
afterAll(() => rmSync(folder, { recursive: true }))

const checkpoint = join(fixtures, 'gemini/tmp/tea/chats/session-2026-12-01T09-00-cccc0000.json')
const documents = [
  ['a Gemini checkpoint', gemini, checkpoint],
  ['an OpenCode export', opencode, join(fixtures, 'opencode/export.json')],
] as const

describe.each(documents)('whatever happens to the bytes of %s', (_name, format, source) => {
  const bytes = readFileSync(source)
  const readAs = (text: Buffer): Promise<Awaited<ReturnType<typeof itemsOf>>> => {
    const file = join(folder, basename(source))
    writeFileSync(file, text)
    return itemsOf(format, file)
  }

  it('its items are fit to import, and reading again gives the same', async () => {
    const harm = fc.record({
      at: fc.nat(bytes.length - 1),
      cut: fc.nat(400),
      put: fc.uint8Array({ maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(harm, { maxLength: 4 }), async (harms) => {
        const harmed = harms.reduce(
          (text, { at, cut, put }) => Buffer.concat([text.subarray(0, at), put, text.subarray(at + cut)]),
          bytes,
        )
        const items = await readAs(harmed)
        expect(problemsOf(items)).toEqual([])
        expect((await readAs(harmed)).map(plain)).toEqual(items.map(plain))
      }),
      { numRuns: runs },
    )
  })

  it('cut anywhere, it gives the events of the messages before the cut, and says that it is cut', async () => {
    const told = (items: Awaited<ReturnType<typeof itemsOf>>): string[] =>
      eventsOf(items).flatMap(({ key, type }) => (['title', 'custom'].includes(type) ? [] : [key]))
    const whole = told(await itemsOf(format, source))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 2 }), async (cut) => {
        const items = await readAs(bytes.subarray(0, cut))
        expect(items.some(({ kind }) => kind === 'failed')).toBe(true)
        const part = told(items)
        expect(part).toEqual(whole.slice(0, part.length))
      }),
      { numRuns: runs },
    )
  })
})

describe('whatever happens to the files of an OpenCode session', () => {
  const storage = join(fixtures, 'opencode/storage')
  const files = readdirSync(storage, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(storage, name)).isFile(),
  )

  it('its items are fit to import, and every file that is no JSON is named', async () => {
    const harm = fc.record({
      file: fc.constantFrom(...files.filter((name) => !name.startsWith('session'))),
      at: fc.nat(300),
      what: fc.constantFrom('cut', 'remove', 'junk'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(harm, { selector: ({ file }) => file, maxLength: 5 }),
        async (harms) => {
          const at = mkdtempSync(join(folder, 'storage-'))
          cpSync(storage, at, { recursive: true })
          for (const { file, at: place, what } of harms) {
            const path = join(at, file)
            if (what === 'remove') rmSync(path)
            else writeFileSync(path, what === 'junk' ? '[1' : readFileSync(path, 'utf8').slice(0, place))
          }
          const items = (
            await Promise.all((await opencode.find(at)).map((path) => itemsOf(opencode, path)))
          ).flat()
          expect(problemsOf(items)).toEqual([])
          const failed = items.flatMap((item) => (item.kind === 'failed' ? [item.reason] : []))
          for (const { file, what } of harms)
            if (what === 'junk' && file.startsWith('message'))
              expect(
                failed.some((reason) => reason.includes(basename(file))),
                file,
              ).toBe(true)
          rmSync(at, { recursive: true })
        },
      ),
      { numRuns: runs / 2 },
    )
  })
})
