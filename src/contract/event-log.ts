import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import type { BlobRef } from '../events/content.js'
import { NotFound, StaleTail } from '../events/errors/index.js'
import { sha256 } from '../events/id.js'
import { encodeLine, type Line, parseLine } from '../events/line.js'
import type { Appended, EventLog } from '../events/log.js'

/** One law that every event log keeps. Rejects with an assertion error where this one does not. */
export interface Law {
  readonly name: string
  readonly check: (log: EventLog) => Promise<void>
}

const at = (ms: number): string => new Date(Date.UTC(2026, 11, 1, 9, 0, 0, ms)).toISOString()

const rootLine = (nonce: string): Line =>
  encodeLine(
    { parent: null, at: at(0), type: 'session', note: false },
    { format: 1, nonce, workspace: '/w', cwd: '/w' },
  )

const said = (parent: string, ms: number, content: string): Line =>
  encodeLine({ parent, at: at(ms), type: 'message', note: false }, { role: 'user', content })

const titled = (parent: string, ms: number): Line =>
  encodeLine({ parent, at: at(ms), type: 'title', note: true }, { title: 'a title', by: 'user' })

const right = <A>(result: E.Either<Error, A>): A => (E.isRight(result) ? result.right : fail(result.left))

const create = async (log: EventLog, nonce: string): Promise<Line> => {
  const root = rootLine(nonce)
  right(await log.create([root])())
  return root
}

const append = async (log: EventLog, session: string, tail: string, ...lines: Line[]): Promise<Appended> =>
  right(await log.append(session, tail, lines)())

const all = async (batches: AsyncIterable<readonly Line[]>): Promise<readonly Line[]> => {
  const lines: Line[] = []
  for await (const batch of batches) lines.push(...batch)
  return lines
}

const idsOf = (lines: readonly Line[]): readonly string[] => lines.map(({ id }) => id)

/** The bytes come back as they were given, and so what they parse to. */
const sameLines = (found: readonly Line[], given: readonly Line[]): void => {
  deepStrictEqual(
    found.map(({ bytes }) => bytes.toString()),
    given.map(({ bytes }) => bytes.toString()),
  )
  for (const line of found) right(E.mapLeft((why: string) => new Error(why))(parseLine(line)))
}

/** What every implementation of `EventLog` must do, whatever it keeps its lines in. Each law is given a log of its own. */
export const eventLogLaws: readonly Law[] = [
  {
    name: 'what was appended is read forward in order and backward in reverse, byte for byte',
    check: async (log) => {
      const root = await create(log, 'a')
      const first = said(root.id, 1, 'one \u2028 line')
      const note = titled(first.id, 2)
      const second = said(first.id, 3, '二')
      await append(log, root.id, root.id, first)
      await append(log, root.id, first.id, note, second)
      const given = [root, first, note, second]
      sameLines(await all(log.readForward(root.id)), given)
      sameLines(await all(log.readBackward(root.id)), given.toReversed())
    },
  },
  {
    name: 'an append resolves with what it wrote and the new tail',
    check: async (log) => {
      const root = await create(log, 'b')
      const line = said(root.id, 1, 'one')
      const { lines, tail } = await append(log, root.id, root.id, line)
      deepStrictEqual(idsOf(lines), [line.id])
      strictEqual(tail, line.id)
    },
  },
  {
    name: 'an append at another tail than the last event is refused with the last event, and writes nothing',
    check: async (log) => {
      const root = await create(log, 'c')
      const first = said(root.id, 1, 'one')
      await append(log, root.id, root.id, first)
      const refused = await log.append(root.id, root.id, [said(root.id, 2, 'late')])()
      if (E.isRight(refused)) return fail('a stale append was taken')
      strictEqual(refused.left.tag, 'StaleTail')
      strictEqual((refused.left as StaleTail).actual, first.id)
      deepStrictEqual(idsOf(await all(log.readForward(root.id))), [root.id, first.id])
    },
  },
  {
    name: 'of many appends at one tail exactly one is taken',
    check: async (log) => {
      const root = await create(log, 'd')
      const racing = Array.from({ length: 16 }, (_, i) => said(root.id, i + 1, `writer ${i}`))
      const results = await Promise.all(racing.map((line) => log.append(root.id, root.id, [line])()))
      strictEqual(results.filter(E.isRight).length, 1)
      strictEqual((await all(log.readForward(root.id))).length, 2)
    },
  },
  {
    name: 'an append of nothing proves the tail',
    check: async (log) => {
      const root = await create(log, 'e')
      strictEqual((await append(log, root.id, root.id)).tail, root.id)
      strictEqual(E.isLeft(await log.append(root.id, 'f'.repeat(32), [])()), true)
    },
  },
  {
    name: 'a session is made once, whole, and is listed',
    check: async (log) => {
      const root = await create(log, 'f')
      const again = await log.create([root])()
      strictEqual(E.isLeft(again) && again.left instanceof StaleTail, true)
      deepStrictEqual(log.sessions(), [root.id])
      strictEqual(log.stamp('0'.repeat(32)), null)
    },
  },
  {
    name: 'the stamp changes with every append',
    check: async (log) => {
      const root = await create(log, 'g')
      const before = log.stamp(root.id)
      await append(log, root.id, root.id, said(root.id, 1, 'one'))
      const after = log.stamp(root.id)
      strictEqual(
        before !== null && after !== null && after.bytes > before.bytes && after.identity === before.identity,
        true,
      )
    },
  },
  {
    name: 'reading on from the place of an event gives it and what follows',
    check: async (log) => {
      const root = await create(log, 'h')
      const first = said(root.id, 1, 'one')
      const second = said(first.id, 2, 'two')
      await append(log, root.id, root.id, first, second)
      const place = (await all(log.readForward(root.id)))[1]?.offset ?? fail('an event is missing')
      deepStrictEqual(idsOf(await all(log.readForward(root.id, { from: place }))), [first.id, second.id])
    },
  },
  {
    name: 'a watch gives what comes after an event, in order, and ends when told to',
    check: async (log) => {
      const root = await create(log, 'i')
      const stop = new AbortController()
      const first = said(root.id, 1, 'one')
      const second = said(first.id, 2, 'two')
      await append(log, root.id, root.id, first)
      const seen: string[] = []
      const watching = (async () => {
        for await (const batch of log.watch(root.id, { after: root.id, signal: stop.signal })) {
          seen.push(...idsOf(batch))
          if (seen.length >= 2) stop.abort()
        }
      })()
      await append(log, root.id, first.id, second)
      await watching
      deepStrictEqual(seen, [first.id, second.id])
    },
  },
  {
    name: 'a blob comes back as it was put, is stored once, and one that is not there is NotFound',
    check: async (log) => {
      const root = await create(log, 'j')
      const bytes = Buffer.from('a large value')
      const ref = (name: string): BlobRef => ({ $blob: name, bytes: bytes.length, as: 'text' })
      const blobs = new Map([[sha256(bytes), bytes]])
      right(await log.blobs.put(root.id, blobs)())
      right(await log.blobs.put(root.id, blobs)())
      strictEqual((await log.blobs.get(root.id, ref(sha256(bytes)))).toString(), 'a large value')
      deepStrictEqual(log.blobs.list(root.id), [sha256(bytes)])
      const missing = await log.blobs.get(root.id, ref(sha256('nothing'))).catch((error: unknown) => error)
      strictEqual(missing instanceof NotFound, true)
    },
  },
]
