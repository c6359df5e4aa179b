import { describe, expect, test } from 'vitest'
import { check } from '../sim/check.js'
import type { SimDisk } from '../sim/disk/disk.js'
import { Computer } from '../sim/machine.js'
import { KnownSession } from '../sim/model.js'
import { everyWay } from './choices.js'
import { works } from './orders-works.js'
import { type Call, changesDisk, type Replayed, replayed } from './recording.js'
import { idsWritten, type Recorded, record, type Work, wroteLater } from './world.js'

const times = Number(process.env.FC_RUNS ?? 1)
/** Ways in which one prefix may reach the disk, and different disks of one work, that are looked at. */
const mostWays = 100 * times
const mostDisks = 50 * times

/** What a restart finds of what could be otherwise, so that the same disk is not looked at twice. */
const printOf = ({ disk, open }: Replayed): string =>
  [...disk.files()]
    .map(([path, file]) => {
      const { bytes, size, mode, ino } = file
      return `${path} ${ino} ${open.has(file) ? `${mode} ${bytes.toString('latin1', 0, size)}` : size}`
    })
    .join('\0')

/** What a restart may find, and must be well. */
const look = async (
  disk: SimDisk,
  { left, gone }: Work,
  { world, attempted }: Recorded,
  calls: readonly Call[],
): Promise<void> => {
  const acked = calls.flatMap((call) => (call.is === 'acknowledged' ? [call.what] : []))
  const computer = Object.assign(new Computer(1), { disk })
  wroteLater.length = 0
  await left?.(disk, world, acked)
  for (const id of [...attempted, ...idsWritten(wroteLater.flat())]) computer.attempted.add(id)
  const known = new Map<string, KnownSession>()
  const knownOf = (id: string): KnownSession => {
    const one = known.get(id) ?? new KnownSession(id)
    known.set(id, one)
    return one
  }
  for (const [id, ids] of world.known) knownOf(id).ack(ids, true)
  for (const { session, ids = [] } of acked) knownOf(session).ack(ids, true)
  for (const one of known.values()) one.place = 'unsure'
  const purged = gone?.(world)
  if (purged !== undefined) known.delete(purged)
  await check(computer, known, null)
}

const totals = { calls: 0, ways: 0, disks: 0, whole: 0, prefixes: 0 }

describe('every prefix of the calls, with what was not synced in any order or not at all, leaves a store in which all laws hold', () => {
  test.each(
    Object.keys(works).flatMap((name) => (['loose', 'journal'] as const).map((naming) => ({ name, naming }))),
  )(
    '$name, names reaching the disk $naming',
    async ({ name, naming }) => {
      const work = works[name] as Work
      const recorded = await record(naming, work)
      const { base, calls } = recorded
      const seen = new Set<string>()
      const found: { readonly disk: SimDisk; readonly count: number }[] = []
      for (let count = 0; count <= calls.length; count++) {
        if (count > 0 && !changesDisk(calls[count - 1] as Call)) continue
        const { ran, isAll } = await everyWay(mostWays, count, async (seeded) => {
          const after = replayed(base, calls, count)
          after.disk.cut(seeded)
          const acked = calls.slice(0, count).filter(({ is }) => is === 'acknowledged').length
          const print = `${acked} ${printOf(after)}`
          if (seen.has(print)) return
          seen.add(print)
          found.push({ disk: after.disk, count })
        })
        totals.ways += ran
        totals.prefixes++
        if (isAll) totals.whole++
      }
      totals.calls += calls.length
      // Evenly over all prefixes.
      const share = Math.max(1, found.length / mostDisks)
      for (let i = 0; i < found.length; i += share) {
        const { disk, count } = found[Math.floor(i)] as (typeof found)[number]
        totals.disks++
        await look(disk, work, recorded, calls.slice(0, count)).catch((error: unknown) => {
          throw new Error(
            `after call ${count} of ${calls.length}, ${JSON.stringify(calls[count - 1])?.slice(0, 200)}: ${(error as Error).message}`,
            { cause: error },
          )
        })
      }
    },
    120_000 * times,
  )

  test('which were hundreds of disks, in thousands of ways', () => {
    console.log(`orders: ${JSON.stringify(totals)}`)
    expect(totals.disks).toBeGreaterThan(500)
  })
})
