import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Format } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { originIn } from '../../src/formats/write/own.js'
import type { Outgoing } from '../../src/formats/writer.js'
import { canonical } from './canonical.js'
import { itemsOf } from './check-items.js'
import { sourcesOf } from './corpus-sources.js'
import { contextOf, leavesOf, put, readAll, sessionsIn } from './round-trip.js'
import { type Told, toldOf } from './told.js'

/** Read in one format, written in another, and read again: the same is told, but for what is said to be lost. */

const root = mkdtempSync(join(tmpdir(), 'coppice-cross-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const writers = formats.filter(({ writer }) => writer !== undefined)
/** Every source in the long run, else a part of them that is always the same. */
const every = Number(process.env.FC_RUNS ?? 1) > 1 ? 1 : 6
const sources = await sourcesOf(formats)
const cases = sources
  .flatMap(({ format, source }, i) => writers.map((target, j) => ({ format, source, target, turn: i + j })))
  .filter(({ turn }) => turn % every === 0)
  .map(
    ({ format, source, target }) =>
      [format.name, basename(source), target.name, format, source, target] as const,
  )

/** Equal for equal lists: members in one order. */
const textOf = (told: readonly Told[]): string => told.map(canonical).join('\n')

/** A session and those that it started. */
const family = (session: Outgoing): readonly Outgoing[] => [session, ...session.children.flatMap(family)]

const carry = async (session: Outgoing, target: Format) => {
  const folder = join(root, String(made++))
  const written = await target.writer?.write(session)
  if (written === undefined) throw new Error('no writer')
  await put(written, folder)
  const items = await readAll(target, folder)
  return { written, items, losses: new Set(written.losses().map(({ kind }) => kind)) }
}

describe.skipIf(cases.length === 0)('a session that is carried from one format to another', () => {
  it.each(cases)('%s %s → %s', async (_from, _file, _to, format, source, target) => {
    for (const session of sessionsIn(format, await itemsOf(format, source))) {
      const { written, items, losses } = await carry(session, target)
      expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
      const again = sessionsIn(target, items).flatMap(family)
      const named = again.find(
        ({ events }) => originIn(events[0] as Event, target.name)?.id === written.session,
      )
      // A sub-agent's session that is carried alone is found below its parent's name.
      const main = named ?? (again.length === 1 ? again[0] : undefined)
      const wanted = toldOf(contextOf(session), losses)
      // Where nothing is told there may be nothing to write.
      if (wanted.length > 0 || main !== undefined)
        expect(main && toldOf(contextOf(main), losses), [...losses].join(', ')).toEqual(wanted)
      if (losses.has('branches')) continue
      const all = new Set(
        again.flatMap((one) => leavesOf(one).map((leaf) => textOf(toldOf(contextOf(one, leaf), losses)))),
      )
      const sessions = losses.has('sub-agents') ? [session] : family(session)
      for (const one of sessions)
        for (const leaf of leavesOf(one)) {
          const told = toldOf(contextOf(one, leaf), losses)
          if (told.length > 0) expect(all, [...losses].join(', ')).toContain(textOf(told))
        }
    }
  })
})
