import stringWidth from 'string-width'

const plain = /^[\x20-\x7e]*$/

/** The columns that a text takes on a terminal: two for CJK and emoji, none for colour codes. */
export const widthOf = (text: string): number => (plain.test(text) ? text.length : stringWidth(text))

/** A text cut to at most `columns`, with … where something was cut. */
export const clipped = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  if (columns < 1) return ''
  let kept = ''
  let used = 0
  for (const char of text) {
    used += widthOf(char)
    if (used > columns - 1) break
    kept += char
  }
  return `${kept.trimEnd()}…`
}

export const padded = (text: string, columns: number, side: 'left' | 'right' = 'left'): string => {
  const blank = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return side === 'left' ? text + blank : blank + text
}
