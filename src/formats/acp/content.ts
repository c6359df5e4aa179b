import type { Part } from '../../events/content.js'
import { isObject, type Json } from '../remainder.js'

/** Content blocks of the protocol in our terms. */
const partOf = (block: unknown): Part => {
  if (!isObject(block) || typeof block.type !== 'string') return { type: 'block', block } as Part
  const { type, text, data, mimeType: media, uri: url } = block
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof media === 'string')
    return { type, media, data }
  if (type === 'resource_link' && typeof url === 'string')
    return { type: 'document', url, ...(typeof media === 'string' ? { media } : {}) }
  const resource = block.resource
  if (type === 'resource' && isObject(resource) && typeof resource.text === 'string')
    return { type: 'resource', text: resource.text, uri: resource.uri } as unknown as Part
  return { type: 'block', block } as Part
}

/** Blocks as content: texts that follow one another are one, and a text alone is that text. */
export const contentOf = (blocks: readonly unknown[]): string | Part[] => {
  const parts: Part[] = []
  for (const part of blocks.map(partOf)) {
    const last = parts.at(-1)
    if (isText(part) && last !== undefined && isText(last))
      parts[parts.length - 1] = { type: 'text', text: last.text + part.text }
    else parts.push(part)
  }
  const [only] = parts
  if (parts.length === 0) return ''
  return parts.length === 1 && only !== undefined && isText(only) ? only.text : parts
}

const isText = (part: Part): part is Part & { text: string } =>
  part.type === 'text' && 'text' in part && typeof part.text === 'string'

/** What a tool gave: its content, else its raw output. */
export const outputOf = (content: unknown, rawOutput: unknown): string | Part[] => {
  const items = Array.isArray(content) ? content : []
  if (items.length > 0 && items.every((item) => isObject(item) && item.type === 'content'))
    return contentOf((items as Json[]).map((item) => item.content))
  if (items.length > 0)
    return items.map((item): Part => {
      if (!isObject(item) || typeof item.type !== 'string') return { type: 'block', block: item } as Part
      return item.type === 'content' ? partOf(item.content) : (item as unknown as Part)
    })
  return typeof rawOutput === 'string' ? rawOutput : rawOutput === undefined ? '' : JSON.stringify(rawOutput)
}
