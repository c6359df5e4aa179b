import { describe, expect, it } from 'vitest'
import type { Format } from '../../src/formats/format.js'
import type { Outgoing } from '../../src/formats/writer.js'
import { type Happening, outgoingStory } from '../property/conversations.js'
import { checkCarried, writers } from './carried.js'
import { itemsOf } from './check-items.js'
import { sourcesOf } from './corpus-sources.js'
import { sessionsIn } from './round-trip.js'

/** Sessions that came from a format, gone on with here from every place in them, and written for that format again. */

const answers = (content: string, more: object = {}): Happening => ({
  does: 'answers',
  content,
  calls: [],
  reasoning: undefined,
  refusal: undefined,
  model: undefined,
  provider: undefined,
  stop: undefined,
  usage: undefined,
  context: undefined,
  grouped: false,
  ...more,
})
const prompts: Happening = { does: 'prompts', content: 'and now?', visible: undefined, aside: undefined }
const silent: Happening = { does: 'own', content: null }
const result = (of: number): Happening => ({ does: 'results', of, content: 'another result', ok: true })

/** The longest one and some of its places; all of all where runs are long. */
const isLong = Number(process.env.FC_RUNS ?? 1) > 1
const most = isLong ? { samples: 100, places: 1000 } : { samples: 1, places: 16 }

const samplesOf = async (format: Format): Promise<readonly Outgoing[]> => {
  const sources = await sourcesOf([format], 'own')
  const read = await Promise.all(sources.map(({ source }) => itemsOf(format, source)))
  const whole = read.filter((items) => items.every(({ kind }) => kind !== 'failed'))
  return whole
    .flatMap((items) => sessionsIn(format, items))
    .filter(({ events }) => events.length < 60)
    .sort((a, b) => b.events.length - a.events.length)
    .slice(0, most.samples)
}

const placesIn = ({ events }: Outgoing): readonly number[] => {
  const { length } = events.filter(({ note, type }) => note !== true && type !== 'head')
  const step = Math.max(1, length / most.places)
  return Array.from({ length: Math.min(length, most.places) }, (_, i) => Math.floor(i * step))
}

describe.each(writers)('a session that came from %s', (_name, format, writer) => {
  const check = async (story: (place: number) => readonly Happening[]): Promise<void> => {
    const samples = await samplesOf(format)
    expect(samples.length).toBeGreaterThan(0)
    for (const sample of samples)
      for (const place of placesIn(sample))
        await checkCarried(outgoingStory(format.name, story(place), sample), format, writer)
  }

  it('stands where the head was moved to, between the calls of one message too', async () => {
    await check((to) => [{ does: 'moves', to }, silent])
  })

  it('goes on from there', async () => {
    await check((to) => [{ does: 'moves', to }, prompts])
  })

  it('tells another result of a call on the branch that it was given on, and on no other', async () => {
    await check((to) => [result(to + 1), prompts, { does: 'moves', to }, answers('')])
  })

  it('tells two answers with nothing between them, though what stood there said nothing', async () => {
    await check((to) => [
      { does: 'moves', to },
      answers('first'),
      { does: 'own', content: '' },
      answers('then', { reasoning: 'thought' }),
    ])
  })
})
