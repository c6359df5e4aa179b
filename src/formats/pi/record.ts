import { type Json, reunite } from '../remainder.js'
import { saidContent } from './blocks.js'
import { saidMessage } from './message.js'

/** An event that an entry became, as far as the entry is told by it. */
export interface Recorded {
  readonly type: string
  /** The event's own members, without `origin`. */
  readonly payload: Json
  /** What the reader kept of the entry beside them. */
  readonly extra: Json | undefined
  readonly at: string
  /** An edit that stands for an entry whose id stood before: the whole of it is in `extra`. */
  readonly isRepeated: boolean
}

/**
 * The entry that an event came from, member by member: what the reader left out of `extra`, and `extra`. `envelope` is
 * its place in the file (`saidEnvelope`), `keyOf` the id of the entry that an event stands for.
 */
export const recordOf = (from: Recorded, envelope: Json, keyOf: (event: unknown) => unknown): Json => {
  const { type, payload, extra, at } = from
  switch (type) {
    case 'message':
      return reunite(extra, { type: 'message', ...envelope, message: saidMessage(payload, at) })
    case 'compaction': {
      const { summary, tokensBefore } = payload
      return reunite(extra, { type: 'compaction', ...envelope, summary, tokensBefore })
    }
    case 'edit': {
      if (from.isRepeated) return extra ?? {}
      const { target, replacement } = payload
      const told = replacement === null ? null : { content: saidContent(replacement) }
      return reunite(extra, { type: 'context_edit', ...envelope, targetId: keyOf(target), replacement: told })
    }
    case 'label': {
      const { target, label } = payload
      return reunite(extra, {
        type: 'label',
        ...envelope,
        targetId: keyOf(target),
        label: label ?? undefined,
      })
    }
    case 'title':
      return reunite(extra, { type: 'session_info', ...envelope, name: payload.title })
    case 'usage':
      return reunite(extra, { type: 'usage', ...envelope, kind: payload.for, model: payload.model })
    default:
      return customRecord(payload, envelope)
  }
}

/** Entries of Pi's own are in `data`, but for what the model reads of them. */
const customRecord = (payload: Json, envelope: Json): Json => {
  const [, kind = '', role] = String(payload.name).split(':')
  const data = payload.data as Json
  if (kind === 'repeated') return data
  const { content } = payload
  const speech: Json =
    content === undefined || role === 'bashExecution'
      ? {}
      : kind === 'custom_message' || role === 'custom' || role === 'hookMessage'
        ? { content: saidContent(content) }
        : { summary: content }
  const said =
    role === undefined ? speech : { message: content === undefined ? undefined : { role, ...speech } }
  return reunite(data, { type: kind, ...envelope, ...said })
}
