import { isObject } from '../remainder.js'
import type { Shape } from '../write/branches.js'
import { originIn } from '../write/own.js'
import { newLine } from '../write/whole.js'
import { add, type Making, type Scribe } from './write-lines.js'

/** What stands at the end of a transcript: its title, and which of its branches goes on. */

export interface Tail {
  /** The `uuid` at which the current branch ends; null where nothing was said. */
  readonly end: string | null
  /** The file stands as Claude Code left it. */
  readonly isAsLeft: boolean
  readonly hasOwn: boolean
}

export const tailLines = (scribe: Scribe, shape: Shape, tail: Tail): readonly Making[] => [
  ...titleLines(scribe),
  ...leafLines(scribe, shape, tail),
]

/** The title, unless the file says it already. */
const titleLines = ({ session, repeated, format, losses }: Scribe): readonly Making[] => {
  const { title, events } = session
  const last = events.findLast(({ type, redacted }) => type === 'title' && redacted !== true)
  const isSaid = last !== undefined && last.title === title && originIn(last, format) !== null
  if (title === null || isSaid) return []
  return [
    async () => {
      const { customTitle } = await session.resolve({ customTitle: title })
      return newLine(
        { type: 'custom-title', customTitle, sessionId: repeated.sessionId },
        losses,
        `${session.id}#title`,
      )
    },
  ]
}

/**
 * Claude Code goes on at the last line below the leaf that the last `last-prompt` names; versions before that was there,
 * at the last line of the file. Where the conversation stands elsewhere, a line that says nothing is put there, last.
 */
const leafLines = (scribe: Scribe, shape: Shape, { end, isAsLeft, hasOwn }: Tail): readonly Making[] => {
  const lastLine = [...scribe.placed.keys()].at(-1)
  if (isAsLeft || lastLine === undefined) return []
  const isLast = end === lastLine
  if (isLast && !hasOwn) return []
  const before = scribe.lines.length
  const leaf = isLast ? lastLine : standLine(scribe, shape, end)
  return [...scribe.lines.splice(before), leafLine(scribe, shape, leaf)]
}

const standLine = (scribe: Scribe, { current, tree }: Shape, end: string | null): string =>
  add(scribe, `${tree.head}#stand`, current.path.at(-1)?.at ?? '', end, async () => ({
    type: 'system',
    subtype: 'informational',
    content: 'The conversation goes on from here.',
    isMeta: false,
    level: 'info',
  }))

const leafLine =
  ({ session, repeated, losses }: Scribe, { current }: Shape, leafUuid: string): Making =>
  async () => {
    const prompt = current.path.findLast(
      ({ type, role, visible }) => type === 'message' && role === 'user' && visible !== false,
    )
    const { content } = await session.resolve({ content: prompt?.content })
    const lastPrompt = [...wordsOf(content).slice(0, 400)].slice(0, 200).join('')
    const key = prompt?.id ?? session.id
    return newLine({ type: 'last-prompt', lastPrompt, leafUuid, sessionId: repeated.sessionId }, losses, key)
  }

const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content
          .map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
          .join('')
      : ''
