import { parsedJson } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { partsOf, reasonsOf } from '../write/groups.js'
import type { Losses } from '../write/losses.js'
import { mediaSource, placeholder } from '../write/media.js'

/** What events of any origin say, in blocks that the model's provider takes. Values are resolved. */

export interface Blocks {
  readonly losses: Losses
  /** Of the step: what is lost counts once. */
  readonly key: string
}

/** Content of the user's, or of a result: text as it is, parts as blocks. */
export const userContent = (content: unknown, blocks: Blocks): string | readonly Json[] =>
  typeof content === 'string'
    ? content
    : partsOf(content).flatMap((part, i) => blockFor(part, withPlace(blocks, i), true))

const withPlace = ({ losses, key }: Blocks, i: number): Blocks => ({ losses, key: `${key}/${i}` })

const mediaTypes = new Set<unknown>(['image', 'document', 'audio'])

const blockFor = (part: Json, blocks: Blocks, takesMedia: boolean): readonly Json[] => {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }]
  if (mediaTypes.has(type)) return [mediaBlock(part, blocks, takesMedia)]
  blocks.losses.add('other parts', blocks.key)
  return [{ type: 'text', text: JSON.stringify(part) }]
}

const mediaBlock = (part: Json, { losses, key }: Blocks, takesMedia: boolean): Json => {
  const { type, media: _media, data: _data, url: _url, ...rest } = part
  const found = mediaSource(part)
  if (found === null || type === 'audio' || !takesMedia) {
    losses.add(type === 'image' ? 'images' : 'documents', key)
    return { type: 'text', text: placeholder(part) }
  }
  const source =
    'data' in found
      ? { type: 'base64', media_type: found.media, data: found.data }
      : { type: 'url', url: found.url }
  if (Object.keys(rest).length > 0) losses.add('image details', key)
  return { type, source }
}

/** Content of the model's: text alone, since its provider takes no media from it. */
export const modelContent = (content: unknown, blocks: Blocks): readonly Json[] =>
  partsOf(content).flatMap((part, i) => blockFor(part, withPlace(blocks, i), false))

/** Reasoning that its provider signed; without a signature, or with another's, it would be refused. */
export const thinkingBlocks = (reasoning: unknown): Json[] =>
  reasonsOf(reasoning).flatMap((reason) => {
    const { text, signature } = isObject(reason) ? reason : {}
    return typeof text === 'string' && typeof signature === 'string' && signature !== ''
      ? [{ type: 'thinking', thinking: text, signature }]
      : []
  })

/** The input of a call: an object, whatever the model wrote. */
export const inputOf = (text: unknown, { losses, key }: Blocks): Json => {
  const value = typeof text === 'string' ? parsedJson(text === '' ? '{}' : text) : undefined
  if (isObject(value)) return value
  losses.add('arguments', key)
  return { input: value === undefined ? String(text) : value }
}
