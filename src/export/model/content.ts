import type { Event } from '../../events/event.js'
import { listOf, type Members, recordOf, stringOf } from '../../projections/members.js'
import { isDiff } from '../layout/edit-diff.js'
import { onOneLine } from '../layout/json.js'
import { layOutOutput } from '../layout/output-layout.js'
import { visible } from '../visible.js'
import type { Piece, TextKind } from './entry.js'
import { rasterType } from './images.js'

/** The pieces of a resolved content: texts as `kind`, images shown, other media and unknown parts named and laid out. */
export const contentPieces = (content: unknown, kind: TextKind, depth = 4): readonly Piece[] => {
  if (typeof content === 'string') return content.trim() === '' ? [] : [textPiece(content, kind)]
  if (content === null || content === undefined || depth === 0) return []
  if (Array.isArray(content)) return content.flatMap((part) => contentPieces(part, kind, depth - 1))
  const part = recordOf(content)
  if (part === null) return [json(content)]
  const type = stringOf(part.type)
  if (type === 'image' || type === 'audio' || type === 'document') return [mediaPiece(type, part)]
  if ((type === 'text' || type === null) && part.text !== undefined)
    return contentPieces(part.text, kind, depth - 1)
  return [json(part, type ?? undefined)]
}

const textPiece = (text: string, kind: TextKind): Piece => {
  if (kind === 'output') return layOutOutput(text)
  return { kind: kind === 'plain' && isDiff(text) ? 'diff' : kind, text: visible(text) }
}

/** Any value as JSON, for what has no place of its own. */
export const json = (value: unknown, label?: string): Piece => ({
  kind: 'json',
  text: visible(onOneLine(JSON.stringify(value, null, 2) ?? 'null')),
  ...(label === undefined ? {} : { label: visible(label) }),
})

const mediaPiece = (type: string, part: Members): Piece => {
  const alt = visible(stringOf(part.alt) ?? '')
  const data = stringOf(part.data)
  const media = type === 'image' && data !== null ? rasterType(data) : null
  if (media !== null && data !== null) return { kind: 'image', media, data, alt: alt || 'image' }
  const words = [
    type,
    alt,
    stringOf(part.media) ?? '',
    data === null ? '' : `${data.length} characters of base64`,
  ]
  const url = stringOf(part.url)
  const said = `[${words.filter((word) => word !== '').join(', ')}]`
  if (type === 'image' && data !== null && /svg/i.test(stringOf(part.media) ?? ''))
    return svgAsText(data, said)
  return { kind: 'plain', text: visible(url === null ? said : `${said} ${url}`) }
}

/** An SVG can hold programs and load things: its source is shown. */
const svgAsText = (data: string, said: string): Piece => {
  const text = Buffer.from(data, 'base64').toString()
  return { kind: 'code', text: visible(/^\s*</.test(text) ? text : data), lang: 'xml', label: visible(said) }
}

/** What a model thought, as far as it says so. */
export const reasoningPieces = (reasoning: unknown): readonly Piece[] => {
  const texts = Array.isArray(reasoning)
    ? listOf(reasoning).map((item) => recordOf(item)?.text ?? item)
    : [reasoning]
  const text = texts.filter((item) => typeof item === 'string' && item.trim() !== '').join('\n\n')
  return text === '' ? [] : [{ kind: 'reasoning', text: visible(text) }]
}

/** Payload members that no entry shows: for people they say nothing, and some are large. */
const unspoken: ReadonlySet<string> = new Set([
  'id',
  'parent',
  'at',
  'type',
  'note',
  'origin',
  'replay',
  'body',
  'redacted',
])

/** All that an event of an unknown type says. */
export const payloadPiece = (event: Event): Piece =>
  json(Object.fromEntries(Object.entries(event).filter(([name]) => !unspoken.has(name))))
