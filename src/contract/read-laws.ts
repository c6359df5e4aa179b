import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict'
import { NotFound } from '../events/errors/index.js'
import type { Law } from './law.js'
import { all, append, create, idsOf, inTime, rootLine, said, sameLines, titled } from './lines.js'

/** What is read and watched. */
export const readLaws: readonly Law[] = [
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
    name: 'each event begins where its offset says, and the next one after it',
    check: async (log) => {
      const root = await create(log, 'h2')
      const first = said(root.id, 1, 'one')
      const appended = await append(log, root.id, root.id, first, said(first.id, 2, '二'))
      const lines = await all(log.readForward(root.id))
      strictEqual(lines[0]?.offset, 0)
      for (const [i, { offset, bytes }] of lines.slice(0, -1).entries())
        strictEqual((lines[i + 1]?.offset ?? 0) > offset + bytes.length - 1, true)
      deepStrictEqual(
        appended.lines.map(({ offset }) => offset),
        lines.slice(1).map(({ offset }) => offset),
      )
    },
  },
  {
    name: 'a reader may stop early, in either direction, and the log goes on',
    check: async (log) => {
      const root = await create(log, 'h3')
      const first = said(root.id, 1, 'one')
      await append(log, root.id, root.id, first)
      for await (const [line] of log.readForward(root.id)) {
        strictEqual(line?.id, root.id)
        break
      }
      for await (const [line] of log.readBackward(root.id)) {
        strictEqual(line?.id, first.id)
        break
      }
      await append(log, root.id, first.id, said(first.id, 2, 'two'))
    },
  },
  {
    name: 'reading a session that is not there rejects with NotFound, from either end',
    check: async (log) => {
      const { id } = rootLine('h4')
      for (const read of [log.readForward(id), log.readBackward(id)]) {
        const error = await all(read).catch((reason: unknown) => reason)
        strictEqual(error instanceof NotFound, true)
      }
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
      await inTime(watching, stop)
      deepStrictEqual(seen, [first.id, second.id])
    },
  },
  {
    name: 'a watch from now on gives only what comes later, and so do two of them',
    check: async (log) => {
      const root = await create(log, 'i2')
      const line = said(root.id, 1, 'one')
      const watches = [1, 2].map(() => {
        const stop = new AbortController()
        const batches = log.watch(root.id, { signal: stop.signal })[Symbol.asyncIterator]()
        return { stop, next: batches.next() }
      })
      // They begin with their first step, and may look for their place first.
      await new Promise((resolve) => setTimeout(resolve, 20))
      await append(log, root.id, root.id, line)
      for (const { stop, next } of watches) {
        const { value } = await inTime(next, stop)
        deepStrictEqual(idsOf(value ?? []), [line.id])
      }
    },
  },
  {
    name: 'a watch that is told to end before it begins gives nothing',
    check: async (log) => {
      const root = await create(log, 'i3')
      const seen = await inTime(all(log.watch(root.id, { after: root.id, signal: AbortSignal.abort() })))
      deepStrictEqual(seen, [])
    },
  },
]
