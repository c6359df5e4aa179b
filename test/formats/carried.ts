import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import type { Event } from '../../src/events/event.js'
import type { Format } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { originIn } from '../../src/formats/write/own.js'
import type { Outgoing, Writer } from '../../src/formats/writer.js'
import { problemsOf } from './check-items.js'
import { contextOf, leavesOf, put, readAll, sessionsIn } from './round-trip.js'
import { toldOf } from './told.js'

/** Formats that can be written, for `describe.each`. */
export const writers = formats.flatMap((format) =>
  format.writer === undefined ? [] : [[format.name, format, format.writer] as const],
)

/** A branch may end where another goes on: what it said more than that may be nothing that the format writes. */
const nodesOf = ({ events }: Outgoing): readonly string[] =>
  events.filter(({ note }) => note !== true).map(({ id }) => id)

let folder: string | null = null
let made = 0
afterAll(() => {
  if (folder !== null) rmSync(folder, { recursive: true })
})
/** A folder that is not there yet, and goes with the rest after the tests. */
export const freshFolder = (): string => {
  folder ??= mkdtempSync(join(tmpdir(), 'coppice-carried-'))
  return join(folder, String(made++))
}

/** Writes a session, reads it again, and compares what is told at the head and at every end of a branch. */
export const checkCarried = async (session: Outgoing, format: Format, writer: Writer): Promise<void> => {
  const folder = freshFolder()
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
