/** Only from here on are there code points that NFC composes, or makes others of. */
const composable = /[\u0300-\uffff]/

const composed = (text: string): string => (composable.test(text) ? text.normalize('NFC') : text)

/** White space that is not one blank already. */
const wide = / ?[^\S ]\s*| {2,}\s*/g

/** A text on one line, composed (NFC), each run of white space as one blank: what an excerpt is cut from. */
export const shownText = (text: string): string => composed(text).replace(wide, ' ')

/**
 * What a search compares: the shown text without case. The final sigma is the sigma, so that each code point folds by
 * itself: a part of a text folds to a part of its fold.
 */
export const foldShown = (shown: string): string => {
  const lower = shown.toLowerCase()
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower
}

export const foldText = (text: string): string => foldShown(shownText(text))

/** Whether a text may hold a folded one, of which a piece without a blank is given: told without making it one line. */
export const mayHold = (text: string, piece: string): boolean => foldShown(composed(text)).includes(piece)

/** Where a stretch of the folded text stands in the shown one; a few code points fold to more than one. */
export const placeInShown = (
  shown: string,
  from: number,
  to: number,
  foldedLength: number,
): { readonly from: number; readonly to: number } => {
  if (shown.length === foldedLength) return { from, to }
  let at = 0
  let start = 0
  let folded = 0
  for (const char of shown) {
    if (folded <= from) start = at
    if (folded >= to) break
    folded += foldShown(char).length
    at += char.length
  }
  return { from: start, to: at }
}
