import type { EventItem } from '../../src/formats/format.js'
import { saidContent } from '../../src/formats/pi/blocks.js'
import { saidEnvelope } from '../../src/formats/pi/entry.js'
import { saidMessage } from '../../src/formats/pi/message.js'
import { type Json, reunite } from '../../src/formats/remainder.js'
import { payloadOf } from './check-items.js'

/** The entry that an event came from, from the event alone: what a writer will do. `idOf` as `payloadOf` has it. */
export const piRecord = (item: EventItem, keyOf: (id: unknown) => string): Json => {
  const payload = payloadOf(item)
  const extra = item.extra as Json | undefined
  const envelope = saidEnvelope(item.key, item.parent, item.at)
  switch (item.type) {
    case 'message':
      return reunite(extra, { type: 'message', ...envelope, message: saidMessage(payload, item.at) })
    case 'compaction': {
      const { summary, tokensBefore } = payload
      return reunite(extra, { type: 'compaction', ...envelope, summary, tokensBefore })
    }
    case 'edit': {
      if (item.key.includes('#')) return extra ?? {}
      const { target, replacement } = payload
      const told = replacement === null ? null : { content: saidContent(replacement) }
      return reunite(extra, { type: 'context_edit', ...envelope, targetId: keyOf(target), replacement: told })
    }
    case 'label':
      return reunite(extra, {
        type: 'label',
        ...envelope,
        targetId: keyOf(payload.target),
        label: payload.label ?? undefined,
      })
    case 'title':
      return reunite(extra, { type: 'session_info', ...envelope, name: payload.title })
    case 'usage':
      return reunite(extra, { type: 'usage', ...envelope, kind: payload.for, model: payload.model })
    default:
      return customRecord(payload, envelope)
  }
}

const customRecord = (payload: Record<string, unknown>, envelope: Json): Json => {
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
