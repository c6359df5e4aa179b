import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { Tagged } from '../events/errors/index.js'
import type { Line } from '../events/line.js'
import type { EventLog } from '../events/log.js'
import type { FaultLaw } from './law.js'
import { all, append, create, idsOf, said } from './lines.js'

/** An append that is made to fail; gives the lines that it was about. */
const failedAppend = async (log: EventLog, session: string, tail: string): Promise<readonly Line[]> => {
  const first = said(tail, 10, 'lost, or not')
  const lines = [first, said(first.id, 11, 'and this')]
  const result = await log.append(session, tail, lines)()
  if (E.isRight(result)) return fail('the append was taken, and was to fail')
  strictEqual(result.left instanceof Tagged, true)
  return lines
}

/** What must hold where a store can be made to fail (INV-2). */
export const eventLogFaultLaws: readonly FaultLaw[] = [
  {
    name: 'of an append that failed a beginning is there at most, after all that was acknowledged',
    check: async ({ log, fail: begin, heal }) => {
      const root = await create(log, 'k')
      const kept = said(root.id, 1, 'kept')
      await append(log, root.id, root.id, kept)
      begin()
      const lines = await failedAppend(log, root.id, kept.id)
      heal()
      const found = idsOf((await all(log.readForward(root.id))).filter(({ type }) => type !== 'recovered'))
      deepStrictEqual(found.slice(0, 2), [root.id, kept.id])
      deepStrictEqual(found.slice(2), idsOf(lines).slice(0, found.length - 2))
    },
  },
  {
    name: 'after a failure the log goes on from what is there, and what it then acknowledges stays',
    check: async ({ log, fail: begin, heal, reopen }) => {
      const root = await create(log, 'l')
      begin()
      await failedAppend(log, root.id, root.id)
      heal()
      const tail = (await all(log.readForward(root.id))).at(-1)?.id ?? fail('the log lost its root')
      const next = said(tail, 20, 'on')
      const appended = await append(log, root.id, tail, next)
      strictEqual(appended.tail, next.id)
      const seen = idsOf(await all(reopen().readForward(root.id)))
      strictEqual(seen[0], root.id)
      strictEqual(seen.at(-1), next.id)
    },
  },
  {
    name: 'a second failure in a row loses nothing that was acknowledged before the first',
    check: async ({ log, fail: begin, heal, reopen }) => {
      const root = await create(log, 'm')
      const kept = said(root.id, 1, 'kept')
      await append(log, root.id, root.id, kept)
      for (let i = 0; i < 2; i++) {
        begin()
        const tail = (await all(log.readForward(root.id))).at(-1)?.id ?? fail('the log lost its root')
        await failedAppend(log, root.id, tail)
        heal()
      }
      deepStrictEqual(idsOf(await all(reopen().readForward(root.id))).slice(0, 2), [root.id, kept.id])
    },
  },
  {
    name: 'readers find the same from both ends, also after a failure',
    check: async ({ log, fail: begin, heal }) => {
      const root = await create(log, 'n')
      begin()
      await failedAppend(log, root.id, root.id)
      heal()
      const forward = idsOf(await all(log.readForward(root.id)))
      deepStrictEqual(idsOf(await all(log.readBackward(root.id))), forward.toReversed())
    },
  },
]
