import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { formats } from '../../src/formats/registry.js'
import { originIn } from '../../src/formats/write/own.js'
import { problemsOf } from './check-items.js'
import { hostileSessions } from './hostile-sessions.js'
import { contextOf, leavesOf, put, readAll, sessionsIn } from './round-trip.js'
import { strictly } from './strict.js'
import { toldOf } from './told.js'

/** What no agent expects, written for each: its own program would take the files, and nothing is lost unsaid. */

const root = mkdtempSync(join(tmpdir(), 'coppice-strict-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

const writers = formats.flatMap((format) =>
  format.writer === undefined ? [] : [[format.name, format, format.writer] as const],
)

describe.each(writers)('written for %s', (name, format, writer) => {
  it.each(hostileSessions)('%s', async (_kind, session) => {
    const folder = join(root, String(made++))
    const written = await writer.write(session)
    const files = await put(written, folder)
    expect(strictly[name]?.(files)).toEqual([])
    const losses = new Set(written.losses().map(({ kind }) => kind))
    const items = await readAll(format, folder)
    expect(items.filter(({ kind }) => kind === 'failed')).toEqual([])
    expect(problemsOf(items)).toEqual([])
    const again = sessionsIn(format, items)
    const main = again.find(({ events }) => originIn(events[0] as Event, name)?.id === written.session)
    const wanted = toldOf(contextOf(session), losses)
    expect(main === undefined ? [] : toldOf(contextOf(main), losses), [...losses].join(', ')).toEqual(wanted)
    const all = again.flatMap((one) =>
      one.events.filter(({ note }) => note !== true).map(({ id }) => toldOf(contextOf(one, id), losses)),
    )
    for (const leaf of leavesOf(session)) {
      const told = toldOf(contextOf(session, leaf), losses)
      if (told.length > 0) expect(all, [...losses].join(', ')).toContainEqual(told)
    }
  })
})
