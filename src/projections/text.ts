import type { Text } from '../events/content.js'
import { recordOf, textMember } from './members.js'

/** The text of a content in its stored form; several where some stand in blobs. `joinText` makes one of them once resolved. */
export type TextValue = Text | readonly Text[]

/** The text of a content, of a reasoning, or of a summary; null where it has none. */
export const textOf = (content: unknown): TextValue | null => {
  if (!Array.isArray(content)) {
    const text = textMember(content)
    return text === '' ? null : text
  }
  const texts = content.flatMap((part): Text[] => {
    const text = textOfPart(part)
    return text === null || text === '' ? [] : [text]
  })
  return joinStored(texts)
}

/** Texts one after the other; null for none. */
export const joinStored = (texts: readonly Text[]): TextValue | null => {
  if (texts.length < 2) return texts[0] ?? null
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : texts
}

/** The texts of a value that was joined before. */
export const textList = (value: TextValue | null): readonly Text[] => {
  if (value === null) return []
  return Array.isArray(value) ? (value as readonly Text[]) : [value as Text]
}

/** A value of the kind that `textOf` gives, read from a line; null where it is none. */
export const readText = (value: unknown): TextValue | null =>
  Array.isArray(value) ? joinStored(value.map(textMember).filter((text) => text !== null)) : textMember(value)

const textOfPart = (part: unknown): Text | null => {
  const text = textMember(part)
  if (text !== null) return text
  const record = recordOf(part)
  const type = record?.type
  return type === undefined || type === 'text' ? textMember(record?.text) : null
}

/** One text of a resolved value: a string, parts, or a list of either (a blob of `json` may have held parts). */
export const joinText = (resolved: unknown, depth = 4): string => {
  if (typeof resolved === 'string') return resolved
  if (depth === 0) return ''
  if (Array.isArray(resolved)) {
    return resolved
      .map((item) => joinText(item, depth - 1))
      .filter((text) => text !== '')
      .join('\n')
  }
  const part = recordOf(resolved)
  return part !== null && (part.type === undefined || part.type === 'text')
    ? joinText(part.text ?? '', depth - 1)
    : ''
}

/** Text on one line: white space collapsed, at most `length` code points. Looks no further into a text than it must. */
export const oneLine = (text: string, length: number): string => {
  const start = collapsed(text.slice(0, length * 4))
  const line = start.length < length * 2 && text.length > length * 4 ? collapsed(text) : start
  return [...line.slice(0, length * 2)].slice(0, length).join('').trimEnd()
}

const collapsed = (text: string): string => text.replace(/\s+/gu, ' ').trim()

/** The title that a session has by its first prompt. */
export const titleFrom = (text: string): string => oneLine(text, 100) || '[image]'

/** A short text for a list or a drawing; `[text]` for one that stands in a blob. */
export const excerptOf = (content: unknown, length = 80): string => {
  const first = textList(textOf(content))[0]
  if (first === undefined) return ''
  return typeof first === 'string' ? oneLine(first, length) : '[text]'
}
