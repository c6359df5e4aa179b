/** What could command a terminal, or show text in another order than it stands: control characters, bidi overrides. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Text from a log as a person may safely see it on a terminal: escape codes and control characters become visible
 * pictures, characters that reorder text become their code points. Newlines and tabs stay.
 */
export const safe = (text: string): string =>
  text.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : visible(char)))

const visible = (char: string): string => {
  const code = char.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** The same on one line: white space of any kind becomes a blank. */
export const safeLine = (text: string): string => safe(text.replace(/\s+/g, ' ').trim())

/** A path or a name, which must stay recognisable: newlines and tabs become pictures too. */
export const safeName = (text: string): string => text.replace(unsafe, visible)

/** JSON text that a terminal takes for text: JSON itself escapes only C0. */
export const safeJson = (json: string): string =>
  json.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
