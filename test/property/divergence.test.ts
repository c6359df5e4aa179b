import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../src/projections/replay.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { tree } from '../../src/projections/tree.js'
import { type Deed, historyArbitrary, runs } from './arbitraries.js'

/**
 * The plain model: from what the writers did, without looking at the fold. Work is diverged when nothing hangs on it,
 * nobody chose to leave it, and the head is elsewhere. A move alone is no work.
 */
const divergedIn = (deeds: readonly Deed[]): readonly string[] =>
  deeds
    .filter(({ event }, n) => {
      const later = deeds.slice(n + 1)
      const isBuiltOn = later.some((deed) => deed.event.parent === event.id)
      const isLeft = later.some((deed) => deed.left && deed.stoodAt === event.id)
      return event.type !== 'head' && !isBuiltOn && !isLeft && later.length > 0
    })
    .map(({ event }) => event.id)

describe('INV-7: divergence is visible', () => {
  it('two writers: no false alarm, none missed, after every event', () => {
    fc.assert(
      fc.property(historyArbitrary(60), ({ events, deeds }) => {
        let done = 0
        let state = sessionIndex.initial
        for (const event of events) {
          state = sessionIndex.apply(state, event)
          if (deeds[done]?.event === event) done++
          const shown = sessionIndex.view(state).diverged.map(({ leaf }) => leaf)
          expect([...shown].sort()).toEqual([...divergedIn(deeds.slice(0, done))].sort())
        }
      }),
      runs(300),
    )
  })

  it('the tree marks the same ends as the index does', () => {
    fc.assert(
      fc.property(historyArbitrary(60), ({ events }) => {
        const marked = tree
          .view(fold(tree, events))
          .branches.filter(({ diverged }) => diverged)
          .map(({ leaf }) => leaf)
        const listed = sessionIndex.view(fold(sessionIndex, events)).diverged.map(({ leaf }) => leaf)
        expect([...marked].sort()).toEqual([...listed].sort())
      }),
      runs(200),
    )
  })

  it('the arbitrary does make divergence, and also heals it', () => {
    const counts = fc
      .sample(historyArbitrary(60), { numRuns: 200, seed: 1 })
      .map(({ deeds }) => divergedIn(deeds).length)
    expect(counts.filter((count) => count > 0).length).toBeGreaterThan(20)
    expect(counts.filter((count) => count === 0).length).toBeGreaterThan(20)
  })
})
