import type { Json } from '../remainder.js'

/** Where the bytes of an image or a document are: in base64, or at a web address. */
export type MediaSource =
  | { readonly media: string; readonly data: string }
  | { readonly media: string | null; readonly url: string }

const inAddress = /^data:([^;,]+);base64,(.*)$/s

/** Bytes that stand in a `data:` address are bytes like any other. null where there are none, or their type is not told. */
export const mediaSource = ({ media, data, url }: Json): MediaSource | null => {
  if (typeof data === 'string' && typeof media === 'string') return { media, data }
  const [, type, bytes] = (typeof url === 'string' && inAddress.exec(url)) || []
  if (type !== undefined && bytes !== undefined) return { media: type, data: bytes }
  return typeof url === 'string' && /^https?:/.test(url)
    ? { media: typeof media === 'string' ? media : null, url }
    : null
}
