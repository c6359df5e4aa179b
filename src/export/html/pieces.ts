import type { Piece } from '../model/entry.js'
import { bytes, plural } from '../model/quantity.js'
import { baseOf, deltaOf } from './delta.js'
import { diff } from './diff.js'
import { escaped, escapedJson, preText, shown, textOfMarkup } from './escape.js'
import { colouring } from './highlight.js'
import { prose } from './prose.js'

/** Longer blocks fold: a few lines of them are seen, the rest is one click away. */
const foldedLines = 16
const foldedChars = 2400
/** Prose is read, so it folds later. */
const proseLines = 120
const proseChars = 12_000

export const pieces = (list: readonly Piece[]): string => list.map(piece).join('')

const piece = (item: Piece): string => {
  if (item.kind === 'repeat') return repeat(item)
  if (item.kind === 'image')
    return `<img class="im" src="data:${item.media};base64,${item.data}" alt="${escaped(item.alt)}" loading="lazy">`
  return renderers[item.kind](item)
}

type TextPiece = Extract<Piece, { readonly text: string }>

const repeat = ({ of, chars, label }: Extract<Piece, { readonly kind: 'repeat' }>): string =>
  `<p class="rp"><a href="#${of}">The same ${label === undefined ? 'text' : escaped(label)} as in ${of.slice(0, 8)}</a> (${plural(chars, 'character')})</p>`

const rawOf = (markup: string, raw: string): string => {
  const base = textOfMarkup(markup)
  return base === raw ? '' : ` data-raw='${escapedJson(deltaOf(baseOf(base), raw))}'`
}

const renderers: Readonly<Record<TextPiece['kind'], (piece: TextPiece) => string>> = {
  prose: ({ text, label }) => {
    const html = prose(text)
    return folded({ text, label: label ?? 'Text' }, `<div class="md"${rawOf(html, text)}>${html}</div>`, true)
  },
  plain: ({ text, label }) =>
    folded({ text, label }, `<div class="tx">${shown(text)}</div>`, label === undefined, label !== undefined),
  output: ({ text, label, raw }) => {
    const markup = shown(text)
    const written = raw === undefined ? '' : rawOf(markup, raw)
    return folded({ text, label: label ?? 'Output' }, `<div class="tx ou"${written}>${markup}</div>`)
  },
  reasoning: ({ text }) =>
    `<details class="th"><summary>Reasoning <small>${plural(text.split(/\s+/).length, 'word')}</small></summary><div class="tx">${shown(text)}</div></details>`,
  refusal: ({ text }) => `<div class="tx rf"><strong>Refused: </strong>${shown(text)}</div>`,
  command: ({ text, lang }) => folded({ text, label: 'Command' }, pre('cm', text, lang)),
  diff: ({ text, label }) => folded({ text, label: label ?? 'Diff' }, `<pre class="df">${diff(text)}</pre>`),
  json: ({ text, raw, label }) =>
    label === undefined
      ? folded({ text, label: 'JSON' }, pre('js', text, 'json', raw))
      : `<details class="fo sh"><summary>${shown(label)}</summary>${pre('js', text, 'json', raw)}</details>`,
  code: ({ text, lang, label }) =>
    folded({ text, label: label ?? lang ?? 'Code' }, pre('co', text, lang), false, label !== undefined),
}

const pre = (name: string, text: string, lang: string | undefined, raw?: string): string => {
  const colours = colouring(text, lang)
  const markup = preText(text)
  return `<pre class="${name}"${colours === '' ? '' : ` data-h="${colours}"`}${raw === undefined ? '' : rawOf(markup, raw)}>${markup}</pre>`
}

/** A block that is long, or that has a name of its own, in a fold. */
const folded = (
  { text, label = 'Text' }: { readonly text: string; readonly label?: string | undefined },
  block: string,
  isProse = false,
  isNamed = false,
): string => {
  const lines = countLines(text)
  const isLong = isProse
    ? lines > proseLines || text.length > proseChars
    : lines > foldedLines || text.length > foldedChars
  if (!isLong && !isNamed) return block
  const size = isLong ? ` <small>${plural(lines, 'line')} · ${bytes(Buffer.byteLength(text))}</small>` : ''
  const summary = `<summary>${shown(label)}${size}</summary>`
  // What scrolls must be reached by the keyboard.
  const reached = isLong && !isProse ? block.replace(/^<\w+/, '$& tabindex="0"') : block
  return `<details class="fo"${isLong ? '' : ' open'}>${summary}${reached}</details>`
}

const countLines = (text: string): number => {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1))
    lines++
  return lines
}
