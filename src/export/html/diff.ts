import { shown } from './escape.js'

type LineKind = 'ins' | 'del' | 'i' | 'b' | ''

/** A unified diff (or a patch in the shape of Codex) with its lines marked: the text stays a diff, signs and all. */
export const diff = (text: string): string => {
  const out: string[] = []
  let run: string[] = []
  let kind: LineKind = ''
  const flush = (isLast: boolean): void => {
    if (run.length === 0) return
    const lines = shown(run.join('\n'))
    const end = isLast ? '' : '\n'
    // A marked run is a block of its own, whose last newline must stand within it.
    out.push(kind === '' ? lines + end : `<${kind}>${lines}${end}</${kind}>`)
    run = []
  }
  for (const line of text.split('\n')) {
    const next = kindOf(line)
    if (next !== kind) flush(false)
    kind = next
    run.push(line)
  }
  flush(true)
  const html = out.join('')
  return html.startsWith('\n') ? `\n${html}` : html
}

const kindOf = (line: string): LineKind => {
  if (
    /^(diff --git |index [0-9a-f]|--- |\+\+\+ |new file |deleted file |old mode |new mode |Index: |\*\*\* )/.test(
      line,
    )
  )
    return 'b'
  if (line.startsWith('@@')) return 'i'
  if (line.startsWith('+')) return 'ins'
  return line.startsWith('-') ? 'del' : ''
}
