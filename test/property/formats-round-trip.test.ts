import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Format } from '../../src/formats/format.js'
import type { Outgoing } from '../../src/formats/writer.js'
import { checkCarried, freshFolder, writers } from '../formats/carried.js'
import { itemsOf } from '../formats/check-items.js'
import { sourcesOf } from '../formats/corpus-sources.js'
import { put, sessionsIn } from '../formats/round-trip.js'
import { happenings, outgoingStory } from './conversations.js'

/** Any session, through each writer and back: the same is told, but for what is said to be lost. */

const runs = Number(process.env.FC_RUNS ?? 1) * 25

/** Sessions of a format, as short as the samples are. */
const samplesOf = async (format: Format): Promise<readonly Outgoing[]> => {
  const sources = await sourcesOf([format], 'own')
  const read = await Promise.all(sources.map(({ source }) => itemsOf(format, source)))
  const whole = read.filter((items) => items.every(({ kind }) => kind !== 'failed'))
  return whole.flatMap((items) => sessionsIn(format, items)).filter(({ events }) => events.length < 200)
}

describe.each(writers)('any session, written for %s', (_name, format, writer) => {
  it('tells the same when it is read again, on every branch', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (story) => {
        await checkCarried(outgoingStory(format.name, story), format, writer)
      }),
      { numRuns: runs },
    )
  })

  it('tells the same where it came from there and was gone on with here', async () => {
    const samples = await samplesOf(format)
    expect(samples.length).toBeGreaterThan(0)
    await fc.assert(
      fc.asyncProperty(fc.nat(samples.length - 1), happenings, async (i, story) => {
        await checkCarried(outgoingStory(format.name, story, samples[i]), format, writer)
      }),
      { numRuns: Math.ceil(runs / 4) },
    )
  })

  it('is the same bytes each time', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (story) => {
        const session = outgoingStory(format.name, story)
        const folder = freshFolder()
        const [first, second] = await Promise.all(
          ['a', 'b'].map(async (name) => put(await writer.write(session), join(folder, name))),
        )
        expect(second).toEqual(first)
      }),
      { numRuns: Math.ceil(runs / 10) },
    )
  })
})
