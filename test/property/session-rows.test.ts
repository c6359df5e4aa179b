import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { type Row, rowOf } from '../../src/projections/row.js'
import { loadRow } from '../../src/session/lookup.js'
import { LogWriter } from '../../src/testing/log-writer.js'
import { historyArbitrary, runs } from './arbitraries.js'

async function* upward(path: readonly Event[]): AsyncGenerator<Event> {
  yield* path.toReversed()
}

const agree = async (path: readonly Event[]): Promise<void> => {
  const row: Row = rowOf(path)
  deepStrictEqual(await loadRow(upward(path), null), row)
  deepStrictEqual(await loadRow(upward(path), row.branch), row)
}

/** Messages of few kinds, so that groups, asides and prompts often meet. */
const talk = fc.array(
  fc.record({
    role: fc.constantFrom('assistant', 'assistant', 'user', 'tool', 'system'),
    text: fc.constantFrom('a', 'b', ''),
    group: fc.constantFrom('g', 'g', undefined),
    aside: fc.constantFrom(true, undefined, undefined),
    visible: fc.constantFrom(false, undefined, undefined),
    usage: fc.constantFrom({ input: 1, output: 2 }, {}, { input: 'x' }, undefined),
    toolCalls: fc.constantFrom([{ id: 'c', name: 'n', arguments: '' }], [{ name: 'no id' }], [], undefined),
  }),
  { maxLength: 10 },
)

describe('the row at an event, read from there up only as far as it must', () => {
  it('is what a fold of the whole path gives, at every node of arbitrary logs', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary(), async ({ log }) => {
        for (const { id, note } of log.events) if (note !== true) await agree(log.path(id))
      }),
      runs(100),
    )
  })

  it('is so wherever groups, asides, hidden messages and malformed members meet', async () => {
    await fc.assert(
      fc.asyncProperty(talk, async (messages) => {
        const log = new LogWriter()
        log.root()
        for (const { role, text, ...more } of messages)
          log.message(role, text, JSON.parse(JSON.stringify(more)) as object)
        await agree(log.path())
      }),
      runs(1000),
    )
  })
})
