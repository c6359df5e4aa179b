import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Damaged } from '../../src/events/errors/index.js'
import type { Event, EventId } from '../../src/events/event.js'
import { encodeLine, type Line } from '../../src/events/line.js'
import { walkBack } from '../../src/events/walk.js'
import { fsWith, root as rootOf } from '../support/cuts.js'
import { bytesOf, logOn } from '../support/logs.js'
import { historyArbitrary, runs } from './arbitraries.js'

/** The lines of made-up events, under the root that the log in memory has, each id anew. */
const linesOf = (events: readonly Event[]): readonly Line[] => {
  const ids = new Map<EventId, EventId>()
  return events.map((event) => {
    const { id, parent, at, type, note, ...payload } = event
    const line =
      parent === null
        ? rootOf
        : encodeLine({ parent: ids.get(parent) ?? '', at, type, note: note === true }, payload)
    ids.set(id, line.id)
    return line
  })
}

const pathOf = (lines: readonly Line[], leaf: EventId): readonly Line[] => {
  const byId = new Map(lines.map((line) => [line.id, line]))
  const path: Line[] = []
  for (let at = byId.get(leaf); at !== undefined; at = byId.get(at.parent ?? '')) path.push(at)
  return path
}

describe('walking back', () => {
  it('from every node of arbitrary trees gives exactly its path up to the root, with the notes on it in log order', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary(), async ({ events }) => {
        const lines = linesOf(events)
        const log = logOn(fsWith(bytesOf(...lines)))
        const nodes = lines.filter(({ note }) => !note)
        for (const leaf of [...nodes.map(({ id }) => id), null]) {
          const steps: { id: EventId; notes: readonly EventId[] }[] = []
          for await (const { line, notes } of walkBack(log, rootOf.id, leaf))
            steps.push({ id: line.id, notes: notes.map(({ id }) => id) })
          const due = pathOf(lines, leaf ?? (nodes.at(-1) as Line).id).map(({ id }) => ({
            id,
            notes: lines.filter(({ note, parent }) => note && parent === id).map((note) => note.id),
          }))
          deepStrictEqual(steps, due)
        }
      }),
      runs(40),
    )
  })

  it('over a damaged log gives what is sound, and then says where the damage is, or, in salvage, what is left', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary(20), fc.nat(), async ({ events }, pick) => {
        const lines = linesOf(events)
        if (lines.length < 3) return
        const hurt = 1 + (pick % (lines.length - 2))
        const bytes = bytesOf(...lines)
        const offset = bytesOf(...lines.slice(0, hurt)).length
        bytes[offset + 30] = (bytes[offset + 30] as number) ^ 1
        const log = logOn(fsWith(bytes))
        const leaf = (lines.filter(({ note }) => !note).at(-1) as Line).id
        const path = pathOf(lines, leaf).map(({ id }) => id)
        const steps: EventId[] = []
        try {
          for await (const { line } of walkBack(log, rootOf.id, leaf)) steps.push(line.id)
          // Only where nothing that is asked for lies at or above the damage.
          deepStrictEqual(steps, path)
          expect(path).not.toContain(lines[hurt]?.id)
        } catch (error) {
          if (!(error instanceof Damaged)) throw error
          deepStrictEqual(steps, path.slice(0, steps.length))
          expect(error.damage).toMatchObject({ kind: 'undecodable', line: hurt + 1, offset })
        }
        const salvaged: EventId[] = []
        for await (const { line } of walkBack(log, rootOf.id, leaf, { salvage: true })) salvaged.push(line.id)
        const at = path.indexOf(lines[hurt]?.id ?? '')
        deepStrictEqual(salvaged, at < 0 ? path : path.slice(0, at))
      }),
      runs(60),
    )
  })
})
