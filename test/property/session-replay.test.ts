import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { treeOf } from '../../src/events/tree.js'
import { context } from '../../src/projections/context.js'
import { Live } from '../../src/projections/live.js'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { branchEvents, fold, replay } from '../../src/projections/replay.js'
import { rowOf } from '../../src/projections/row.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { toOpenAI } from '../../src/projections/shapes.js'
import type { Session, Store } from '../../src/session/api.js'
import type { LiveSession } from '../../src/session/session.js'
import { savedFoldOf } from '../../src/session/store/index-file.js'
import { playStep, type SessionStep, sessionSteps } from '../../src/testing/session-steps.js'
import { indexOf, memoryStore, newSession } from '../session/stores.js'
import { MemoryFs } from '../support/memory-fs.js'
import { runs } from './arbitraries.js'

/** Plays steps on some sessions of one store. */
const played = async (
  steps: readonly SessionStep[],
  count: number,
): Promise<{ readonly fs: MemoryFs; readonly store: Store; readonly sessions: readonly Session[] }> => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const sessions: Session[] = []
  for (let i = 0; i < count; i++) sessions.push(await newSession(store, { system: 'be brief' }))
  for (const step of steps) {
    const session = sessions[step.session] as Session
    if (step.kind === 'reopen') {
      session.close()
      sessions[step.session] = await store.open(session.id)
    } else {
      await playStep(session, await eventsOf(store, session), step)
    }
  }
  return { fs, store, sessions }
}

const eventsOf = async (store: Store, { id }: Session): Promise<readonly Event[]> =>
  (await store.reader(id)).events()

const stateOf = (session: Session) => (session as LiveSession).open.state.index

/** What JSON makes of a state: what a saved fold is. */
const plain = <T>(state: T): T => JSON.parse(JSON.stringify(state)) as T

const check = async (
  steps: readonly SessionStep[],
  law: (world: Awaited<ReturnType<typeof played>>, session: Session, events: readonly Event[]) => unknown,
): Promise<void> => {
  const world = await played(steps, 2)
  for (const session of world.sessions) await law(world, session, await eventsOf(world.store, session))
}

describe('INV-3: over arbitrary commands on several sessions', () => {
  it('the state of the open session is what a replay of its log gives, and in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(sessionSteps(2), fc.array(fc.nat(9)), (steps, sizes) =>
        check(steps, (_, session, events) => {
          const replayed = fold(sessionIndex, events)
          deepStrictEqual(stateOf(session), replayed)
          let state = sessionIndex.initial
          let rest = events
          for (const size of [...sizes, events.length]) {
            state = fold(sessionIndex, rest.slice(0, size), state)
            rest = rest.slice(size)
          }
          deepStrictEqual(state, replayed)
        }),
      ),
      runs(30),
    )
  })

  it('what metadata.jsonl holds, and the rest of the log folded on, is the fold of all', async () => {
    await fc.assert(
      fc.asyncProperty(sessionSteps(2), (steps) =>
        check(steps, async ({ fs, store }, session, events) => {
          const saved = savedFoldOf(fs, indexOf(fs), session.id)
          if (saved === undefined) throw new Error('no row was saved')
          const cut = events.findIndex(({ id }) => id === saved.state.tail) + 1
          deepStrictEqual(saved.state, plain(fold(sessionIndex, events.slice(0, cut))))
          session.close()
          const after = savedFoldOf(fs, indexOf(fs), session.id)?.state
          deepStrictEqual(after, fold(sessionIndex, events.slice(cut), saved.state))
          deepStrictEqual(after, plain(fold(sessionIndex, events)))
          deepStrictEqual(await (await store.reader(session.id)).savedAgrees(), true)
        }),
      ),
      runs(30),
    )
  })

  it('every projection kept live over the log is what a replay gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        sessionSteps(1, 25),
        fc.constantFrom(...(Object.keys(projections) as ProjectionName[])),
        (steps, name) =>
          check(steps, (_, __, events) => {
            const projection = projectionNamed(name)
            const log: Event[] = []
            const live = new Live(projection, (leaf) => {
              const tree = treeOf(log)
              return tree === null ? [] : branchEvents(log, tree, leaf)
            })
            for (const event of events) {
              log.push(event)
              live.apply(event)
            }
            deepStrictEqual(live.state, replay(projection, events))
          }),
      ),
      runs(30),
    )
  })

  it('the row in every head event is what a fold of the path to it gives', async () => {
    await fc.assert(
      fc.asyncProperty(sessionSteps(1, 50), (steps) =>
        check(steps, (_, __, events) => {
          const tree = treeOf(events)
          for (const { type, to, row } of events)
            if (type === 'head' && tree !== null)
              deepStrictEqual(row, plain(rowOf(branchEvents(events, tree, to as string))))
        }),
      ),
      runs(60),
    )
  })

  it('the context read back to the last compaction is the context of the whole path, at every node', async () => {
    await fc.assert(
      fc.asyncProperty(sessionSteps(1), (steps) =>
        check(steps, async ({ store }, session, events) => {
          const reader = await store.reader(session.id)
          const tree = treeOf(events)
          for (const { id, note } of events.slice(-12)) {
            if (note === true || tree === null) continue
            const whole = context.view(fold(context, branchEvents(events, tree, id)))
            deepStrictEqual(await reader.context({ at: id }), toOpenAI(await reader.resolved(whole)))
          }
        }),
      ),
      runs(30),
    )
  })

  it('one writer alone leaves a log that verifies, and no divergence (INV-7: no false alarm)', async () => {
    await fc.assert(
      fc.asyncProperty(sessionSteps(2), (steps) =>
        check(steps, async ({ store }, session) => {
          const { problems, diverged } = await store.verify([session.id])
          deepStrictEqual({ problems, diverged }, { problems: [], diverged: [] })
        }),
      ),
      runs(30),
    )
  })
})
