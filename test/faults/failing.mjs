// @ts-check
/**
 * Runs under shim.c: does one piece of work after the other, and makes each of its calls to the system fail, one at a time
 * and in several ways; then looks at what is left. `failing.mjs FOLDER SHARE OF`: works in FOLDER/live, which the shim
 * knows, and plays every OF-th fault from SHARE on. Prints one JSON of what it did, and which laws did not hold.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { begin, idsOf, open, placesOf, reset, sessionFolder, user, works } from './failing-works.mjs'
import { Control } from './shim.mjs'

const [, of = '1', share = '0', only = ''] = process.argv.slice(2)
/** @typedef {import('./shim.mjs').Kind} Kind */
/** @typedef {import('./failing-works.mjs').Work} Work */
/** @typedef {import('./failing-works.mjs').World} World */

const control = new Control(process.env.FAULT_CONTROL ?? '')

/** Of every store, when nothing fails any more. @param {Map<string, readonly string[]>} acked @param {boolean} isThorough */
const mustHold = async (acked, isThorough) => {
  const store = await open()
  const problems = (await store.verify()).problems.filter(
    ({ kind }) => kind !== 'torn-tail' && kind !== 'redaction-unfinished',
  )
  assert.deepEqual(problems, [])
  const rows = await store.list({ sub: true })
  for (const { session: name } of rows) {
    const session = await store.open(name)
    await session.append(user('still there?'), { notice: false })
    session.close()
    const ids = idsOf(await (await store.reader(name)).events())
    assert.equal(new Set(ids).size, ids.length, 'an event stands twice')
    assert.deepEqual(
      (acked.get(name) ?? []).filter((id) => !ids.includes(id)),
      [],
      'acknowledged and gone',
    )
    acked.delete(name)
  }
  assert.deepEqual([...acked.keys()], [], 'sessions that were acknowledged and are gone')
  if (!isThorough) return store.close()
  assert.deepEqual((await store.verify()).problems, [])
  const withIndex = await store.list({ sub: true })
  rmSync(join(sessionFolder(''), 'metadata.jsonl'), { force: true })
  const again = await open()
  assert.deepEqual(await again.list({ sub: true }), withIndex)
  again.close()
  store.close()
}

/** What a caller can act upon: one of the engine's own errors, that says what, where, and what to do. @param {unknown} error */
const mustBeClear = (error) => {
  if (error === null) return
  const { tag, message } = /** @type {{ tag?: unknown, message?: unknown }} */ (error)
  assert.equal(typeof tag, 'string', `not an error of the engine: ${error}`)
  if (tag !== 'Imported') assert.match(String(message), /^[^\n]+: [^\n]+$/)
}

let played = 0
/** @param {Work} work @param {World} world @param {Kind} kind @param {number} nth @param {number} times */
const play = async ({ before, run, after, isPurged = false }, world, kind, nth, times) => {
  reset()
  await before?.(world)
  /** @type {Map<string, readonly string[]>} */
  const acked = new Map([
    [world.turn, [world.turn]],
    [world.plain, [world.plain, world.secret]],
  ])
  const store = await open()
  /** @type {unknown} */
  let error = null
  control.arm(kind, nth, times)
  try {
    await run(store, world, (session, ids) => acked.set(session, [...(acked.get(session) ?? []), ...ids]))
  } catch (thrown) {
    error = thrown
  }
  const seen = control.disarm()
  const look = async () => {
    store.close()
    const fresh = await open()
    // Whoever opens the session of a restore that was cut off ends it.
    if ((await fresh.list()).some(({ session }) => session === world.turn))
      (await fresh.open(world.turn)).close()
    await after?.({ store: fresh, error, world })
    if (isPurged && (await placesOf(fresh, world.plain)).length === 0) acked.delete(world.plain)
    fresh.close()
    // What takes as long again is looked at now and then.
    await mustHold(acked, ++played % 4 === 0)
  }
  /** @type {string[]} */
  const broken = []
  for (const law of [() => mustBeClear(error), look])
    try {
      await law()
    } catch (thrown) {
      broken.push(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
    }
  return { seen, error, broken }
}

/** @type {readonly (readonly [Kind, number])[]} */
const ways = [
  ['EIO', 1],
  ['EIO', Number.MAX_SAFE_INTEGER],
  ['ENOSPC', 1],
  ['ENOSPC', Number.MAX_SAFE_INTEGER],
  ['EINTR', 1],
  // Node writes on after a short write: only with what follows does anyone see it.
  ['short', 2],
]

process.on('unhandledRejection', (error) => {
  console.log(JSON.stringify({ unhandled: String(/** @type {Error} */ (error)?.stack ?? error) }))
  process.exit(1)
})

const world = await begin()
/** @type {Record<string, { calls: number, faults: number, rejected: number }>} */
const totals = {}
/** @type {unknown[]} */
const problems = []
for (const [name, work] of Object.entries(works)) {
  if (only !== '' && only !== name) continue
  const all = { calls: 0, faults: 0, rejected: 0 }
  totals[name] = all
  all.calls = (await play(work, world, 'none', 0, 0)).seen.calls
  for (const [way, [kind, times]] of ways.entries()) {
    for (let nth = 1, isOver = false; !isOver; nth++) {
      if ((nth + way) % Number(of) !== Number(share) && nth <= all.calls) continue
      const { seen, error, broken } = await play(work, world, kind, nth, times)
      if (seen.struck > 0) all.faults++
      if (error !== null) all.rejected++
      const how = { work: name, kind, nth, times: times === 1 ? 1 : 'all', call: seen.name, path: seen.path }
      for (const problem of broken) problems.push({ ...how, error: String(error), problem })
      isOver = seen.calls < nth
    }
  }
}
control.close()
console.log(JSON.stringify({ totals, problems }))
