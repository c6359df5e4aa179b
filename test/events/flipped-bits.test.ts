import { describe, expect, test } from 'vitest'
import type { Damaged } from '../../src/events/errors/index.js'
import { bodyOf, encodeTombstone, type Line } from '../../src/events/line.js'
import { appendTo, cutAt, fsWith, mustEqual, root, type State, stateOf } from '../support/cuts.js'
import { chainOn, left, logOn, messageOn, noteOn, readAll, timeAt } from '../support/logs.js'

const [first, second] = chainOn(root.id, 1, 2) as [Line, Line]

const whole = stateOf([root, first, second])

/** Every state that one flipped bit makes of a log, with the byte that it is in. */
function* flips(state: State, from = 0): Generator<{ readonly bytes: Buffer; readonly at: number }> {
  for (let at = from; at < state.bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const bytes = Buffer.from(state.bytes)
      bytes[at] = (bytes[at] as number) ^ (1 << bit)
      yield { bytes, at }
    }
  }
}

/** What is given are events of the state, unchanged and in order; of what is missing, line and byte are told. */
const mustTell = async (state: State, bytes: Buffer): Promise<void> => {
  const log = logOn(fsWith(bytes))
  const expected = state.events.map(({ id, offset }) => `${offset} ${id}`)
  for (const read of [log.readForward, log.readBackward]) {
    const { lines, told, error } = await readAll((report) => read(root.id, { report }))
    const places = lines.map(({ id, offset }) => `${offset} ${id}`)
    if (read === log.readBackward) places.reverse()
    mustEqual(
      places,
      expected.filter((place) => places.includes(place)),
    )
    const said = error === null ? told : [(error as Damaged).damage]
    mustEqual(said.length > 0, places.length < expected.length)
    for (const { line, offset } of said)
      mustEqual(bytes.subarray(0, offset).filter((byte) => byte === 0x0a).length, line - 1)
  }
}

describe('one flipped bit anywhere in a log', () => {
  test('never makes another event, nor one fewer without line and byte (INV-4, INV-5)', async () => {
    const state = stateOf([root, first, noteOn(first.id, 3), second])
    for (const { bytes } of flips(state)) await mustTell(state, bytes)
  })

  test('in a log that recovered from a torn tail, neither', async () => {
    const state = await appendTo(cutAt(whole, whole.bytes.length - 20), 100)
    expect(state.events.map(({ type }) => type)).toContain('recovered')
    for (const { bytes } of flips(state)) await mustTell(state, bytes)
  })

  test('in the line of a lost or redacted event is told, but for what was kept of the latter', async () => {
    const at = { parent: root.id, at: timeAt(1), note: false }
    const lost = encodeTombstone('f'.repeat(32), { ...at, type: 'lost' }, '', { guessed: true })
    const redacted = encodeTombstone(first.id, first, bodyOf(first))
    const state = stateOf([root, lost, redacted, messageOn(lost.id, 3)])
    for (const { bytes } of flips(state)) await mustTell(state, bytes)
  })

  test('anywhere before the last line refuses every append', async () => {
    const beforeLast = whole.bytes.length - second.bytes.length - 2
    for (const { bytes, at } of flips(whole)) {
      const log = logOn(fsWith(bytes))
      const refused = await left(log.append(root.id, second.id, [messageOn(second.id, 9)]))
      mustEqual(refused.tag, at < beforeLast ? 'Damaged' : 'StaleTail')
    }
  })
})
