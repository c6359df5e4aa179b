import { expect, it } from 'vitest'
import type { Session, Store } from '../../src/session/api.js'
import type { FaultKind } from '../checkpoints/faults.js'
import { ask, begin, CodePlace, eventsOf } from './code-place.js'
import { assistant, say } from './stores.js'

const oldTree = { a: '755 one', 'd/': '', 'd/kept': '644 mine', gone: '644 back' }
const newTree = { a: '644 two', 'd/': '', 'd/kept': '644 mine', 'd/new': '644 new' }

/** One turn that changed, made and removed a file. */
const turn = async (place: CodePlace, store: Store): Promise<readonly [Session, string]> => {
  place.write('a', 'one', 0o755)
  place.write('gone', 'back')
  place.write('d/kept', 'mine')
  const session = await begin(place, store)
  const prompt = await ask(session)
  await session.beforeEdit(['a', 'gone', 'd/new'])
  place.write('a', 'two', 0o644)
  place.remove('gone')
  place.write('d/new', 'new')
  await session.afterEdit(['a', 'gone', 'd/new'])
  await say(session, assistant('done'))
  return [session, prompt]
}

interface Undone {
  readonly calls: number
  readonly isRejected: boolean
}

/** An undo in which the nth call to either file system fails; afterwards another process opens the session. */
const undoFailingAt = async (at: number, kind: FaultKind): Promise<Undone> => {
  const place = new CodePlace()
  try {
    const store = await place.store()
    const [session, prompt] = await turn(place, store)
    const { id: other } = await begin(place, store)
    place.faults.arm(at, kind)
    const isRejected = await session.undo(prompt).then(
      () => false,
      () => true,
    )
    const { calls } = place.faults
    place.faults.disarm()
    const where = `${kind} at call ${at} (${place.faults.names[at - 1]})`
    if (kind === 'once') {
      // The same object goes on. What is left to clear away is cleared by whatever it does next with files.
      await session.checkpoint()
      await mustBeWhole(place, store, session.id, where, isRejected)
      expect(
        (await session.append({ type: 'message', role: 'assistant', content: 'on' })).length,
      ).toBeGreaterThan(0)
      session.close()
    }
    const next = await place.store()
    // Whoever opens the workspace ends what was cut off, in the log of the session that it belongs to.
    const again = await next.open(kind === 'crash' ? other : session.id)
    await mustBeWhole(place, next, session.id, where, isRejected && kind === 'once')
    const problems = (await next.verify([session.id])).problems.filter(
      ({ kind: name }) => name !== 'torn-tail',
    )
    expect(problems, where).toEqual([])
    again.close()
    const last = await next.open(session.id)
    expect((await say(last, assistant('on'))).id).toBe(last.position)
    last.close()
    return { calls, isRejected }
  } finally {
    place.clear()
  }
}

/** The old tree with the head moved, once, or the new one with no such event. */
const mustBeWhole = async (
  place: CodePlace,
  store: Store,
  session: string,
  where: string,
  isRejected: boolean,
): Promise<void> => {
  const moves = (await eventsOf(store, session)).filter(({ restore }) => restore !== undefined)
  expect(moves.length, where).toBeLessThanOrEqual(1)
  expect(place.tree(), where).toEqual(moves.length === 0 ? newTree : oldTree)
  if (isRejected) expect(moves.length, where).toBe(0)
}

it.each(['once', 'crash'] as const)(
  'an undo of which a call fails (%s) leaves the old or the new state, at once or when the session is opened next',
  async (kind) => {
    const { calls, isRejected } = await undoFailingAt(Number.MAX_SAFE_INTEGER, kind)
    expect(isRejected).toBe(false)
    const step = Number(process.env.FC_RUNS ?? 1) >= 10 ? 1 : 13
    for (let at = kind === 'once' ? 1 : 2; at <= calls; at += step) await undoFailingAt(at, kind)
  },
  600_000,
)
