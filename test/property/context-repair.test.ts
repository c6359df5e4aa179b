import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { pathTo, treeOf } from '../../src/events/tree.js'
import { type ContextMessage, context } from '../../src/projections/context.js'
import { branchEvents, fold, replay } from '../../src/projections/replay.js'
import { toAnthropic, toOpenAI, toPlain } from '../../src/projections/shapes.js'
import { hostileEventsArbitrary, logArbitrary, runs } from './arbitraries.js'

const contextOf = (events: readonly Event[], leaf?: string): readonly ContextMessage[] =>
  context.view(replay(context, events, leaf))

/** Every call is followed by exactly its results, in call order, and no result stands anywhere else. */
const expectPaired = (messages: readonly ContextMessage[]): void => {
  for (let n = 0; n < messages.length; n++) {
    const calls = messages[n]?.toolCalls?.map(({ id }) => id) ?? []
    expect(
      messages.slice(n + 1, n + 1 + calls.length).map(({ role, toolCallId }) => [role, toolCallId]),
    ).toEqual(calls.map((id) => ['tool', id]))
    n += calls.length
    expect(messages[n + 1]?.role === 'tool' ? 'a result without a call' : '').toBe('')
  }
  expect(messages[0]?.role).not.toBe('tool')
}

const expectAnthropic = (messages: readonly ContextMessage[]): void => {
  const request = toAnthropic(messages)
  const seen = new Set<string>()
  request.messages.forEach(({ role, content }, n) => {
    expect(role).toBe(n % 2 === 0 ? 'user' : 'assistant')
    expect(content.length).toBeGreaterThan(0)
    for (const block of content) if (block.type === 'text') expect(block.text.trim()).not.toBe('')
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    for (const id of calls) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
      expect(seen.has(id)).toBe(false)
      seen.add(id)
    }
    const next = request.messages[n + 1]?.content ?? []
    expect(
      next
        .slice(0, calls.length)
        .map((block) => (block.type === 'tool_result' ? block.tool_use_id : block.type)),
    ).toEqual(calls)
    expect(next.slice(calls.length).some(({ type }) => type === 'tool_result')).toBe(false)
  })
}

describe('context repair', () => {
  it('wherever a batch was cut, in any order of results: every call is followed by its one result, none is orphaned', () => {
    fc.assert(
      fc.property(logArbitrary(60), fc.nat(1000), (events, pick) => {
        const nodes = events.filter(({ note }) => note !== true)
        const messages = contextOf(events, nodes[pick % nodes.length]?.id)
        expectPaired(messages)
        expectAnthropic(messages)
        const openai = toOpenAI(messages)
        expect(openai.filter(({ role }) => role === 'tool').length).toBe(
          messages.filter(({ role }) => role === 'tool').length,
        )
        for (const message of openai) if (message.role !== 'tool') expect(message.content !== '').toBe(true)
      }),
      runs(500),
    )
  })

  it('the same over events of any shape', () => {
    fc.assert(
      fc.property(hostileEventsArbitrary(20), (events) => {
        const messages = context.view(fold(context, events))
        expectPaired(messages)
        expectAnthropic(messages)
        toOpenAI(messages)
        toPlain(messages)
      }),
      runs(1000),
    )
  })

  it('the context at a past node is what it was, whatever advanced the head since', () => {
    fc.assert(
      fc.property(logArbitrary(), fc.nat(1000), (events, pick) => {
        const withoutToolNotes = events.filter(({ type }) => type !== 'tool')
        const cut = pick % withoutToolNotes.length
        const prefix = withoutToolNotes.slice(0, cut + 1)
        const head = treeOf(prefix)?.head
        deepStrictEqual(contextOf(withoutToolNotes, head), contextOf(prefix))
      }),
      runs(300),
    )
  })

  it('INV-11: read from `through` of a compaction that keeps, the context is what the whole path gives', () => {
    fc.assert(
      fc.property(logArbitrary(60), (events) => {
        const tree = treeOf(events)
        if (tree === null) return
        const path = pathTo(tree, tree.head)
        const compaction = path.findLast(({ type }) => type === 'compaction')
        fc.pre(compaction?.keep !== undefined)
        const through = path.findIndex(({ id }) => id === compaction?.through)
        const after = new Set(path.slice(through + 1).map(({ id }) => id))
        const read = branchEvents(events, tree, tree.head).filter(({ id, parent, note }) =>
          after.has(note === true ? (parent ?? '') : id),
        )
        deepStrictEqual(context.view(fold(context, read)), contextOf(events))
      }),
      runs(300),
    )
  })

  it('the arbitrary does make calls without results, late results, and edits', () => {
    const samples = fc.sample(logArbitrary(60), { numRuns: 200, seed: 1 }).map((events) => contextOf(events))
    const kinds = new Set(
      samples
        .flat()
        .map(({ synthetic, content }) => synthetic ?? (content === '[removed]' ? content : 'other')),
    )
    expect([...kinds].sort()).toEqual(['[removed]', 'not started', 'other', 'outcome unknown'])
  })
})
