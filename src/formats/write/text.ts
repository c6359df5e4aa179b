import type { Json } from '../remainder.js'

/** JSON on one line; characters that some readers take for line ends are escaped. Ends in a newline. */
export const jsonLine = (record: Json | readonly unknown[]): string => `${lineSafe(JSON.stringify(record))}\n`

const lineSafe = (text: string): string =>
  text.replace(
    /[\u0085\u2028\u2029\uFEFF]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** A source line that was kept whole because parsing would lose something of it, as bytes; with its newline. */
export const rawLine = (raw: string): string | Uint8Array =>
  raw.startsWith('base64:') ? Buffer.concat([Buffer.from(raw.slice(7), 'base64'), newline]) : `${raw}\n`

const newline = Buffer.from('\n')
