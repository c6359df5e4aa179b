import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SearchHit, SearchOptions, Store } from '../../src/session/api.js'
import { foldText } from '../../src/session/search/fold.js'
import { openStore } from '../../src/session/store/store.js'
import { newFolder } from '../cli/folders.js'
import { runs } from './arbitraries.js'

const hitsOf = async (store: Store, options: SearchOptions): Promise<readonly SearchHit[]> => {
  const hits: SearchHit[] = []
  for await (const hit of store.search(options)) hits.push(hit)
  return hits
}

/** What is easily lost: what the index folds, quotes, cuts into code points, or cannot hold. */
const odd = [
  ...[
    '"',
    '""',
    "'",
    '%',
    '_',
    '*',
    'a*',
    'NEAR(a b)',
    ' OR ',
    '^',
    ':',
    '-x',
    '{',
    '\\',
    '\\n',
    '\n',
    '\t \r\n',
  ],
  ...[
    '\0',
    '\ufffd',
    '\ufffe',
    '\uffff',
    '\ud83d',
    '\ude00',
    '😀',
    'e\u0301',
    'é',
    'É',
    'İ',
    'i',
    '\u0307',
    'ẞ',
    'ß',
    'Σ',
    'ς',
    'σ',
    'ΟΔΟΣ',
    'ﬁ',
  ],
  ...[
    '会话',
    '会',
    'セッション',
    '\u200b',
    '\u2028',
    '\u3000',
    '\u00a0',
    '\ufeff',
    'ab',
    'abc',
    'the',
    'x'.repeat(50),
  ],
]
const textArbitrary = fc
  .array(fc.oneof(fc.constantFrom(...odd), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 8 })
  .map((parts) => parts.join(''))

const draftArbitrary = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(
      textArbitrary,
      textArbitrary.map((text) => [{ type: 'text', text }]),
    ),
  }),
  fc.record({
    type: fc.constant('message'),
    role: fc.constant('user'),
    content: textArbitrary,
    visible: fc.constant(false),
  }),
  textArbitrary.map((text) => ({
    type: 'message',
    role: 'assistant',
    content: null,
    reasoning: text,
    toolCalls: [{ id: 'c', name: 'run', arguments: JSON.stringify({ command: text }) }],
  })),
  textArbitrary.map((text) => ({
    type: 'custom',
    name: 'n',
    data: null,
    content: text,
    isLong: true,
  })),
)

/** So long that it stands in a blob. */
const lengthened = ({
  isLong,
  ...draft
}: {
  readonly isLong?: boolean
  readonly content?: unknown
}): object => (isLong === true ? { ...draft, content: `${draft.content}${'y'.repeat(70_000)}` } : draft)

/** A part of what was said, in another case perhaps; or anything. */
const queryOf = (
  texts: readonly string[],
  pick: number,
  from: number,
  length: number,
  upper: boolean,
): string => {
  const text = texts[pick % Math.max(1, texts.length)] ?? 'a'
  const start = from % Math.max(1, text.length)
  const part = text.slice(start, start + length)
  return upper ? part.toUpperCase() : part
}
const queryArbitrary = fc.oneof(
  fc.record({ pick: fc.nat(), from: fc.nat(), length: fc.integer({ min: 1, max: 12 }), upper: fc.boolean() }),
  fc.constantFrom(...odd).map((text) => ({ text })),
)

/**
 * The least of whole code points that holds what was asked: more of them than that only where one folds to more than one
 * (`İ` to `i` and a dot), and the hit begins or ends inside of it.
 */
const expectMarked = (marked: string, text: string): void => {
  const holds = (points: readonly string[]): boolean => foldText(points.join('')).includes(foldText(text))
  const points = [...marked]
  expect(holds(points)).toBe(true)
  expect(holds(points.slice(1)) || holds(points.slice(0, -1))).toBe(false)
}

const strings = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(strings)
      : []

const databaseOf = (path: string): string => join(path, 'search', 'index.db')

/** What may befall the index between two searches. */
const mishaps: Readonly<Record<string, (path: string, at: number) => void>> = {
  none: () => {},
  deleted: (path) => rmSync(join(path, 'search'), { recursive: true, force: true }),
  corrupt: (path, at) => {
    const bytes = readFileSync(databaseOf(path))
    for (let i = 0; i < 64; i++) bytes[(at + i * 97) % bytes.length] = (at + i) & 255
    writeFileSync(databaseOf(path), bytes)
  },
  cut: (path, at) => {
    const bytes = readFileSync(databaseOf(path))
    writeFileSync(databaseOf(path), bytes.subarray(0, at % bytes.length))
  },
  old: (path) => {
    if (existsSync(`${databaseOf(path)}.old`)) copyFileSync(`${databaseOf(path)}.old`, databaseOf(path))
  },
}

const newStore = async (): Promise<{
  readonly path: string
  readonly workspace: string
  readonly store: Store
}> => {
  const path = join(newFolder(), 'store')
  return { path, workspace: newFolder(), store: await openStore(path, { durability: 'none' }) }
}

describe('search', () => {
  it('finds by the index exactly what a plain scan finds, whatever befell the index', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            session: fc.integer({ min: 0, max: 2 }),
            drafts: fc.array(draftArbitrary, { minLength: 1, maxLength: 4 }),
            query: queryArbitrary,
            role: fc.constantFrom(undefined, undefined, 'user', 'assistant'),
            mishap: fc.constantFrom(...Object.keys(mishaps)),
            at: fc.nat(),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        async (rounds) => {
          const { path, workspace, store } = await newStore()
          const sessions = new Map<number, string>()
          const said: string[] = []
          for (const { session, drafts, query, role, mishap, at } of rounds) {
            const known = sessions.get(session)
            const open = known === undefined ? await store.create({ workspace }) : await store.open(known)
            sessions.set(session, open.id)
            await open.append(drafts.map(lengthened) as never)
            open.close()
            said.push(...drafts.flatMap(strings))
            const text =
              'text' in query ? query.text : queryOf(said, query.pick, query.from, query.length, query.upper)
            if (text.trim() === '') continue
            if (existsSync(databaseOf(path))) mishaps[mishap]?.(path, at)
            const options = { text, ...(role === undefined ? {} : { role }) }
            const scanned = await hitsOf(store, { ...options, scan: true })
            expect(await hitsOf(store, options)).toEqual(scanned)
            expect(await hitsOf(store, options)).toEqual(scanned)
            if (existsSync(databaseOf(path))) copyFileSync(databaseOf(path), `${databaseOf(path)}.old`)
            for (const { excerpt, match } of scanned) expectMarked(excerpt.slice(...match), text)
          }
          store.close()
        },
      ),
      runs(25),
    )
  })

  it('gives hits newest first, and the first of them alone where a limit says so', async () => {
    const { workspace, store } = await newStore()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 6 }),
        fc.nat(5),
        async (times, limit) => {
          const session = await store.create({ workspace })
          const at = (ms: number): string => new Date(1e12 + ms).toISOString()
          await session.append(
            times.map((ms, i) => ({
              type: 'message',
              role: 'user',
              content: `needle ${i}`,
              at: at(ms),
            })) as never,
          )
          session.close()
          const hits = await hitsOf(store, { text: 'NEEDLE' })
          expect(hits.map((hit) => hit.at)).toEqual(
            hits
              .map((hit) => hit.at)
              .sort()
              .reverse(),
          )
          expect(await hitsOf(store, { text: 'needle', scan: true })).toEqual(hits)
          expect(await hitsOf(store, { text: 'needle', limit })).toEqual(hits.slice(0, limit))
        },
      ),
      runs(10),
    )
    store.close()
  })
})
