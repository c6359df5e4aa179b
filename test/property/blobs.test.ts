import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { blobRefs, maxInlineText, resolveValues, storeValues } from '../../src/events/blob.js'
import { sha256 } from '../../src/events/id.js'
import { payloadText } from '../../src/events/line.js'

const runs = (base: number) => ({ numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base) })

const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '$blob',
    '$',
    '$$',
    '$$blob',
    '__proto__',
    'data',
    'type',
    'constructor',
    'toString',
    'content',
  ),
)
const long = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }), fc.integer({ min: 15_000, max: 70_000 }))
  .map(([text, size]) => text.repeat(Math.ceil(size / text.length)))
const leaf = fc.oneof(
  { weight: 8, arbitrary: fc.jsonValue({ maxDepth: 0, stringUnit: 'binary' }) },
  { weight: 1, arbitrary: long },
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
    tie('media'),
    tie('lookalike'),
  ),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
  media: fc.record({
    type: fc.constantFrom('image', 'audio', 'document', 'text'),
    media: fc.constantFrom('image/png', ''),
    data: fc.oneof(fc.base64String(), fc.string(), long, tie('value')),
  }),
  lookalike: fc.record({
    $blob: fc.constantFrom(sha256('x'), 'x', ''),
    bytes: fc.nat(),
    as: fc.constantFrom('text', 'json', 'base64'),
  }),
}))
const payload = fc.array(fc.tuple(key, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries))

/** Every string in a value, but those of blob references. */
const inlineStrings = (item: unknown): string[] => {
  if (typeof item === 'string') return [item]
  if (typeof item !== 'object' || item === null) return []
  return Object.entries(item).flatMap(([name, member]) => [name, ...inlineStrings(member)])
}

describe('what a caller gives', () => {
  test('comes back the same, members in their order, whatever keys and values it holds', async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (given) => {
        const before = JSON.stringify(given)
        const stored = storeValues(given)
        if (E.isLeft(stored)) throw stored.left
        expect(JSON.stringify(given)).toBe(before)
        // As a reader has it: through the text of a line.
        const read = JSON.parse(`{${payloadText(stored.right.payload)}}`) as object
        const back = await resolveValues(read, async ({ $blob }) => {
          const bytes = stored.right.blobs.get($blob)
          if (bytes === undefined) throw new Error(`no blob ${$blob}`)
          return bytes
        })
        expect(JSON.stringify(back)).toBe(before)
      }),
      runs(400),
    )
  })

  test('is stored with no string over 64 KiB, and each blob under its hash and size', () => {
    fc.assert(
      fc.property(payload, (given) => {
        const stored = storeValues(given)
        if (E.isLeft(stored)) throw stored.left
        for (const text of inlineStrings(stored.right.payload))
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxInlineText)
        for (const [name, bytes] of stored.right.blobs) expect(sha256(bytes)).toBe(name)
        for (const { $blob, bytes } of blobRefs(stored.right.payload))
          expect(stored.right.blobs.get($blob)?.length).toBe(bytes)
      }),
      runs(200),
    )
  })
})
