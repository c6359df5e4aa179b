import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { branchesOf, treeOf } from '../../src/events/tree.js'
import { Live } from '../../src/projections/live.js'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { branchEvents, fold, replay } from '../../src/projections/replay.js'
import { rowOf } from '../../src/projections/row.js'
import { rowAt, type SessionIndexState, sessionIndex } from '../../src/projections/session-index.js'
import { canonicalJson, stateHash } from '../../src/projections/state-hash.js'
import { historyArbitrary, hostileEventsArbitrary, logArbitrary, runs } from './arbitraries.js'
import { deepFreeze } from './frozen.js'

const names = Object.keys(projections) as ProjectionName[]

const liveOver = (name: ProjectionName, log: Event[]) =>
  new Live(projectionNamed(name), (leaf) => {
    const tree = treeOf(log)
    return tree === null ? [] : branchEvents(log, tree, leaf)
  })

describe('INV-3: replay equals live', () => {
  it.each(names)('%s: replaying any prefix equals the live state after it', (name) => {
    fc.assert(
      fc.property(logArbitrary(30), (events) => {
        const log: Event[] = []
        const live = liveOver(name, log)
        for (const event of events) {
          log.push(event)
          live.apply(event)
          const replayed = replay(projectionNamed(name), log)
          deepStrictEqual(live.state, replayed)
          deepStrictEqual(live.view(), projectionNamed(name).view(replayed))
        }
      }),
      runs(100),
    )
  })

  it.each(names)('%s: a fold in any chunking equals the fold in one go', (name) => {
    fc.assert(
      fc.property(logArbitrary(), fc.array(fc.nat(10)), (events, sizes) => {
        const projection = projectionNamed(name)
        let state = projection.initial
        let rest = events
        for (const size of [...sizes, events.length]) {
          state = fold(projection, rest.slice(0, size), state)
          rest = rest.slice(size)
        }
        deepStrictEqual(state, fold(projection, events))
      }),
      runs(100),
    )
  })

  const savedAndRest = (events: readonly Event[], cut: number): void => {
    const saved = fold(sessionIndex, events.slice(0, cut))
    const read = JSON.parse(JSON.stringify(saved)) as SessionIndexState
    deepStrictEqual(read, saved)
    deepStrictEqual(fold(sessionIndex, events.slice(cut), read), fold(sessionIndex, events))
  }

  it('sessionIndex: a saved fold read back from JSON, plus the rest, equals the fold of all', () => {
    fc.assert(fc.property(logArbitrary(), fc.nat(60), savedAndRest), runs(300))
  })

  it('sessionIndex: the same over events of any shape', () => {
    fc.assert(fc.property(hostileEventsArbitrary(), fc.nat(12), savedAndRest), runs(1000))
  })

  it('sessionIndex: a row that goes through a head event comes out the same', () => {
    fc.assert(
      fc.property(logArbitrary(), (events) => {
        const state = fold(sessionIndex, events)
        const tree = treeOf(events)
        for (const id of Object.keys(state.open))
          deepStrictEqual(rowAt(state, id), tree && rowOf(branchEvents(events, tree, id)))
      }),
      runs(300),
    )
  })

  it('sessionIndex: the row of a head event is the row at the event that it points at', () => {
    fc.assert(
      fc.property(historyArbitrary(), fc.nat(1000), ({ log }, pick) => {
        const nodes = log.events.filter(({ note }) => note !== true)
        const to = nodes[pick % nodes.length]?.id ?? ''
        const before = rowOf(log.path(to))
        const head = log.move('checkout', to)
        deepStrictEqual(rowAt(fold(sessionIndex, log.events), head.id), before)
      }),
      runs(200),
    )
  })

  it('sessionIndex: branches are counted as the tree has them, after every event', () => {
    fc.assert(
      fc.property(logArbitrary(60), (events) => {
        let state = sessionIndex.initial
        events.forEach((event, at) => {
          state = sessionIndex.apply(state, event)
          const tree = treeOf(events.slice(0, at + 1))
          expect(sessionIndex.view(state).branches).toBe(tree === null ? 0 : branchesOf(tree).length)
        })
      }),
      runs(200),
    )
  })
})

describe('folds are pure and total', () => {
  it.each(names)('%s: changes neither its state nor the event', (name) => {
    fc.assert(
      fc.property(fc.oneof(logArbitrary(), hostileEventsArbitrary()), (events) => {
        const projection = projectionNamed(name)
        let state = deepFreeze(projection.initial)
        for (const event of events) state = deepFreeze(projection.apply(state, deepFreeze(event)))
        const before = canonicalJson(projection.view(state))
        expect(canonicalJson(projection.view(state))).toBe(before)
      }),
      runs(100),
    )
  })

  it.each(names)('%s: folds events of any shape, and shows plain JSON', (name) => {
    fc.assert(
      fc.property(hostileEventsArbitrary(), (events) => {
        const projection = projectionNamed(name)
        const shown = projection.view(fold(projection, events))
        expect(stateHash(shown)).toBe(stateHash(JSON.parse(JSON.stringify(shown))))
      }),
      runs(1000),
    )
  })
})
