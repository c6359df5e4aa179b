import { describe, expect, test } from 'vitest'
import { Damaged } from '../../src/events/errors/index.js'
import { appendTo, cutAt, fsWith, mustReadAs, root, type State, stateOf } from '../support/cuts.js'
import { chainOn, left, logOn, type messageOn, noteOn, readAll } from '../support/logs.js'

const [first, second] = chainOn(root.id, 1, 2) as [ReturnType<typeof messageOn>, ReturnType<typeof messageOn>]
const whole = stateOf([root, first, noteOn(first.id, 3), second])
const rootEnd = root.bytes.length

/** Inside the envelope, inside the payload, before the last brace, before the newline, whole. */
const tellingCuts = ({ bytes }: State, from: number): readonly number[] => {
  const size = bytes.length
  return [from + 1, from + 60, Math.floor((from + size) / 2), size - 3, size - 2, size - 1, size].filter(
    (cut) => cut >= from && cut <= size,
  )
}

describe('a log cut at any byte', () => {
  test('is read up to its last whole line, and the rest is told, forward and backward (INV-4)', async () => {
    for (let size = rootEnd; size <= whole.bytes.length; size++) {
      const state = cutAt(whole, size)
      await mustReadAs(logOn(fsWith(state.bytes)), state)
    }
  })

  test('takes two more appends, which are read behind what was whole (INV-2)', async () => {
    for (let size = rootEnd; size <= whole.bytes.length; size++) {
      await appendTo(await appendTo(cutAt(whole, size), 100), 101)
    }
  })

  test('inside its root is no session: damage, and appends are refused', async () => {
    for (let size = 0; size < rootEnd; size++) {
      const log = logOn(fsWith(whole.bytes.subarray(0, size)))
      for (const read of [log.readForward, log.readBackward]) {
        const { lines, error } = await readAll((report) => read(root.id, { report }))
        expect(lines).toEqual([])
        expect((error as Damaged).damage.kind).toBe('no-root')
      }
      expect(await left(log.append(root.id, root.id, [first]))).toBeInstanceOf(Damaged)
    }
  })
})

describe('the append after a cut, cut again at every byte of its own write', () => {
  test('is read up to its last whole line, and the next append goes on', async () => {
    for (const cut of tellingCuts(whole, whole.bytes.length - second.bytes.length)) {
      const recovered = await appendTo(cutAt(whole, cut), 100)
      for (let size = cut; size <= recovered.bytes.length; size++) await appendTo(cutAt(recovered, size), 200)
    }
  })

  test('twice over', async () => {
    const cut = whole.bytes.length - 20
    const once = await appendTo(cutAt(whole, cut), 100)
    for (const again of tellingCuts(once, cut)) {
      const twice = await appendTo(cutAt(once, again), 200)
      for (let size = again; size <= twice.bytes.length; size += 3) await appendTo(cutAt(twice, size), 300)
    }
  })
})

describe('a last line without its newline', () => {
  test('is an event, and the next append writes the newline first and names nothing', async () => {
    const state = cutAt(whole, whole.bytes.length - 1)
    const after = await appendTo(state, 100)
    expect(after.events.map(({ type }) => type)).not.toContain('recovered')
    expect(after.bytes[state.bytes.length]).toBe(0x0a)
  })
})
