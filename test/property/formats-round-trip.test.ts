import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Format } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { originIn } from '../../src/formats/write/own.js'
import type { Outgoing, Writer } from '../../src/formats/writer.js'
import { itemsOf, problemsOf } from '../formats/check-items.js'
import { sourcesOf } from '../formats/corpus-sources.js'
import { contextOf, leavesOf, put, readAll, sessionsIn } from '../formats/round-trip.js'
import { toldOf } from '../formats/told.js'
import { happenings, outgoingStory } from './conversations.js'

/** Any session, through each writer and back: the same is told, but for what is said to be lost. */

const runs = Number(process.env.FC_RUNS ?? 1) * 25
const root = mkdtempSync(join(tmpdir(), 'coppice-carried-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const writers = formats.flatMap((format) =>
  format.writer === undefined ? [] : [[format.name, format, format.writer] as const],
)

/** A branch may end where another goes on: what it said more than that may be nothing that the format writes. */
const nodesOf = ({ events }: Outgoing): readonly string[] =>
  events.filter(({ note }) => note !== true).map(({ id }) => id)

/** Writes a session, reads it again, and compares what is told at the head and at every end of a branch. */
const checkCarried = async (session: Outgoing, format: Format, writer: Writer): Promise<void> => {
  const folder = join(root, String(made++))
  const written = await writer.write(session)
  await put(written, folder)
  const losses = new Set(written.losses().map(({ kind }) => kind))
  const items = await readAll(format, folder)
  rmSync(folder, { recursive: true, force: true })
  expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
  expect(problemsOf(items)).toEqual([])
  const again = sessionsIn(format, items)
  const named = again.find(({ events }) => originIn(events[0] as Event, format.name)?.id === written.session)
  // A sub-agent's session that nobody went on with is found below its parent's name.
  const main = named ?? (again.length === 1 ? again[0] : undefined)
  const wanted = toldOf(contextOf(session), losses)
  if (wanted.length > 0 || main !== undefined)
    expect(main && toldOf(contextOf(main), losses), [...losses].join(', ')).toEqual(wanted)
  if (losses.has('branches')) return
  const all = again.flatMap((one) => nodesOf(one).map((node) => toldOf(contextOf(one, node), losses)))
  for (const leaf of leavesOf(session)) {
    const told = toldOf(contextOf(session, leaf), losses)
    if (told.length > 0) expect(all, [...losses].join(', ')).toContainEqual(told)
  }
}

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
        const [first, second] = await Promise.all(
          ['a', 'b'].map(async (name) => put(await writer.write(session), join(root, `${made++}${name}`))),
        )
        expect(second).toEqual(first)
      }),
      { numRuns: Math.ceil(runs / 10) },
    )
  })
})
