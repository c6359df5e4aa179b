/** Words as a POSIX shell takes them apart again. */
export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ')

const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
