/** The raster types that a page shows, by the bytes they begin with (hex); whatever a log claims of them. */
const magics: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(37|39)61/],
  ['image/webp', /^52494646[0-9a-f]{8}57454250/],
]

/** The type of an image by its bytes; null for everything else, SVG too, which can hold programs. */
export const rasterType = (base64: string): string | null => {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  const start = Buffer.from(base64.slice(0, 64), 'base64').toString('hex')
  return magics.find(([, magic]) => magic.test(start))?.[0] ?? null
}
