import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { decodeDraft } from '../../src/events/draft.js'
import { noteTypes } from '../../src/events/event.js'

const message = { type: 'message', role: 'user', content: 'hi' }
const reasonsOf = (draft: unknown): readonly string[] => {
  const result = decodeDraft(draft)
  return E.isLeft(result) ? result.left.reasons : []
}
const id = 'a'.repeat(32)

describe('a draft', () => {
  test('of a type that notes is a note, whether it says so or not', () => {
    expect(decodeDraft({ type: 'title', title: 'T', by: 'user' })).toMatchObject({ right: { note: true } })
    expect(decodeDraft({ type: 'title', note: true, title: 'T', by: 'user' })).toMatchObject({
      right: { note: true },
    })
    expect(noteTypes.size).toBe(10)
  })

  test.each([null, 3, 'x', [], undefined])('that is no object (%j) is refused', (draft) => {
    expect(reasonsOf(draft)).toEqual(['should be a JSON object'])
  })

  test.each(['id', 'body', 'redacted', 'kept'])('with the reserved member %s is refused', (member) => {
    expect(reasonsOf({ ...message, [member]: null })).toEqual([`${member} is reserved`])
  })

  test.each([
    ['type', { type: 'Message' }],
    ['type', { type: 7 }],
    ['type', { type: 'x'.repeat(201) }],
    ['lost', { type: 'lost' }],
    ['at', { ...message, at: '2026-02-30T00:00:00.000Z' }],
    ['at', { ...message, at: '2026-12-01T09:00:00Z' }],
    ['at', { ...message, at: 5 }],
    ['parent', { ...message, parent: null }],
    ['parent', { ...message, parent: 'abc' }],
    ['note', { ...message, note: false }],
    ['note', { ...message, note: true }],
    ['required', { type: 'acme.x', required: true }],
    ['toJSON', { ...message, toJSON: () => ({}) }],
    ['role', { ...message, role: 'robot' }],
    ['content', { type: 'message', role: 'user' }],
    ['usage', { ...message, usage: { input: Number.NaN, output: 1 } }],
    ['name', { type: 'branch', name: 'deadbeef' }],
    ['title', { type: 'title', title: ' T', by: 'user' }],
    ['title', { type: 'title', title: '😀'.repeat(201), by: 'user' }],
    ['through', { type: 'compaction', summary: 's', through: 'x' }],
  ])('is refused for its %s, in words that name it', (what, draft) => {
    const reasons = reasonsOf(draft)
    expect(reasons.length).toBeGreaterThan(0)
    expect(reasons.join()).toContain(what)
  })

  test.each([
    [{ ...message, at: '2026-12-01T09:00:01.000Z', parent: id }],
    [{ type: 'title', title: '😀'.repeat(200), by: 'user' }],
    [{ type: 'acme.x', anything: [{}], note: true }],
    [{ type: 'message', required: true, role: 'user', content: [{ type: 'sticker', of: 1 }], unknown: 1 }],
    [
      {
        type: 'message',
        role: 'assistant',
        content: null,
        toolCalls: [{ id: '1', name: 'n', arguments: 'no JSON' }],
      },
    ],
  ])('with unknown members, parts and types is let through as it is', (draft) => {
    expect(reasonsOf(draft)).toEqual([])
  })
})
