import type { Piece } from '../model/entry.js'
import { bytes, plural } from '../model/quantity.js'
import { fenced, neutral, quoted, words } from './neutral.js'

/** Longer blocks fold. */
const mostLines = 16
const mostChars = 1600

export const pieces = (list: readonly Piece[]): string => list.map((piece) => `${block(piece)}\n\n`).join('')

const block = (piece: Piece): string => {
  if (piece.kind === 'repeat')
    return `*The same text as in ${piece.of.slice(0, 8)} (${plural(piece.chars, 'character')}).*`
  if (piece.kind === 'image')
    return `*[${words(piece.alt)}, ${piece.media}, ${bytes(Math.floor((piece.data.length * 3) / 4))}: images are in the HTML report]*`
  return text(piece)
}

const text = ({ kind, text, lang, label }: Extract<Piece, { readonly text: string }>): string => {
  if (kind === 'prose') return neutral(text)
  if (kind === 'plain' && label === undefined) return quoted(neutral(text))
  if (kind === 'refusal') return `**Refused:** ${neutral(text)}`
  if (kind === 'reasoning')
    return details(`Reasoning, ${plural(text.split(/\s+/).length, 'word')}`, quoted(neutral(text)))
  return folded(fenced(text, languages[kind] ?? lang ?? ''), text, label ?? names[kind] ?? 'Text')
}

const languages: Readonly<Record<string, string>> = { diff: 'diff', json: 'json', command: 'sh' }
const names: Readonly<Record<string, string>> = {
  diff: 'Diff',
  json: 'JSON',
  command: 'Command',
  code: 'Code',
  output: 'Output',
}

const folded = (code: string, text: string, name: string): string => {
  const lines = text.split('\n').length
  return lines > mostLines || text.length > mostChars
    ? details(`${name}, ${plural(lines, 'line')}, ${bytes(Buffer.byteLength(text))}`, code)
    : code
}

/** A block that GitHub folds; the blank lines let it read what is inside as Markdown. */
export const details = (summary: string, inside: string): string =>
  `<details><summary>${summary.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)}</summary>\n\n${inside}\n\n</details>`
