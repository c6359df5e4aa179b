import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Projection } from '../../src/projections/projection.js'
import { fold } from '../../src/projections/replay.js'
import { hostileEventsArbitrary, logArbitrary, runs } from '../property/arbitraries.js'
import { blocksOf, read, root } from './pages.js'

const folder = mkdtempSync(join(tmpdir(), 'coppice-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The module of a block that begins with its path, imports resolved as if it stood there. */
const moduleOf = async (path: string): Promise<Record<string, unknown>> => {
  const block = blocksOf(read('CONTRIBUTING.md')).find(({ text }) => text.startsWith(`// ${path}\n`))
  if (block === undefined) throw new Error(`CONTRIBUTING has no ${path}`)
  const base = join(root, path, '..')
  const text = block.text.replace(
    /from '(\.[^']*)\.js'/g,
    (_, from: string) => `from '${join(base, from)}.ts'`,
  )
  const file = join(folder, path.replace(/\W/g, '-').replace(/-ts$/, '.ts'))
  writeFileSync(file, text)
  return import(file) as Promise<Record<string, unknown>>
}

type Ratings = Projection<unknown, { readonly up: number; readonly down: number }>

/** A rating of every third event that is no note, twice over. */
const rated = (events: readonly Event[]): readonly Event[] =>
  events.flatMap((event, i) => {
    if (event.note === true || i % 3 !== 0) return [event]
    const { at } = event
    const note = (n: number, score: number): Event => ({
      id: `${i}-${n}`,
      parent: event.id,
      at,
      type: 'rating',
      note: true,
      score,
    })
    return [event, note(1, 1), note(2, -1)]
  })

describe("CONTRIBUTING's worked example", () => {
  it('is a projection that keeps the law it is given there', async () => {
    const { ratings } = (await moduleOf('src/projections/ratings.ts')) as { ratings: Ratings }
    fc.assert(
      fc.property(logArbitrary(), (log) => {
        const events = rated(log)
        const targets = new Set(events.filter(({ type }) => type === 'rating').map(({ parent }) => parent))
        expect(ratings.view(fold(ratings, events))).toEqual({ up: 0, down: targets.size })
      }),
      runs(50),
    )
  })

  it('survives events of any shape, as every projection must', async () => {
    const { ratings } = (await moduleOf('src/projections/ratings.ts')) as { ratings: Ratings }
    fc.assert(
      fc.property(hostileEventsArbitrary(), (events) => {
        const { up, down } = ratings.view(fold(ratings, events))
        expect(up + down).toBeGreaterThanOrEqual(0)
      }),
      runs(50),
    )
  })

  it('is a command that loads', async () => {
    const { run } = await moduleOf('src/cli/commands/rate.ts')
    expect(run).toBeTypeOf('function')
  })
})
