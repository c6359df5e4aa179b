import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { EventLog } from '../../src/events/log.js'
import { eventLogFaultLaws, eventLogLaws, type Failing, memoryLog } from '../../src/testing.js'

/** A sound log with some of its calls replaced. */
const withCalls = (calls: (log: EventLog) => Partial<EventLog>): EventLog => {
  const log = memoryLog()
  const bound: EventLog = {
    create: log.create,
    append: log.append,
    readForward: (...args) => log.readForward(...args),
    readBackward: (...args) => log.readBackward(...args),
    sessions: () => log.sessions(),
    stamp: (session) => log.stamp(session),
    watch: (...args) => log.watch(...args),
    blobs: log.blobs,
    close: () => log.close(),
  }
  return { ...bound, ...calls(log) }
}

async function* nothing(): AsyncGenerator<never> {}

const broken: Readonly<Record<string, (log: EventLog) => Partial<EventLog>>> = {
  'takes a stale append': (log) => ({
    append: (session, expected, lines, durability) => async () => {
      const first = await log.append(session, expected, lines, durability)()
      if (E.isRight(first) || first.left.tag !== 'StaleTail' || first.left.actual === null) return first
      return log.append(session, first.left.actual, lines, durability)()
    },
  }),
  'stores nothing and says that it did': (log) => ({
    append: (session, _, lines) => async () =>
      E.right({ lines, tail: lines.at(-1)?.id ?? log.sessions()[0] ?? session }),
  }),
  'reads from the end as from the beginning': (log) => ({
    readBackward: (session) => log.readForward(session),
  }),
  'reads all wherever it is to begin': (log) => ({ readForward: (session) => log.readForward(session) }),
  'reads a session that is not there as an empty one': (log) => ({
    readForward: (session, options) =>
      log.stamp(session) === null ? nothing() : log.readForward(session, options),
  }),
  'lists nothing': () => ({ sessions: () => [] }),
  'has one stamp for all': () => ({ stamp: () => ({ bytes: 1, identity: 'one', modified: 1 }) }),
  'watches only what was there': (log) => ({
    watch: (session, { after }) => (after === undefined ? nothing() : log.readForward(session)),
  }),
  'forgets blobs': (log) => ({
    blobs: { ...log.blobs, list: () => [], put: () => async () => E.right(undefined) },
  }),
}

const failedIn = async (log: () => EventLog): Promise<number> => {
  const results = await Promise.allSettled(eventLogLaws.map(({ check }) => check(log())))
  return results.filter(({ status }) => status === 'rejected').length
}

describe('the laws of an event log', () => {
  it('all hold for the sound log that the broken ones are made of', async () => {
    expect(await failedIn(() => withCalls(() => ({})))).toBe(0)
  })

  it.each(Object.keys(broken))('tell of a log that %s', async (name) => {
    const calls = broken[name]
    if (calls === undefined) throw new Error(name)
    expect(await failedIn(() => withCalls(calls))).toBeGreaterThan(0)
  })

  it('of faults tell of a log that loses what it acknowledged, and of one that never fails', async () => {
    const losing = (): Failing => {
      let log = memoryLog()
      let isFailing = false
      const fresh = (): EventLog => {
        log = memoryLog()
        return log
      }
      return {
        log: withCalls(() => ({
          create: (...args) => log.create(...args),
          append:
            (...args) =>
            async () =>
              isFailing ? memoryLog({ fault: () => 0 }).append(...args)() : log.append(...args)(),
          readForward: (...args) => log.readForward(...args),
        })),
        fail: () => {
          isFailing = true
        },
        heal: () => {
          isFailing = false
        },
        reopen: fresh,
      }
    }
    const never = (): Failing => {
      const log = memoryLog()
      return { log, fail: () => {}, heal: () => {}, reopen: () => log }
    }
    for (const store of [losing, never]) {
      const results = await Promise.allSettled(eventLogFaultLaws.map(({ check }) => check(store())))
      expect(results.some(({ status }) => status === 'rejected')).toBe(true)
    }
  })
})
