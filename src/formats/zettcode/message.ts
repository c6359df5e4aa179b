import type { Part, ToolCall, Usage } from '../../events/content.js'
import { isFiniteNumber } from '../members.js'
import { isObject, type Json, remainder, sameJson } from '../remainder.js'
import { normalTime } from '../time.js'

/** Kinds of the envelope. A checkpoint among messages and an agent's instruction reach the model as the user's words. */
const roles: Readonly<Record<number, 'system' | 'user' | 'assistant' | 'tool'>> = {
  1: 'system',
  2: 'user',
  3: 'assistant',
  4: 'tool',
  5: 'user',
  6: 'user',
}
const kindOfRole: Readonly<Record<string, number>> = { system: 1, user: 2, assistant: 3, tool: 4 }

export interface Mapped {
  readonly payload: Record<string, unknown>
  readonly extra: Json | undefined
}

/** Where a record stands. */
export interface Place {
  readonly key: string
  readonly session: string
  /** The key of the message above. */
  readonly parent: string | null
}

/** What the message itself says of a `message` record; null where its envelope has a form that is not known. */
export const messageOf = (record: Json, place: Place): Mapped | null => {
  const envelope = Array.isArray(record.message) ? record.message[0] : undefined
  if (!isObject(envelope) || !isObject(envelope.data)) return null
  const role = roles[envelope.kind as number]
  const { data } = envelope
  if (role === undefined || !isContent(data.content)) return null
  const isAside = isObject(record.tags) && record.tags.side === true
  const isHidden = envelope.kind === 1 || envelope.kind === 6
  const usage = usageOf(record.usage)
  const timing = timingOf(record.timing)
  const payload = {
    role,
    content: contentOf(data.content),
    ...(role === 'assistant' ? spokenOf(data) : {}),
    ...(role === 'tool' ? resultOf(data) : {}),
    ...(usage === undefined ? {} : { usage }),
    ...(timing === undefined ? {} : { timing }),
    ...(isHidden ? { visible: false } : {}),
    ...(data.include_in_messages === false ? { context: false } : {}),
    ...(isAside ? { aside: true } : {}),
  }
  // A list of one, as it always is, is compared as its envelope, so that `extra` holds only what is left of that.
  const message = (record.message as readonly unknown[]).length === 1 ? envelope : record.message
  return { payload, extra: remainder({ ...record, message }, saidMessage(payload, place)) }
}

/** The record that a payload makes, its envelope not in a list yet; all times, and the turn's id, come from elsewhere. */
export const saidMessage = (payload: Json, { key, session, parent }: Place): Json => ({
  kind: 'message',
  id: key,
  parent,
  session_id: session,
  message: { kind: kindOfRole[payload.role as string], data: saidData(payload) },
  metadata: {},
  tags: payload.aside === true ? { side: true } : {},
  usage: payload.usage === undefined ? null : saidUsage(payload.usage as Usage),
})

const saidData = (payload: Json): Json => ({
  attributes: payload.aside === true ? { side: true } : {},
  persist: true,
  include_in_messages: payload.context !== false,
  content: saidContent(payload.content),
  ...(payload.role === 'assistant'
    ? {
        reasoning: payload.reasoning ?? null,
        tool_calls: ((payload.toolCalls ?? []) as readonly ToolCall[]).map(
          ({ id, name, arguments: text }) => ({ id, name, arguments: argumentsOf(text as string) }),
        ),
        provider: payload.provider ?? null,
        model: payload.model ?? null,
        replay_blocks: payload.replay ?? [],
      }
    : {}),
  ...(payload.role === 'tool' ? { tool_call_id: payload.toolCallId, success: payload.ok } : {}),
})

const argumentsOf = (text: string): unknown => (text === '' ? undefined : (JSON.parse(text) as unknown))

const isContent = (content: unknown): boolean =>
  content === null || typeof content === 'string' || Array.isArray(content)

const contentOf = (content: unknown): string | null | Part[] =>
  Array.isArray(content) ? content.map(partOf) : (content as string | null)

const partOf = (part: unknown): Part => {
  if (!isObject(part)) return { type: 'part', part } as Part
  const { text, source } = part
  if (typeof text === 'string' && Object.keys(part).length === 1) return { type: 'text', text }
  const media = isObject(source) ? source.media_type : undefined
  const bytes = isObject(source) && isObject(source.data) ? source.data.__kcs_bytes__ : undefined
  const rest = Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'source'))
  const type =
    typeof media !== 'string' || media.startsWith('image/')
      ? 'image'
      : media.startsWith('audio/')
        ? 'audio'
        : 'document'
  if (typeof media === 'string' && typeof bytes === 'string')
    return { type, media, data: bytes, ...rest } as Part
  if (isObject(source) && typeof source.url === 'string' && Object.keys(source).length === 1)
    return { type: 'image', url: source.url, ...rest } as Part
  return { type: 'part', part } as Part
}

const saidContent = (content: unknown): unknown =>
  Array.isArray(content)
    ? (content as Json[]).map(({ type, text, media, data, url, part, ...rest }) => {
        if (type === 'part') return part
        if (type === 'text') return { text }
        return {
          source: url === undefined ? { data: { __kcs_bytes__: data }, media_type: media } : { url },
          ...rest,
        }
      })
    : content

const spokenOf = (data: Json): Json => {
  const { reasoning, tool_calls: given, provider, model, replay_blocks: replay } = data
  const calls = (Array.isArray(given) ? given : [])
    .filter(isObject)
    .map(({ id, name, arguments: input }) => ({
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      arguments: JSON.stringify(input) ?? '',
    }))
  return {
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(Array.isArray(replay) && replay.length > 0 ? { replay } : {}),
  }
}

const resultOf = ({ tool_call_id: id, success }: Json): Json => ({
  ...(typeof id === 'string' ? { toolCallId: id } : {}),
  ...(typeof success === 'boolean' ? { ok: success } : {}),
})

const usageNames = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_tokens',
  cacheWrite: 'cache_write_tokens',
  reasoning: 'reasoning_tokens',
} as const

const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const found = Object.entries(usageNames).flatMap(([ours, theirs]) =>
    isFiniteNumber(given[theirs]) ? [[ours, given[theirs]] as const] : [],
  )
  const usage = Object.fromEntries(found) as Partial<Usage>
  return usage.input === undefined || usage.output === undefined ? undefined : (usage as Usage)
}

const saidUsage = (usage: Usage): Json =>
  Object.fromEntries(
    Object.entries(usage).map(([ours, value]) => [usageNames[ours as keyof typeof usageNames], value]),
  )

/** Milliseconds; the nanoseconds and microseconds of the source stand in `extra`. */
const timingOf = (given: unknown): Json | undefined => {
  if (!isObject(given)) return undefined
  const startedAt = normalTime(given.started_at)
  const completedAt = normalTime(given.completed_at)
  const duration = given.duration_ns
  const reasoning = given.reasoning_duration_ns
  const first = [given.reasoning_started_at, given.content_started_at]
    .map(normalTime)
    .filter((at) => at !== null)
    .sort()[0]
  const timing = {
    ...(startedAt === null ? {} : { startedAt }),
    ...(completedAt === null ? {} : { completedAt }),
    ...(isFiniteNumber(duration) ? { durationMs: duration / 1e6 } : {}),
    ...(first === undefined || startedAt === null
      ? {}
      : { firstTokenMs: Date.parse(first) - Date.parse(startedAt) }),
    ...(isFiniteNumber(reasoning) ? { reasoningMs: reasoning / 1e6 } : {}),
  }
  return sameJson(timing, {}) ? undefined : timing
}
