import type { Usage } from '../../events/content.js'
import { isObject, type Json, reunite } from '../remainder.js'
import { wordsOf } from './content.js'
import { saidItem, saidType } from './item.js'
import { saidUsage } from './usage.js'

/** An event that a line became, as far as the line is told by it. */
export interface Recorded {
  /** `origin.id`: the kind of line, and its hash. */
  readonly key: string
  readonly type: string
  /** The event's own members, without `origin`. */
  readonly payload: Json
  /** What the reader kept of the line beside them; of a `custom` event it is `data`. */
  readonly extra: Json | undefined
  readonly at: string
}

/** The kind of a line by the key of its event: `event_msg:token_count`. */
export const kindIn = ({ key, type, payload }: Pick<Recorded, 'key' | 'type' | 'payload'>): string =>
  type === 'custom' ? String(payload.name).slice('codex:'.length) : (key.split('#')[0] ?? '')

/** The line that an event came from, member by member. `isBare`: its file is from before lines had envelopes. */
export const recordOf = (from: Recorded, isBare: boolean): Json => {
  const { type, payload, at } = from
  const isCustom = type === 'custom'
  const [line = '', ...details] = kindIn(from).split(':')
  const extra = (isCustom ? payload.data : from.extra) as Json | undefined
  const inner = isBare ? extra : isObject(extra?.payload) ? extra.payload : undefined
  const told = isCustom
    ? customSaid(payload, details.join(':'))
    : said(type, payload, details.join(':'), inner?.type as string | undefined)
  return reunite(extra, isBare ? told : { timestamp: at, type: line, payload: told })
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
