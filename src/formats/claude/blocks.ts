import type { Part, ToolCall } from '../../events/content.js'
import { isObject, type Json } from '../remainder.js'

/** What the model reads or says, in the terms of both sides. A reader maps, and asks the inverse what it lost. */

const mediaTypes = new Set(['image', 'document', 'audio'])

/** A block of Claude's as a part. */
export const partOf = (block: unknown): Part => {
  if (typeof block === 'string') return { type: 'text', text: block }
  if (!isObject(block) || typeof block.type !== 'string') return { type: 'block', block } as Part
  const { type } = block
  if (type === 'text')
    return typeof block.text === 'string' ? (block as unknown as Part) : ({ type: 'block', block } as Part)
  if (!mediaTypes.has(type)) return block as unknown as Part
  const { source, ...rest } = block
  if (isObject(source)) {
    const { type: kind, media_type: media, data, url } = source
    if (kind === 'base64' && typeof media === 'string' && typeof data === 'string')
      return { ...rest, media, data } as Part
    if (kind === 'url' && typeof url === 'string') return { ...rest, url } as Part
  }
  return { type: 'block', block } as Part
}

/** The block that `partOf` gave the part for, where it can be told. */
export const blockOf = (part: Json): unknown => {
  if (part.type === 'block') return part.block
  if (!mediaTypes.has(part.type as string)) return part
  const { media, data, url, ...rest } = part
  return {
    ...rest,
    source: url === undefined ? { type: 'base64', media_type: media, data } : { type: 'url', url },
  }
}

export interface Spoken {
  readonly content: string | readonly Part[] | null
  readonly reasoning?: readonly { readonly text: string; readonly signature?: string }[]
  readonly replay?: readonly unknown[]
  readonly toolCalls?: readonly ToolCall[]
}

const isThinking = (block: unknown): block is { thinking: string; signature?: string } =>
  isObject(block) && block.type === 'thinking' && typeof block.thinking === 'string'
const isText = (block: unknown): boolean =>
  typeof block === 'string' || (isObject(block) && typeof block.text === 'string' && block.type === 'text')
const isCall = (block: unknown): block is Json => isObject(block) && block.type === 'tool_use'
const isMedia = (block: unknown): boolean => isObject(block) && mediaTypes.has(block.type as string)

/** What an assistant's blocks say; those that only their provider understands go to `replay`. `key` names calls without an id. */
export const spokenOf = (content: unknown, key: string): Spoken => {
  if (!Array.isArray(content)) return { content: typeof content === 'string' ? content : null }
  const parts = content.filter((block) => isText(block) || isMedia(block)).map(partOf)
  const only = parts.length === 1 ? parts[0] : undefined
  const reasoning = content.filter(isThinking).map(({ thinking, signature }) => ({
    text: thinking,
    ...(typeof signature === 'string' ? { signature } : {}),
  }))
  const toolCalls = content.filter(isCall).map((block, i) => callOf(block, `${key}#${i + 1}`))
  const replay = content.filter(
    (block) => !isText(block) && !isMedia(block) && !isThinking(block) && !isCall(block),
  )
  return {
    content:
      parts.length === 0
        ? null
        : only !== undefined &&
            Object.keys(only).length === 2 &&
            typeof only['text' as keyof Part] === 'string'
          ? (only['text' as keyof Part] as string)
          : parts,
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(replay.length > 0 ? { replay } : {}),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
  }
}

const callOf = ({ id, name, input }: Json, fallback: string): ToolCall => ({
  id: typeof id === 'string' && id !== '' ? id : fallback,
  name: typeof name === 'string' ? name : '',
  arguments: JSON.stringify(input) ?? '',
})

/** The blocks that a writer would make of it, in the order in which Claude gives them. */
export const blocksOf = ({ content, reasoning = [], replay = [], toolCalls = [] }: Spoken): unknown[] => [
  ...reasoning
    .map(({ text, signature }) => ({ type: 'thinking', thinking: text, signature }))
    .map(withoutUndefined),
  ...replay,
  ...(typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content ?? []).map((part) => blockOf(part as unknown as Json))),
  ...toolCalls.map(({ id, name, arguments: input }) => ({
    type: 'tool_use',
    id,
    name,
    input: argumentsOf(input as string),
  })),
]

const withoutUndefined = (block: Json): Json =>
  Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined))

const argumentsOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
