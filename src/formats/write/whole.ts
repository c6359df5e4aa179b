import { isObject, type Json } from '../remainder.js'
import type { Losses } from './losses.js'
import { jsonLine } from './text.js'

/**
 * UTF-16 may hold half of a character (a text that was cut, say). UTF-8 has none: readers in Rust and Python refuse the
 * line, and providers the request.
 */

const half = /\p{Surrogate}/gu
const mark = '\ufffd'

/** Text, and all texts in a value, with a mark in the place of each half of a character. `lost` is told where there is one. */
export const wholeText = <T>(value: T, lost: () => void): T => wholeIn(value, lost) as T

const wholeIn = (value: unknown, lost: () => void): unknown => {
  if (typeof value === 'string') {
    const text = value.replace(half, mark)
    if (text !== value) lost()
    return text
  }
  if (Array.isArray(value)) return value.map((one: unknown) => wholeIn(one, lost))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [wholeText(name, lost), wholeIn(one, lost)]),
  )
}

/** A record that is new in its file. Whatever is not half is as `write` gives it. */
export const newLine = (
  record: Json,
  losses: Losses,
  key: string,
  write: (record: Json) => string = jsonLine,
): string => {
  const line = write(record)
  // JSON escapes what is half, and nothing else so.
  return line.includes('\\ud') ? write(wholeText(record, () => losses.add('half characters', key))) : line
}
