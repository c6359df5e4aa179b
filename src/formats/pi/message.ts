import type { Usage } from '../../events/content.js'
import { countIn, objectIn, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { contentOf, type Spoken, saidBlocks, saidContent, spokenOf } from './blocks.js'

/** A message of one of the roles that every tool knows. */
export interface Mapped {
  readonly payload: Json
  readonly calls: readonly string[]
  readonly results: readonly string[]
  readonly isTurn: boolean
}

/** The payload of a `message` entry; null for roles that are Pi's own, and for what cannot be read. `at`: the entry's time. */
export const messageOf = (message: Json, key: string, at: string): Mapped | null => {
  const { role, content } = message
  const isReadable = typeof content === 'string' || Array.isArray(content)
  if (!isReadable) return null
  if (role === 'user' || role === 'system') {
    const hidden = role === 'system' ? { visible: false } : {}
    const payload = { role, content: contentOf(content), ...hidden }
    return { payload, calls: [], results: [], isTurn: role === 'user' }
  }
  if (role === 'assistant') return assistantOf(message, key, at)
  if (role !== 'toolResult') return null
  const id = textIn(message, 'toolCallId')
  const failed = message.isError
  const payload = {
    role: 'tool',
    content: contentOf(content),
    ...(id === null ? {} : { toolCallId: id }),
    ...(typeof failed === 'boolean' ? { ok: !failed } : {}),
  }
  return { payload, calls: [], results: id === null ? [] : [id], isTurn: false }
}

/** Pi itself leaves a reply that broke off out of what it sends. */
const broken = new Set(['error', 'aborted'])

const assistantOf = (message: Json, key: string, at: string): Mapped => {
  const spoken = spokenOf(message.content, key)
  const model = textIn(message, 'model')
  const provider = textIn(message, 'provider')
  const stop = textIn(message, 'stopReason')
  const usage = usageOf(message.usage)
  const timing = timingOf(message.timestamp, at)
  const payload = {
    role: 'assistant',
    ...spoken,
    ...(model === null ? {} : { model }),
    ...(provider === null ? {} : { provider }),
    ...(usage === undefined ? {} : { usage }),
    ...(timing === undefined ? {} : { timing }),
    ...(stop === null ? {} : { stop }),
    ...(stop !== null && broken.has(stop) ? { context: false } : {}),
  }
  return { payload, calls: (spoken.toolCalls ?? []).map(({ id }) => id), results: [], isTurn: false }
}

/** A message's own time is when the model was asked, its entry's when the reply was whole. */
const timingOf = (started: unknown, at: string): Json | undefined => {
  const completed = Date.parse(at)
  if (typeof started !== 'number' || !Number.isInteger(started) || started < 0 || started > completed)
    return undefined
  return {
    startedAt: new Date(started).toISOString(),
    completedAt: at,
    durationMs: completed - started,
  }
}

/** Pi counts cached tokens beside `input`; ours includes them. undefined where it gives no numbers. */
export const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const input = countIn(given, 'input')
  const output = countIn(given, 'output')
  if (input === undefined || output === undefined) return undefined
  const cacheRead = countIn(given, 'cacheRead')
  const cacheWrite = countIn(given, 'cacheWrite')
  const reasoning = countIn(given, 'reasoning')
  const costUsd = countIn(objectIn(given, 'cost'), 'total')
  return {
    input: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Pi's reader needs every count; what the cost is made of is not known from ours. */
export const saidUsage = (usage: Usage): Json => {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning, costUsd = 0 } = usage
  return {
    input: input - cacheRead - cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: costUsd },
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

/** The message that a writer makes of a payload, at the time of its entry. */
export const saidMessage = (payload: Json, at: string): Json => {
  const { role, content } = payload
  if (role === 'tool') {
    const { toolCallId, ok } = payload
    return {
      role: 'toolResult',
      content: saidContent(content),
      toolCallId,
      isError: ok === undefined ? undefined : !ok,
      timestamp: Date.parse(at),
    }
  }
  if (role !== 'assistant') return { role, content: saidContent(content), timestamp: Date.parse(at) }
  const { model, provider, usage, stop, timing } = payload
  const started = isObject(timing) ? Date.parse(String(timing.startedAt)) : Date.parse(at)
  return {
    role,
    content: saidBlocks(payload as unknown as Spoken),
    model,
    provider,
    usage: usage === undefined ? undefined : saidUsage(usage as Usage),
    stopReason: stop,
    timestamp: started,
  }
}
