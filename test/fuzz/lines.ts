import * as E from 'fp-ts/lib/Either.js'
import { Tagged } from '../../src/events/errors/index.js'
import { eventOf } from '../../src/events/event-of.js'
import { repairLog } from '../../src/events/file-log/repair.js'
import { encodeLine, type Line, parseLine, proveLine } from '../../src/events/line.js'
import type { EventLog } from '../../src/events/log.js'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { replay } from '../../src/projections/replay.js'
import { Seeded } from '../sim/random.js'
import { fsWith, path, root } from '../support/cuts.js'
import { bytesOf, chainOn, countingRandom, logOn, noteOn, stillClock, timeAt } from '../support/logs.js'
import { mutated, mutatedBytes, mutatedLines } from './mutations.js'
import { fuzz, type Tally, type Until } from './tally.js'

const projectionNames = Object.keys(projections) as ProjectionName[]

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

/** Lines of every shape that a log of ours may hold, odd payloads among them. */
const sampleLines = (seeded: Seeded): readonly Line[] => {
  const chain = chainOn(root.id, 1, 4, seeded.pick(['hello', 'é\u2028', '\ud800', '"\\']))
  const last = (chain.at(-1) as Line).id
  const odd = JSON.parse(
    mutatedLines(Buffer.from('{"role":"user","content":"x","toolCalls":[{"id":"c"}]}'), seeded).toString() ||
      '{}',
  ) as unknown
  const payload = typeof odd === 'object' && odd !== null && !Array.isArray(odd) ? odd : { odd }
  const type = seeded.pick([
    'message',
    'compaction',
    'head',
    'branch',
    'edit',
    'recovered',
    'checkpoint',
    'future.thing',
  ])
  const note = type === 'recovered'
  return [root, ...chain, noteOn(last, 9), encodeLine({ parent: last, at: timeAt(10), type, note }, payload)]
}

/** One line: never throws; what proves itself encodes to the same id. */
const feedLine = (seeded: Seeded): void => {
  const line = seeded.pick(sampleLines(seeded))
  const bytes = mutatedBytes(line.bytes, seeded)
  const proved = proveLine(bytes, 0)
  if (typeof proved === 'string') return
  must(proved.bytes.equals(bytes), 'a line proves other bytes than its own')
  const event = parseLine(proved)
  if (E.isRight(event)) must(event.right.id === proved.id, 'an event has another id than its line')
  eventOf(proved, root.id)
}

const readAll = async (read: AsyncIterable<readonly Line[]>): Promise<readonly Line[]> => {
  const lines: Line[] = []
  try {
    for await (const batch of read) lines.push(...batch)
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
  }
  return lines
}

const readers = (log: EventLog): readonly AsyncIterable<readonly Line[]>[] => [
  log.readForward(root.id),
  log.readBackward(root.id),
  log.readForward(root.id, { salvage: true }),
  log.readBackward(root.id, { salvage: true }),
  log.readForward(root.id, { closeGaps: true }),
]

/** A whole log: readers give lines or a tagged error, folds take what they give, an append is acked or refused. */
const feedLog = async (seeded: Seeded): Promise<void> => {
  const lines = sampleLines(seeded)
  const bytes = mutated(bytesOf(...lines), seeded)
  const fs = fsWith(bytes)
  const log = logOn(fs)
  let events = [] as readonly Line[]
  for (const read of readers(log)) events = await readAll(read)
  const given = events.map((line) => eventOf(line, root.id))
  for (const name of projectionNames) replay(projectionNamed(name), given)
  const tail = events.at(-1)?.id ?? root.id
  const appended = await log.append(
    root.id,
    tail,
    chainOn(events.findLast(({ note }) => !note)?.id ?? root.id, 50, 1),
  )()
  must(E.isRight(appended) || appended.left instanceof Tagged, 'an append is refused without a tag')
  must(fs.bytesOf(path).subarray(0, bytes.length).equals(bytes), 'an append changed what was there')
  await feedRepair(bytes)
}

/** What repair makes is whole, where it makes anything. */
const feedRepair = async (bytes: Buffer): Promise<void> => {
  const fs = fsWith(bytes)
  try {
    const repaired = await repairLog(path, '/store/archive/old', {
      fs,
      clock: stillClock,
      random: countingRandom(),
    })
    if (repaired === null) return
  } catch (error) {
    if (!(error instanceof Tagged)) throw error
    return
  }
  for await (const _ of logOn(fs).readForward(root.id, {
    report: ({ kind }) => must(false, `repaired, and ${kind}`),
  }));
}

export const fuzzLines = (until: Until): Promise<Tally> => fuzz(until, (seed) => feedLine(new Seeded(seed)))
export const fuzzLogs = (until: Until): Promise<Tally> => fuzz(until, (seed) => feedLog(new Seeded(seed)))
