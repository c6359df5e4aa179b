import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, remainder, reunite, sameJson } from '../../src/formats/remainder.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 500
const key = fc.oneof(fc.constantFrom('a', 'b', '-', '--', '__proto__', 'id'), fc.string({ maxLength: 3 }))
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, '', 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))
const object = fc.dictionary(key, json, { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<Json>

describe('what a payload does not say of its record', () => {
  it('reunited with what it does say, is the record', () => {
    fc.assert(
      fc.property(object, object, (record, said) => {
        const kept = JSON.parse(JSON.stringify(remainder(record, said) ?? null)) as Json | null
        expect(sameJson(reunite(kept ?? undefined, said), record)).toBe(true)
      }),
      { numRuns: runs },
    )
  })

  it('is nothing where the payload says it all', () => {
    fc.assert(
      fc.property(object, (record) => {
        expect(remainder(record, record)).toBeUndefined()
      }),
      { numRuns: runs },
    )
  })
})
