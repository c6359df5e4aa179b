import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { encodeLine, type Line, parseLine, proveLine } from '../../src/events/line.js'
import { recordOf } from '../../src/projections/members.js'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { replay } from '../../src/projections/replay.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { tracesOf } from '../../src/session/redact/copies.js'
import { rewrite, type Standing } from '../../src/session/redact/rewrite.js'
import { hostileEventsArbitrary, logArbitrary, runs } from './arbitraries.js'

const standingOf = (line: Line): Standing => {
  const event = parseLine(line)
  if (E.isLeft(event)) throw new Error(event.left)
  return { line, event: event.right, traces: tracesOf(event.right) }
}

const lineOf = ({ id: _id, parent, at, type, note, ...payload }: Event): Line =>
  encodeLine({ parent, at, type, note: note === true }, payload)

/** A log, and some of its events to redact, the root never. */
const redactions = fc
  .tuple(logArbitrary(), fc.array(fc.nat(), { minLength: 1, maxLength: 5 }))
  .filter(([events]) => events.length > 1)
  .map(([events, picks]) => ({
    events,
    named: new Set(picks.map((pick) => (events[1 + (pick % (events.length - 1))] as Event).id)),
  }))

const rewritten = (events: readonly Event[], named: ReadonlySet<string>) => {
  const standing = events.map((event) => standingOf(lineOf(event)))
  const done = rewrite(standing, named, 'a test', 0)
  return done === null ? null : { ...done, after: done.lines.map((line) => standingOf(line).event) }
}

/** Whose words an event holds: of a `head` event its row's, of a compaction those of what it kept, of an edit its target's. */
const quotes = (event: Event): readonly unknown[] => {
  const row = recordOf(event.row)
  if (event.type === 'head') return [row?.event, row?.textEvent, row?.toolEvent]
  if (event.type === 'edit' && event.replacement !== null) return [event.target]
  return event.type === 'compaction' && Array.isArray(event.keep)
    ? event.keep.map((item) => recordOf(item)?.id)
    : []
}

describe('a redaction', () => {
  it('leaves every line provable, in its place, and says in its notes what it took', () => {
    fc.assert(
      fc.property(redactions, ({ events, named }) => {
        const done = rewritten(events, named)
        if (done === null) return
        for (const { bytes } of done.lines) expect(typeof proveLine(bytes, 0)).toBe('object')
        expect(done.after.slice(0, events.length).map(({ id }) => id)).toEqual(events.map(({ id }) => id))
        const gone = done.after.filter(({ redacted }) => redacted === true).map(({ id }) => id)
        expect(gone).toEqual(done.redacted)
        expect(done.after.slice(events.length).flatMap(({ ids }) => ids)).toEqual(gone)
        for (const id of named)
          if (!gone.includes(id))
            expect(events.find((event) => event.id === id)?.type).toMatch(/^(recovered|redaction|repaired)$/)
      }),
      runs(150),
    )
  })

  it('leaves no event that quotes one that was redacted', () => {
    fc.assert(
      fc.property(redactions, ({ events, named }) => {
        const done = rewritten(events, named)
        const gone = new Set<unknown>(done?.redacted)
        const left = done?.after.filter(
          (event) => event.redacted !== true && quotes(event).some((id) => gone.has(id)),
        )
        expect(left ?? []).toEqual([])
      }),
      runs(150),
    )
  })

  it('changes no head, no open end, no branch, and no count of tokens', () => {
    fc.assert(
      fc.property(redactions, ({ events, named }) => {
        const done = rewritten(events, named)
        if (done === null) return
        const [before, after] = [events, done.after].map((log) =>
          sessionIndex.view(replay(sessionIndex, log)),
        )
        expect(after?.head).toBe(before?.head)
        expect(after?.diverged).toEqual(before?.diverged)
        expect(after?.branches).toBe(before?.branches)
        expect(after?.usage).toEqual(before?.usage)
        expect(after?.updatedAt).toBe(before?.updatedAt)
      }),
      runs(150),
    )
  })

  it('twice is the same as once', () => {
    fc.assert(
      fc.property(redactions, ({ events, named }) => {
        const done = rewritten(events, named)
        if (done !== null) expect(rewrite(done.lines.map(standingOf), named, 'again', 0)).toBeNull()
      }),
      runs(100),
    )
  })

  it('is total: whatever an event holds, it can go, and every fold reads what is left', () => {
    fc.assert(
      fc.property(hostileEventsArbitrary(20), fc.nat(), (hostile, pick) => {
        const standing = hostile.flatMap((event) => {
          const { redacted: _redacted, kept: _kept, body: _body, ...rest } = event
          const line = lineOf(rest as Event)
          return E.isRight(parseLine(line)) ? [standingOf(line)] : []
        })
        const id = standing[pick % Math.max(1, standing.length)]?.line.id ?? ''
        const done = rewrite(standing, new Set([id]), 'a test', 0)
        const after = (done?.lines ?? []).map((line) => standingOf(line).event)
        for (const name of Object.keys(projections) as ProjectionName[]) replay(projectionNamed(name), after)
      }),
      runs(100),
    )
  })
})
