import type { Part } from '../../events/content.js'
import { isObject, type Json } from '../remainder.js'

/** Content of a message or a tool's output, in our terms and back. Members that we do not know stay on the part. */

/** What a text of the role is called in the file. */
export const textType = (role: unknown): string => (role === 'assistant' ? 'output_text' : 'input_text')

const texts = new Set(['input_text', 'output_text', 'text'])
const ours = new Set(['text', 'image', 'audio', 'document', 'block'])

/** `base64` as every tool writes it: anything else stays a URL. */
const dataUrl = /^data:([^;,]+);base64,([A-Za-z0-9+/=]*)$/

const partOf = (block: unknown, text: string): Part => {
  const kept = { type: 'block', block } as Part
  if (!isObject(block) || typeof block.type !== 'string') return kept
  const { type, ...rest } = block
  if ((type === text || texts.has(type as string)) && typeof rest.text === 'string')
    return { type: 'text', ...rest } as Part
  if (type === 'input_image' && typeof rest.image_url === 'string') {
    const { image_url: url, ...others } = rest
    const [, media, data] = dataUrl.exec(url as string) ?? []
    if ('media' in others || 'data' in others || 'url' in others) return kept
    return (data === undefined
      ? { type: 'image', url, ...others }
      : { type: 'image', media, data, ...others }) as unknown as Part
  }
  return ours.has(type as string) ? kept : (block as unknown as Part)
}

const blockOf = (part: Json, text: string): unknown => {
  const { type, ...rest } = part
  if (type === 'block') return part.block
  if (type === 'text') return { type: text, ...rest }
  if (type !== 'image') return part
  const { media, data, url, ...others } = rest
  return {
    type: 'input_image',
    image_url: data === undefined ? url : `data:${String(media)};base64,${String(data)}`,
    ...others,
  }
}

const isPlain = (part: Part | undefined): part is Part & { text: string } =>
  part?.type === 'text' && Object.keys(part).length === 2

/** A list of blocks: one plain text is that text. `text`: the type that texts have there. */
export const partsOf = (blocks: readonly unknown[], text: string): string | Part[] => {
  const parts = blocks.map((block) => partOf(block, text))
  const only = parts.length === 1 ? parts[0] : undefined
  return isPlain(only) ? only.text : parts
}

/** The blocks that `partsOf` gave the content for. */
export const blocksOf = (content: unknown, text: string): unknown =>
  Array.isArray(content)
    ? content.map((part) => blockOf(part as Json, text))
    : typeof content === 'string'
      ? [{ type: text, text: content }]
      : undefined

/** The texts of a message's content, one after the other. */
export const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : [])
        .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
        .join('\n')
