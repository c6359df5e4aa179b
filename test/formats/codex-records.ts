import type { Usage } from '../../src/events/content.js'
import { wordsOf } from '../../src/formats/codex/content.js'
import { saidItem, saidType } from '../../src/formats/codex/item.js'
import { saidUsage } from '../../src/formats/codex/usage.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import { isObject, type Json, reunite } from '../../src/formats/remainder.js'
import { payloadOf } from './check-items.js'

/** The line that an event came from, from the event alone: what a writer will do. */
export const codexRecord = (item: EventItem, items: readonly Item[]): Json => {
  const [begun] = items
  const isBare = begun?.kind === 'session' && (begun.agent as Json).records === 'bare'
  const payload = payloadOf(item)
  const isCustom = item.type === 'custom'
  const kind = isCustom ? String(payload.name).slice('codex:'.length) : (item.key.split('#')[0] ?? '')
  const [type = '', ...details] = kind.split(':')
  const extra = (isCustom ? payload.data : item.extra) as Json | undefined
  const inner = isBare ? extra : isObject(extra?.payload) ? extra.payload : undefined
  const told = isCustom
    ? customSaid(payload, details.join(':'))
    : said(item.type, payload, details.join(':'), inner?.type as string | undefined)
  return reunite(extra, isBare ? told : { timestamp: item.at, type, payload: told })
}

const customSaid = ({ content }: Json, detail: string): Json => {
  if (content !== undefined) return { message: typeof content === 'string' ? content : undefined }
  return detail === '' ? {} : { type: detail }
}

const said = (type: string, payload: Json, detail: string, given: string | undefined): Json => {
  if (type === 'request') return { ...(payload.params as Json), model: payload.model }
  if (type === 'title') return { type: detail, thread_name: payload.title }
  if (type === 'compaction') {
    const { summary } = payload
    return { message: typeof summary === 'string' ? summary : undefined }
  }
  const usage = payload.usage as Usage
  if (detail === 'token_count') return { type: detail, info: { last_token_usage: saidUsage(usage) } }
  if (detail === 'turn.completed') return { type: detail, usage: saidUsage(usage) }
  if (detail === 'user_message') return { type: detail, message: firstWords(payload.content) }
  return saidItem(payload, given ?? saidType(payload))
}

const firstWords = (content: unknown): string =>
  wordsOf(Array.isArray(content) ? content.slice(0, 1) : content)
