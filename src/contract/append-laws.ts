import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { StaleTail } from '../events/errors/index.js'
import type { Law } from './law.js'
import { all, append, create, idsOf, rootLine, said, sameLines, titled } from './lines.js'

/** What is appended, and what is refused. */
export const appendLaws: readonly Law[] = [
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
    name: 'an append again, as after an answer that was lost, is refused, and each event is stored once',
    check: async (log) => {
      const root = await create(log, 'e2')
      const line = said(root.id, 1, 'one')
      await append(log, root.id, root.id, line)
      const again = await log.append(root.id, root.id, [line])()
      strictEqual(E.isLeft(again) && again.left instanceof StaleTail && again.left.actual === line.id, true)
      deepStrictEqual(idsOf(await all(log.readForward(root.id))), [root.id, line.id])
    },
  },
  {
    name: 'an event may hang on any earlier one, and the order is that of the appends',
    check: async (log) => {
      const root = await create(log, 'e3')
      const first = said(root.id, 1, 'one')
      const branch = said(root.id, 2, 'another way')
      const note = titled(first.id, 3)
      await append(log, root.id, root.id, first)
      await append(log, root.id, first.id, branch)
      strictEqual((await append(log, root.id, branch.id, note)).tail, note.id)
      deepStrictEqual(idsOf(await all(log.readForward(root.id))), [root.id, first.id, branch.id, note.id])
    },
  },
  {
    name: 'a thousand events of one append come back whole and in order',
    check: async (log) => {
      const root = await create(log, 'e4')
      const lines = [root]
      for (let i = 1; i <= 1000; i++)
        lines.push(said(lines[i - 1]?.id ?? '', i % 900, `message ${i} ${'x'.repeat(500)}`))
      const { tail } = await append(log, root.id, root.id, ...lines.slice(1))
      strictEqual(tail, lines[1000]?.id)
      sameLines(await all(log.readForward(root.id)), lines)
      sameLines(await all(log.readBackward(root.id)), lines.toReversed())
    },
  },
  {
    name: 'an append without a sync is read at once all the same',
    check: async (log) => {
      const root = await create(log, 'e5')
      const line = said(root.id, 1, 'one')
      const appended = await log.append(root.id, root.id, [line], 'none')()
      if (E.isLeft(appended)) return fail(appended.left)
      deepStrictEqual(idsOf(await all(log.readForward(root.id))), [root.id, line.id])
    },
  },
  {
    name: 'an append to a session that is not there is refused, and makes none',
    check: async (log) => {
      const root = rootLine('e6')
      const refused = await log.append(root.id, root.id, [said(root.id, 1, 'one')])()
      strictEqual(E.isLeft(refused), true)
      deepStrictEqual(log.sessions(), [])
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
    name: 'a session that is made again stays as it was',
    check: async (log) => {
      const root = await create(log, 'f2')
      const first = said(root.id, 1, 'one')
      await append(log, root.id, root.id, first)
      const again = await log.create([root, said(root.id, 2, 'two')])()
      strictEqual(E.isLeft(again), true)
      deepStrictEqual(idsOf(await all(log.readForward(root.id))), [root.id, first.id])
    },
  },
  {
    name: 'sessions are apart: events, tails, stamps, blobs',
    check: async (log) => {
      const [a, b] = [await create(log, 'f3'), await create(log, 'f4')]
      const before = log.stamp(b.id)
      const line = said(a.id, 1, 'one')
      await append(log, a.id, a.id, line)
      deepStrictEqual([...log.sessions()].sort(), [a.id, b.id].sort())
      deepStrictEqual(log.stamp(b.id), before)
      deepStrictEqual(idsOf(await all(log.readForward(b.id))), [b.id])
      strictEqual((await append(log, b.id, b.id)).tail, b.id)
      strictEqual(log.stamp(a.id)?.identity === log.stamp(b.id)?.identity, false)
    },
  },
]
