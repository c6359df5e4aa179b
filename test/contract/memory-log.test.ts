import { describe, test } from 'vitest'
import { eventLogFaultLaws, eventLogLaws, type Failing, memoryLog } from '../../src/testing.js'

describe('the log in memory keeps every law of an event log', () => {
  for (const { name, check } of eventLogLaws) test(name, () => check(memoryLog()))
})

/** `stored`: how many lines of an append are there before it fails. */
const failing = (stored: number): Failing => {
  let isFailing = false
  const log = memoryLog({ fault: () => (isFailing ? stored : undefined) })
  const set = (to: boolean) => () => {
    isFailing = to
  }
  return { log, fail: set(true), heal: set(false), reopen: () => log }
}

describe.each([0, 1, 2])(
  'the log in memory, failing after %i events, keeps every law of faults',
  (stored) => {
    for (const { name, check } of eventLogFaultLaws) test(name, () => check(failing(stored)))
  },
)
