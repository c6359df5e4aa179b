import type { Piece } from '../model/entry.js'
import { visible } from '../visible.js'
import { isDiff } from './edit-diff.js'
import { membersIn, onOneLine, prettyJson } from './json.js'

/**
 * A tool's output as a person reads it: a diff as one, what a command printed as it was printed, even where it stands in
 * JSON, other JSON laid out.
 */
export const layOutOutput = (text: string): Piece => {
  if (isDiff(text)) return { kind: 'diff', text: visible(text) }
  const json = text.length > 2_000_000 ? null : prettyJson(text)
  if (json === null) return { kind: 'output', text: visible(text) }
  const raw = visible(text)
  const printed = printedIn(text)
  if (printed !== null) return { kind: 'output', text: visible(printed), raw }
  const shown = visible(json)
  return shown === raw ? { kind: 'json', text: shown } : { kind: 'json', text: shown, raw }
}

/** `{"output": "what was printed", …}`: the text, and below it the other members; null for any other JSON. */
const printedIn = (text: string): string | null => {
  const { output, ...rest } = membersIn(text) ?? {}
  if (typeof output !== 'string' || output.trim() === '') return null
  const members = Object.keys(rest).length === 0 ? '' : `\n\n${onOneLine(JSON.stringify(rest, null, 2))}`
  return `${output.replace(/\n+$/, '')}${members}`
}
