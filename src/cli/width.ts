/** Colour codes take no columns. */
const colourCodes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')
/** Characters of one column each: Latin, Greek, Cyrillic, punctuation, lines and blocks. */
const simple =
  /^[\x20-\x7e\xa0-\xa8\xaa-\xac\xaf-\u02ff\u0391-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u2190-\u2193\u2500-\u259f\u25c6-\u25cf]*$/

export const isSimple = (text: string): boolean => simple.test(text)

/** For `loadWidths`, where it is not known what will be drawn. */
export const everyScript: readonly string[] = ['\u6f22']

let exact: ((text: string) => number) | undefined

/**
 * Loads what knows the width of every script, if one of the texts needs it: that takes longer than most commands take
 * to run. Until it is loaded, `widthOf` counts other characters as one column.
 */
export const loadWidths = async (texts: Iterable<string>): Promise<void> => {
  for (const text of texts)
    if (!isSimple(text)) {
      exact ??= (await import('string-width')).default
      return
    }
}

/** The columns that a text takes on a terminal: two for CJK and emoji, none for colour codes. */
export const widthOf = (text: string): number => {
  const shown = text.includes('\x1b') ? text.replace(colourCodes, '') : text
  if (exact === undefined || isSimple(shown)) return [...shown].length
  return exact(shown)
}

/** A text cut to at most `columns`, with … where something was cut. */
export const clipped = (text: string, columns: number): string => {
  // A text of megabytes is not measured whole.
  const start = text.slice(0, Math.max(0, columns) * 8)
  if (start === text && widthOf(text) <= columns) return text
  if (columns < 1) return ''
  let kept = ''
  let used = 0
  for (const char of start) {
    used += widthOf(char)
    if (used > columns - 1) break
    kept += char
  }
  return `${kept.trimEnd()}…`
}

/** The end of a text, of at most `columns`, with … where something before it was cut. */
export const clippedStart = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  const chars = [...text]
  let used = 1
  let from = chars.length
  while (from > 0 && used + widthOf(chars[from - 1] ?? '') <= columns) used += widthOf(chars[--from] ?? '')
  return columns < 1 ? '' : `…${chars.slice(from).join('')}`
}

export const padded = (text: string, columns: number, side: 'left' | 'right' = 'left'): string => {
  const blank = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return side === 'left' ? text + blank : blank + text
}
