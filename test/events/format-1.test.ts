import { readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { storeValues } from '../../src/events/blob.js'
import { decodeDraft } from '../../src/events/draft.js'
import { payloads } from '../../src/events/event.js'
import { encodeLine, encodeTombstone, type Line, parseLine, proveLine } from '../../src/events/line.js'

/**
 * Format 1, frozen: what these files hold was made once, from the words of docs/FORMAT.md and by another program, and is never made
 * again. Where this test fails, the code changed the format.
 */
const fixture = (name: string): string[] =>
  readFileSync(new URL(`../fixtures/format-1/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')

interface Frozen {
  readonly id: string
  readonly parent: string | null
  readonly at: string
  readonly type: string
  readonly note?: true
  /** As a caller gives it; absent in a tombstone. */
  readonly payload?: Record<string, unknown>
  readonly body?: string
  readonly kept?: object
}

const drafts = fixture('drafts').map((text) => JSON.parse(text) as Frozen)
const lines = fixture('events')
const cases = drafts.map((draft, i) => [`${i + 1}: ${draft.type}`, draft, lines[i] as string] as const)

const encoded = ({ id, parent, at, type, note = undefined, payload, body, kept }: Frozen): Line => {
  const envelope = { parent, at, type, note: note === true }
  if (payload === undefined) return encodeTombstone(id, envelope, body as string, kept)
  const stored = storeValues(payload)
  if (E.isLeft(stored)) throw stored.left
  return encodeLine(envelope, stored.right.payload)
}

const proved = (line: string): Line => {
  const result = proveLine(Buffer.from(line), 0)
  if (typeof result === 'string') throw new Error(result)
  return result
}

describe('format 1', () => {
  test('has a frozen line of every type, redacted and unknown ones among them', () => {
    const types = new Set(drafts.map(({ type }) => type))
    for (const type of Object.keys(payloads)) expect(types).toContain(type)
    expect(lines.length).toBe(drafts.length)
    expect(lines.filter((line) => line.includes('"redacted":true')).length).toBe(3)
    expect(lines.filter((line) => line.includes('"$blob":')).length).toBe(1)
    expect(lines.filter((line) => line.includes('"$$key":')).length).toBe(1)
    expect(lines.filter((line) => line.includes('\\u2028')).length).toBe(2)
  })

  test.each(cases)('encodes to the frozen bytes and id: line %s', (_, draft, line) => {
    const made = encoded(draft)
    expect(made.id).toBe(draft.id)
    expect(made.bytes.toString()).toBe(line)
  })

  test.each(cases)('is proved and decoded from the frozen bytes: line %s', (_, draft, line) => {
    const { id, parent, at, type, note } = draft
    expect(proved(line)).toMatchObject({ id, parent, at, type, note: note === true })
    const event = parseLine(proved(line))
    if (E.isLeft(event)) throw new Error(event.left)
    const { payload: _payload, ...envelope } = draft
    expect(event.right).toMatchObject({ ...envelope, ...JSON.parse(line) })
  })

  test.each(cases.filter(([, { payload }]) => payload !== undefined))(
    'is a draft that the border lets through: line %s',
    (_, { parent, at, type, note, payload = {} }) => {
      const draft = { type, at, ...(parent && { parent }), ...(note && { note }), ...payload }
      const isNewer = payload.required === true
      expect(E.isRight(decodeDraft(draft))).toBe(!isNewer)
    },
  )
})
