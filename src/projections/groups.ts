import type { Content, Part } from '../events/content.js'
import { listOf, type Members, stringOf, textMember } from './members.js'

/** Content of any shape as format 1 has it: text, or parts; null for none. */
export const contentOf = (value: unknown): Content | null =>
  Array.isArray(value) ? (value as readonly Part[] as Part[]) : textMember(value)

const partsOf = (content: Content | null): readonly Part[] => {
  if (Array.isArray(content)) return content
  return content === null || content === '' ? [] : [{ type: 'text', text: content as string }]
}

/** Whether two messages that follow one another (results of tools apart) are one: same role, same group. */
export const isSameGroup = (a: Members, b: Members): boolean =>
  a.role === b.role && stringOf(a.group) !== null && a.group === b.group

const joinContents = (a: Content | null, b: Content | null): Content | null => {
  if (a === null || a === '') return b ?? a
  return b === null || b === '' ? a : [...partsOf(a), ...partsOf(b)]
}

const joinLists = (a: unknown, b: unknown, asItem: (value: unknown) => unknown): unknown => {
  if (a === undefined || a === null) return b
  if (b === undefined || b === null) return a
  const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [asItem(value)])
  return [...items(a), ...items(b)]
}

const joined = ['content', 'toolCalls', 'reasoning', 'replay'] as const

/** Two events of one group as one message: contents joined as parts in order, calls and reasoning too, the rest of the last. */
export const joinMessages = (a: Members, b: Members): Members => {
  const members: Record<string, unknown> = {
    ...a,
    ...b,
    content: joinContents(contentOf(a.content), contentOf(b.content)),
  }
  const toolCalls = [...listOf(a.toolCalls), ...listOf(b.toolCalls)]
  const reasoning = joinLists(a.reasoning, b.reasoning, (text) => ({ text }))
  const replay = joinLists(a.replay, b.replay, (block) => block)
  for (const name of joined) if (name !== 'content') delete members[name]
  if (toolCalls.length > 0) members.toolCalls = toolCalls
  if (reasoning !== undefined) members.reasoning = reasoning
  if (replay !== undefined) members.replay = replay
  return members
}
