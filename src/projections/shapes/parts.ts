import type { ContextMessage } from '../context-repair.js'
import { type Members, recordOf, stringOf } from '../members.js'

/** A part of a resolved content: text, media, or something that only words can name. */
export type ResolvedPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image' | 'audio' | 'document'
      readonly media: string
      readonly data: string | null
      readonly url: string | null
      readonly alt: string | null
    }

const mediaKinds = new Set<unknown>(['image', 'audio', 'document'])

/** The parts of a content, in order; texts without a character of their own are left out. */
const resolvedParts = (content: unknown, depth = 4): readonly ResolvedPart[] => {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ kind: 'text', text: content }]
  if (depth === 0) return []
  if (Array.isArray(content)) return content.flatMap((item) => resolvedParts(item, depth - 1))
  const part = recordOf(content)
  if (part === null) return []
  if (mediaKinds.has(part.type)) return [mediaPart(part)]
  // A blob of `json` may have held parts.
  if (part.text !== undefined) return resolvedParts(part.text, depth - 1)
  return [{ kind: 'text', text: `[${stringOf(part.type) ?? 'content that could not be read'}]` }]
}

const defaults = { image: 'image/png', audio: 'audio/wav', document: 'application/pdf' } as const

const mediaPart = (part: Members): ResolvedPart => {
  const kind = part.type as keyof typeof defaults
  return {
    kind,
    media: stringOf(part.media) ?? defaults[kind],
    data: stringOf(part.data),
    url: stringOf(part.url),
    alt: stringOf(part.alt),
  }
}

/** A part in words, where only text may stand. */
export const inWords = (part: ResolvedPart): string =>
  part.kind === 'text' ? part.text : `[${part.kind}${part.alt === null ? '' : `: ${part.alt}`}]`

export const summaryLine = 'Summary of the conversation so far:'

/** The parts of a message; a summary under a line that says so. */
export const partsOf = ({ content, summary }: ContextMessage): readonly ResolvedPart[] => {
  const parts = resolvedParts(content)
  if (summary !== true || parts.length === 0) return parts
  const [first, ...rest] = parts
  return first?.kind === 'text'
    ? [{ kind: 'text', text: `${summaryLine}\n\n${first.text}` }, ...rest]
    : [{ kind: 'text', text: summaryLine }, ...parts]
}

/** A content as one text. */
export const wordsOf = (message: ContextMessage): string => partsOf(message).map(inWords).join('\n')

/** A refusal, or any other text that may be missing. */
export const textOr = (value: unknown, fallback: string): string => stringOf(value) ?? fallback
