import type { Usage } from '../../events/content.js'
import type { Json } from '../remainder.js'
import { blockOf, blocksOf, type Spoken } from './blocks.js'
import { saidUsage } from './usage.js'

/**
 * The members of a line that its event tells: what a writer makes of the event alone. The reader keeps in `extra` what a
 * line holds beside them, so both agree by construction.
 */

/** Content as a line has it. */
const saidContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part) => blockOf(part as Json)) : content

/** A `user` line: the payloads of its results, and of what the user says in it (null: nothing). */
export const saidUser = (results: readonly Json[], prompt: Json | null): Json => {
  const text = prompt === null ? [] : saidContent(prompt.content)
  const content = results.length === 0 ? text : [...results.map(saidResult), ...(text as unknown[])]
  return { type: 'user', message: { role: 'user', content } }
}

const saidResult = ({ toolCallId: id, content, ok }: Json): Json => ({
  type: 'tool_result',
  ...(id === undefined ? {} : { tool_use_id: id }),
  ...(content === null ? {} : { content: saidContent(content) }),
  ...(ok === undefined ? {} : { is_error: ok === false }),
})

/** An `assistant` line. */
export const saidAssistant = (payload: Json): Json => ({
  type: 'assistant',
  message: {
    type: 'message',
    role: 'assistant',
    content: blocksOf(payload as unknown as Spoken),
    stop_reason: payload.stop ?? null,
    stop_sequence: null,
    ...(payload.group === undefined ? {} : { id: payload.group }),
    ...(payload.model === undefined ? {} : { model: payload.model }),
    ...(payload.usage === undefined ? {} : { usage: saidUsage(payload.usage as Usage) }),
  },
})

/** The line that holds a compaction's summary. */
export const saidSummary = (summary: unknown): Json => ({
  type: 'user',
  isCompactSummary: true,
  isVisibleInTranscriptOnly: true,
  message: { role: 'user', content: saidContent(summary) },
})

/** A line that titles the session: the user's title, or one that the model gave. */
export const saidTitle = (title: unknown, isUsers: boolean): Json =>
  isUsers ? { type: 'custom-title', customTitle: title } : { type: 'ai-title', aiTitle: title }
