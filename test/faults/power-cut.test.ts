import { beforeEach, describe, expect, test } from 'vitest'
import { sleep, Worker } from './child.js'
import { opened } from './engine.js'
import { mustHold } from './laws.js'
import { leftBy, type Place, placeIn, start, type Work } from './left.js'
import { copyOfImage, ext4Image, loopMounted, type Mounted, needsImages } from './machine.js'

beforeEach(needsImages)

const times = Number(process.env.FC_RUNS ?? 1)
const works: readonly Work[] = [
  'append',
  'create',
  'code',
  'archive',
  'redact',
  'import',
  'reindex',
  'append',
]
/** Of an image, in MiB: the copy after a cut is the disk of the next round. */
const size = 24

const total = { cuts: 0, acked: 0, lostWithoutSync: 0 }

/** The disk as it stood when the power went: what was never synced is not in it. The worker is gone then, too. */
const cut = async (
  image: string,
  disk: Mounted,
  worker: Worker,
): Promise<{ readonly image: string; readonly disk: Mounted }> => {
  worker.child.kill('SIGSTOP')
  const copy = copyOfImage(image)
  await worker.end()
  disk.unmount()
  total.cuts++
  // In the same place: sessions name their workspace by its path.
  return { image: copy, disk: loopMounted(copy, disk.path) }
}

/** The same place where its disk is mounted now. */
const at = (disk: Mounted, place: Place): Place => ({ ...place, ...pathsOn(disk) })
const pathsOn = ({ path }: Mounted) => ({ store: `${path}/store`, workspace: `${path}/workspace` })

describe('a power cut', () => {
  test.each(works.map((work, i) => ({ work, i })))(
    'at any moment of $work leaves all that was acknowledged, and a store that goes on (INV-2), $i',
    async ({ work, i }) => {
      let image = ext4Image(size)
      let disk = loopMounted(image)
      const place = await placeIn(disk.path)
      for (let round = 1; round <= 2 * times; round++) {
        const worker = start(at(disk, place), work)
        await worker.begin()
        await worker.when(({ acked, place: moved, records }) => (acked ?? moved ?? records) !== undefined)
        await sleep((i * 53 + round * 71) % 170)
        ;({ image, disk } = await cut(image, disk, worker))
        for (const { session, acked = [] } of worker.said)
          if (session !== undefined) place.acked.add(session, acked)
        const there = at(disk, place)
        await leftBy[work]?.(there, worker.said)
        await mustHold(there.store, place.acked, { where: `${work}, cut ${round}` })
      }
      total.acked += place.acked.count
      disk.unmount()
    },
    times * 60_000,
  )

  test('takes from one who does not sync what was acknowledged: these cuts are cuts', async () => {
    const image = ext4Image(size)
    const live = loopMounted(image)
    const place = await placeIn(live.path)
    const worker = new Worker([place.store, place.workspace, 'unsynced', place.session])
    await worker.begin()
    await sleep(200)
    const { disk } = await cut(image, live, worker)
    const acked = worker.said.flatMap((said) => said.acked ?? [])
    const store = await opened(pathsOn(disk).store)
    const there = new Set((await (await store.reader(place.session)).events()).map(({ id }) => id))
    store.close()
    disk.unmount()
    total.lostWithoutSync = acked.filter((id) => !there.has(id)).length
    expect(acked.length).toBeGreaterThan(0)
    expect(total.lostWithoutSync).toBeGreaterThan(0)
  })

  test('was made so often', () => {
    console.log(`power cuts: ${JSON.stringify(total)}`)
    expect(total.cuts).toBeGreaterThanOrEqual(works.length * 2)
  })
})
