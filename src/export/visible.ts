/**
 * Control characters, characters that reorder what stands beside them, and halves of surrogate pairs. Newlines and tabs
 * are left out below.
 */
const unsafe = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Text as a page may show it: what could command a terminal or turn the reading order around is a visible mark; line ends
 * are newlines. Everything else stands as it was written.
 */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : markFor(char)))

const markFor = (char: string): string => {
  const code = char.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
