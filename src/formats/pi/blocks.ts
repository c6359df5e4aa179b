import type { Part, ToolCall } from '../../events/content.js'
import { parsedJson } from '../members.js'
import { isObject, type Json } from '../remainder.js'

/** Content blocks of Pi's in our terms, and back. Members that we do not know stay on the part. */

/** A block as a part. */
export const partOf = (block: unknown): Part => {
  if (!isObject(block) || typeof block.type !== 'string') return { type: 'block', block } as Part
  const { type, ...rest } = block
  if (type === 'text')
    return typeof rest.text === 'string' ? (block as unknown as Part) : ({ type: 'block', block } as Part)
  if (type !== 'image') return { type: 'block', block } as Part
  const { mimeType: media, data, ...others } = rest
  return typeof media === 'string' && typeof data === 'string' && !('media' in rest)
    ? ({ type, media, data, ...others } as Part)
    : ({ type: 'block', block } as Part)
}

/** The block that `partOf` gave the part for. */
export const blockOf = (part: Json): unknown => {
  if (part.type === 'block') return part.block
  if (part.type !== 'image') return part
  const { media, ...rest } = part
  return { ...rest, mimeType: media }
}

/** What a message says: text, or blocks. */
export const contentOf = (content: unknown): string | Part[] | null =>
  Array.isArray(content) ? content.map(partOf) : typeof content === 'string' ? content : null

export const saidContent = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((part) => blockOf(part as Json))
    : typeof content === 'string'
      ? content
      : undefined

export interface Spoken {
  readonly content: string | readonly Part[] | null
  readonly reasoning?: readonly { readonly text: string; readonly signature?: string }[]
  readonly toolCalls?: readonly ToolCall[]
}

const isThinking = (block: unknown): block is Json & { thinking: string } =>
  isObject(block) && block.type === 'thinking' && typeof block.thinking === 'string'
const isCall = (block: unknown): block is Json => isObject(block) && block.type === 'toolCall'

/** What an assistant says. `key` names calls that have no id. */
export const spokenOf = (content: unknown, key: string): Spoken => {
  if (!Array.isArray(content)) return { content: typeof content === 'string' ? content : null }
  const reasoning = content.filter(isThinking).map(({ type: _, thinking, thinkingSignature, ...rest }) => ({
    text: thinking,
    ...(typeof thinkingSignature === 'string' ? { signature: thinkingSignature } : {}),
    ...rest,
  }))
  const toolCalls = content.filter(isCall).map((block, i) => callOf(block, `${key}#${i + 1}`))
  const parts = content.filter((block) => !isThinking(block) && !isCall(block)).map(partOf)
  return {
    content: parts.length === 0 ? null : plainText(parts),
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
  }
}

/** A text that is all of a message, and says nothing of itself, as Pi writes most. */
const plainText = (parts: readonly Part[]): string | readonly Part[] => {
  const [only] = parts
  const isPlain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2
  return isPlain && 'text' in only && typeof only.text === 'string' ? only.text : parts
}

const callOf = ({ type: _, id, name, arguments: given, ...rest }: Json, fallback: string): ToolCall => ({
  id: typeof id === 'string' && id !== '' ? id : fallback,
  name: typeof name === 'string' ? name : '',
  arguments: JSON.stringify(given) ?? '',
  ...rest,
})

/** The blocks that a writer makes of it: thinking, then text, then calls, as Pi nearly always has them. */
export const saidBlocks = ({ content, reasoning = [], toolCalls = [] }: Spoken): unknown => [
  ...reasoning.map(({ text, signature, ...rest }) => ({
    type: 'thinking',
    thinking: text,
    ...(signature === undefined ? {} : { thinkingSignature: signature }),
    ...rest,
  })),
  ...(typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content ?? []).map((part) => blockOf(part as unknown as Json))),
  ...toolCalls.map(({ arguments: text, ...rest }) => ({
    type: 'toolCall',
    ...rest,
    arguments: parsedJson(text as string),
  })),
]
