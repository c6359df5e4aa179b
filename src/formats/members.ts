import { isObject, type Json } from './remainder.js'

/** Members of a source's records, whatever stands there. */

/** A text that is not empty; null for anything else. */
export const textIn = (value: Json, member: string): string | null => {
  const found = value[member]
  return typeof found === 'string' && found !== '' ? found : null
}

export const objectIn = (value: Json, member: string): Json => {
  const found = value[member]
  return isObject(found) ? found : {}
}

export const listIn = (value: Json, member: string): readonly unknown[] => {
  const found = value[member]
  return Array.isArray(found) ? found : []
}

/** A count; undefined for anything else. */
export const countIn = (value: Json, member: string): number | undefined => {
  const found = value[member]
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined
}

export const withoutUndefined = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))

/** The value of a JSON text; undefined where it is none. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The text of a message's content: itself, or that of its text parts. */
export const spokenText = (content: unknown): string =>
  Array.isArray(content)
    ? content.flatMap((part) => (isObject(part) ? (textIn(part, 'text') ?? []) : [])).join('\n')
    : typeof content === 'string'
      ? content
      : ''

/** Of a title, in code points. */
export const longestTitle = 200

/** A title as ours may be: trimmed, and no longer than that. */
export const titleOf = (text: string): string => [...text.trim()].slice(0, longestTitle).join('').trim()

/** Whether a path names its place alone, on any system. */
export const isAbsolute = (path: string | null): path is string =>
  path !== null && (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path))

/** What JSON writes as `1e999` is read as infinite: no event holds such a number. */
export const isFiniteNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)
