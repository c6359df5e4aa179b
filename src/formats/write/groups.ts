import type { Json } from '../remainder.js'

/** Two events of one message of the model's as one: contents joined as parts in order, the rest of the last. */
export const joinMembers = (a: Json, b: Json): Json => {
  const { toolCalls: _calls, reasoning: _reasoning, replay: _replay, ...rest } = { ...a, ...b }
  const lists = {
    toolCalls: [...listOf(a.toolCalls), ...listOf(b.toolCalls)],
    reasoning: [...reasonsOf(a.reasoning), ...reasonsOf(b.reasoning)],
    replay: [...blocksOf(a.replay), ...blocksOf(b.replay)],
  }
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0)
  return { ...rest, content: joinContents(a.content, b.content), ...Object.fromEntries(filled) }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isNone = (value: unknown): boolean => value === undefined || value === null

/** Reasoning as a list, whatever its form. */
export const reasonsOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isNone(value) || value === '' ? [] : [{ text: value }]

const blocksOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isNone(value) ? [] : [value]

const joinContents = (a: unknown, b: unknown): unknown => {
  if (isNone(a) || a === '') return b ?? a ?? null
  return isNone(b) || b === '' ? a : [...partsOf(a), ...partsOf(b)]
}

/** Content as parts, whatever its form: text is one part; none for nothing. */
export const partsOf = (content: unknown): readonly Json[] => {
  if (Array.isArray(content)) return content as readonly Json[]
  return isNone(content) || content === '' ? [] : [{ type: 'text', text: content }]
}
