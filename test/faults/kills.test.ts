import { expect, test } from 'vitest'
import { sleep } from './child.js'
import { mustHold } from './laws.js'
import { leftBy, placeIn, start, type Work } from './left.js'
import { newFolder } from './machine.js'

const times = Number(process.env.FC_RUNS ?? 1)

/** Rounds of each work, 210 in all: a worker is killed in each, at another moment. */
const rounds = {
  append: 80,
  create: 25,
  code: 30,
  archive: 20,
  redact: 20,
  reindex: 15,
  import: 20,
} as const satisfies Record<Work, number>

/** So many rounds in one store: `verify` reads all of it after each. */
const roundsAStore = 10

/** A moment of the work, other in each round, and the same each time: ms after it began. */
const momentOf = (round: number): number => ((round * 37) % 101) * 0.9

const total = { rounds: 0, atWork: 0, acked: 0 }

test.each(Object.keys(rounds) as readonly Work[])(
  'a worker that is killed at any moment of %s leaves all that was acknowledged, and a store that goes on (INV-2)',
  async (work) => {
    let place = await placeIn(newFolder())
    let next = start(place, work)
    for (let round = 1; round <= rounds[work] * times; round++) {
      const worker = next
      const isLast = round % roundsAStore === 0
      const following = isLast ? await placeIn(newFolder()) : place
      await worker.begin()
      await sleep(momentOf(round))
      if (worker.said.every(({ done }) => done !== true)) total.atWork++
      await worker.end()
      expect(worker.child.signalCode, worker.err).toBe('SIGKILL')
      // The next one starts meanwhile, and waits for its word.
      next = start(following, work)
      for (const { session, acked = [] } of worker.said)
        if (session !== undefined) place.acked.add(session, acked)
      await leftBy[work]?.(place, worker.said)
      await mustHold(place.store, place.acked, { where: `${work}, round ${round}`, isThorough: isLast })
      if (isLast) total.acked += place.acked.count
      place = following
      total.rounds++
    }
    await next.end()
    total.acked += place.acked.count
  },
  times * 120_000,
)

test('which were two hundred kills and more', () => {
  console.log(`kills: ${JSON.stringify(total)}`)
  expect(total.rounds).toBeGreaterThanOrEqual(200)
  expect(total.atWork).toBe(total.rounds)
  expect(total.acked).toBeGreaterThan(total.rounds)
})
