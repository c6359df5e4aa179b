/**
 * Markdown as it was written, but that no tag of HTML in it is one: a report that is pasted somewhere must not run, load,
 * or end a block of ours. Code is left alone: nothing in it is a tag.
 */
export const neutral = (text: string): string => {
  const out: string[] = []
  let fence: string | null = null
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line)
    if (fence === null && mark !== null && !(mark[1]?.startsWith('`') && mark[2]?.includes('`'))) {
      fence = mark[1] ?? null
      out.push(line)
    } else if (fence !== null) {
      const isEnd = mark !== null && mark[1]?.[0] === fence[0] && (mark[1]?.length ?? 0) >= fence.length
      if (isEnd && mark?.[2]?.trim() === '') fence = null
      out.push(line)
    } else out.push(withoutTags(line))
  }
  // A fence that was never closed would take in all that follows.
  if (fence !== null) out.push(fence)
  return out.join('\n')
}

/** A span of code, the beginning of a tag, of an image, or of a link to a program. */
const active =
  /(`+)(?:(?!\1)[\s\S])*?[^`]\1(?!`)|<(?=[a-z/!?])|!\[|\](?=[:(]\s*<?\s*(?:javascript|vbscript|data):)/gi

const withoutTags = (line: string): string =>
  line.replace(active, (found) => {
    if (found === '<') return '&lt;'
    return found === '![' || found === ']' ? `\\${found}` : found
  })

/** A text as code: its fence is longer than any in it. */
export const fenced = (text: string, lang = ''): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${lang}\n${text}\n${fence}`
}

/** A text as a quotation. */
export const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')

/** A few words, where no markup is wanted. */
export const words = (text: string): string =>
  text.replace(/[\\`*_[\]<>#|~]/g, (char) => (char === '<' ? '&lt;' : `\\${char}`))
