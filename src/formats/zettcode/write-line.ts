import { isObject, type Json } from '../remainder.js'

/**
 * A record as ZettCode itself writes it: members in order of their names, a blank after `:` and `,`. Characters that its
 * reader takes for line ends are escaped. Ends in a newline.
 */
export const recordLine = (record: Json): string => `${spaced(record).replace(lineEnds, escaped)}\n`

/** Those below U+0020 are escaped in any JSON. */
const lineEnds = /[\u0085\u2028\u2029\uFEFF]/g

const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`

const spaced = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((one) => spaced(one ?? null)).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`)
  return `{${members.join(', ')}}`
}
