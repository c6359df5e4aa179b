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

  const call = (call: object) => ({ ...message, role: 'assistant', content: null, toolCalls: [call] })
  test.each([
    [
      { type: 'message' },
      ['role should be one of system, user, assistant, tool', 'content should be text, parts or null'],
    ],
    [{ ...message, content: 3 }, ['content should be text, parts or null']],
    [{ ...message, content: { $blob: 5 } }, ['content should be text, parts or null']],
    [{ ...message, content: [{ type: 'text' }] }, ['content.0.text should be text']],
    [{ ...message, content: [{ type: 'image', alt: 3 }] }, ['content.0.alt should be a string']],
    [
      { ...message, content: [5] },
      ['content.0 should be a part (an object with a type, and what that type holds)'],
    ],
    [
      call({ id: 'c', name: 5 }),
      ['toolCalls.0.name should be a string', 'toolCalls.0.arguments should be text'],
    ],
    [{ ...message, toolCalls: 'x', ok: 1 }, ['toolCalls should be a list', 'ok should be true or false']],
    [
      { ...message, usage: { input: Number.NaN } },
      ['usage.input should be a finite number', 'usage.output should be a finite number'],
    ],
    [{ ...message, reasoning: 4 }, ['reasoning should be text or a list of {text, signature}']],
    [{ type: 'compaction', summary: 's', through: 'x' }, ['through should be an event id (32 hex)']],
    [{ type: 'session', format: 2, nonce: '1' }, ['format should be 1']],
    [{ type: 'label', target: id, label: '' }, ['label should be a label (1 to 200 characters) or null']],
    [{ type: 'custom', name: 'x', data: 1, origin: 'o' }, ['origin should be an object']],
  ])('that is none is told in plain words: %j', (draft, reasons) => {
    expect(reasonsOf(draft)).toEqual(reasons)
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
