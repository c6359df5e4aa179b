import type { Json } from '../remainder.js'

/** Where the bytes of an image or a document are: in base64, or at a web address. */
export type MediaSource =
  | { readonly media: string; readonly data: string }
  | { readonly media: string | null; readonly url: string }

const inAddress = /^data:([^;,]+);base64,(.*)$/s
const base64 = /^[A-Za-z0-9+/]+={0,2}$/
/** What every provider takes. One that does not refuses the whole request, and each after it. */
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Bytes that stand in a `data:` address are bytes like any other. null where there are none that a provider would take. */
export const mediaSource = (part: Json): MediaSource | null => {
  const { media, data, url } = part
  if (typeof data === 'string' && typeof media === 'string') return bytesOf(part.type, media, data)
  const [, type, bytes] = (typeof url === 'string' && inAddress.exec(url)) || []
  if (type !== undefined && bytes !== undefined) return bytesOf(part.type, type, bytes)
  return typeof url === 'string' && /^https?:/.test(url)
    ? { media: typeof media === 'string' ? media : null, url }
    : null
}

const longestName = 200

/** What stands in the place of media that cannot be carried: `[image: a graph of x]`. */
export const placeholder = ({ type, alt, url }: Json): string => {
  const told = [alt, url].find(
    (one) => typeof one === 'string' && one.trim() !== '' && !one.startsWith('data:'),
  )
  const name = typeof told === 'string' ? told.trim().replace(/\s+/g, ' ') : ''
  return `[${String(type)}${name === '' ? '' : `: ${[...name].slice(0, longestName).join('')}`}]`
}

const bytesOf = (kind: unknown, type: string, given: string): MediaSource | null => {
  const media = type.toLowerCase().replace('image/jpg', 'image/jpeg')
  const data = given.replace(/\s+/g, '')
  if (media === '' || !isBase64(data)) return null
  return kind === 'image' && !imageTypes.has(media) ? null : { media, data }
}

/** In pieces: a pattern over megabytes overflows the stack of what looks for it. */
const isBase64 = (text: string): boolean => {
  if (text === '' || text.length % 4 === 1) return false
  for (let at = 0; at < text.length; at += 65_536) {
    const piece = text.slice(at, at + 65_536)
    if (!base64.test(piece) || (piece.includes('=') && at + 65_536 < text.length)) return false
  }
  return true
}
