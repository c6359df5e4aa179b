/** What JSON.parse would lose of a text that it accepts. */
export interface Inspection {
  /** Whether every number keeps its value and no object holds a key twice. */
  readonly survives: boolean
  /** How deep objects and arrays stand in each other. */
  readonly depth: number
}

/** Nesting beyond this would overflow the stack of whatever walks the value later. */
export const maxDepth = 500

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Looks through a text that JSON.parse accepts; strings are skipped, so that it costs little beside the parse. */
export const inspect = (text: string): Inspection => {
  const keys: (Set<string> | null)[] = []
  let depth = 0
  let survives = true
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      const names = keys[keys.length - 1]
      if (names && isKey(text, end)) {
        const name = keyOf(text.slice(at, end))
        if (names.has(name)) survives = false
        names.add(name)
      }
      at = end - 1
    } else if (code === openBrace || code === openBracket) {
      keys.push(code === openBrace ? new Set() : null)
      depth = Math.max(depth, keys.length)
    } else if (code === closeBrace || code === closeBracket) keys.pop()
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, at)
      if (!keepsValue(text.slice(at, end))) survives = false
      at = end - 1
    }
  }
  return { survives, depth }
}

/** One past the closing quote of the string that begins at `start`; the text's end where it is not closed. */
export const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
  return slashes % 2 === 1
}

const isKey = (text: string, end: number): boolean => {
  let at = end
  while (' \t\r\n'.includes(text[at] ?? 'x')) at++
  return text[at] === ':'
}

const keyOf = (quoted: string): string => {
  const plain = quoted.slice(1, -1)
  return plain.includes('\\') ? (JSON.parse(quoted) as string) : plain
}

const endOfNumber = (text: string, start: number): number => {
  let end = start + 1
  while (end < text.length && '0123456789+-.eE'.includes(text[end]!)) end++
  return end
}

/** Whether a number as written and as JavaScript holds it are the same number (1.0 and 1 are, 0.1 with 20 digits is not). */
const keepsValue = (written: string): boolean => {
  const value = Number(written)
  if (String(value) === written) return true
  return Number.isFinite(value) && !Object.is(value, -0) && decimal(written) === decimal(String(value))
}

/** Sign, digits without leading and trailing zeros, and power of ten. */
const decimal = (number: string): string => {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const trimmed = digits.replace(/0+$/, '')
  return trimmed === ''
    ? '0'
    : `${sign}${trimmed}e${Number(power) - fraction.length + digits.length - trimmed.length}`
}

/** One past the bracket that closes what opens at `start`, or -1 where the text ends before. */
export const endOfValue = (text: string, start: number): number => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at) - 1
    else if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth <= 0) return at + 1
  }
  return -1
}

/** How many brackets stand open after a line, where `depth` stood open before it; negative where one closes too many. */
export const depthAfter = (line: string, depth: number): number => {
  let open = depth
  for (let at = 0; at < line.length && open >= 0; at++) {
    const code = line.charCodeAt(at)
    if (code === quote) at = endOfString(line, at) - 1
    else if (code === openBrace || code === openBracket) open++
    else if (code === closeBrace || code === closeBracket) open--
  }
  return open
}
