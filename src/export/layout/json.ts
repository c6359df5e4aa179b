const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs

/**
 * JSON laid out for reading; null where the text is no JSON object or array. Numbers, escapes and members that stand
 * twice are left as they are spelled: only white space changes.
 */
export const prettyJson = (text: string): string | null => {
  const start = text.trimStart()[0]
  if (start !== '{' && start !== '[') return null
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return onOneLine(laidOut(text.match(tokens) ?? []))
}

/** What fits into a line is one: all newlines of JSON are layout. */
const longestLine = 88

/** Laid-out JSON, on one line where it is short. */
export const onOneLine = (laid: string): string => {
  if (laid.length > longestLine * 3) return laid
  const line = laid.replace(/(?<=\[)\n\s*|\n\s*(?=\])/g, '').replace(/\n\s*/g, ' ')
  return line.length <= longestLine ? line : laid
}

const laidOut = (found: readonly string[]): string => {
  const out: string[] = []
  let depth = 0
  const line = () => `\n${'  '.repeat(Math.min(depth, 40))}`
  found.forEach((token, at) => {
    const next = found[at + 1]
    if (token === '{' || token === '[') {
      const isEmpty = next === '}' || next === ']'
      if (!isEmpty) depth++
      out.push(token, isEmpty ? '' : line())
    } else if (token === '}' || token === ']') {
      const before = found[at - 1]
      const isEmpty = before === '{' || before === '['
      if (!isEmpty) depth--
      out.push(isEmpty ? '' : line(), token)
    } else out.push(token, token === ',' ? line() : token === ':' ? ' ' : '')
  })
  return out.join('')
}

/** The members of a JSON object; null for any other text. */
export const membersIn = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
